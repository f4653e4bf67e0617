import { Body, HttpCode, Post } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { CurrentCaller, Requires } from '../../access/decorators.js';
import { SCIM_BULK_BODY } from '../../platform/http/body-reader.js';
import { Accepts } from '../../platform/http/input.guard.js';
import { ScimController } from '../http/scim-format.js';
import { BULK_RESPONSE_MESSAGE } from '../protocol/urns.js';
import { readBulk } from './bulk-plan.js';
import { BulkRun } from './bulk-run.service.js';
import { type BulkResponseDto, DocBulk } from './bulk.docs.js';

@ScimController()
export class BulkController {
  constructor(private readonly bulk: BulkRun) {}

  @Post('Bulk')
  @DocBulk()
  @HttpCode(200)
  @Requires('scim.bulk')
  @Accepts({ body: SCIM_BULK_BODY, anyQuery: true })
  async run(@Body() body: object, @CurrentCaller() caller: Caller): Promise<BulkResponseDto> {
    const plan = readBulk(body);
    return { schemas: [BULK_RESPONSE_MESSAGE], Operations: await this.bulk.run(plan, caller) };
  }
}
