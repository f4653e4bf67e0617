import { Body, HttpCode, Post } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { CurrentCaller } from '../../access/decorators.js';
import { SCIM_BULK_BODY } from '../../platform/http/body-reader.js';
import { DescribeRoute, describeJson } from '../../platform/openapi/route-docs.js';
import { RequiresScim, ScimController } from '../http/scim-format.js';
import { MAX_OPERATIONS } from '../discovery/discovery.view.js';
import {
  BULK_REQUEST_MESSAGE,
  BULK_RESPONSE_MESSAGE,
  GROUP_SCHEMA,
  PATCH_MESSAGE,
  USER_SCHEMA,
} from '../protocol/urns.js';
import { readBulkRequest } from './bulk-plan.js';
import { BulkRunner } from './bulk-runner.service.js';
import { BulkRequestDto, BulkResponseDto } from './bulk.dto.js';

const buildExampleUser = (userName: string) => ({
  schemas: [USER_SCHEMA],
  userName,
  emails: [{ value: `${userName}@example.org`, type: 'work', primary: true }],
});

@ScimController()
export class BulkController {
  constructor(private readonly bulk: BulkRunner) {}

  @Post('Bulk')
  @DescribeRoute('runScimBulk', 'Create, change and delete users and groups in one request', {
    description:
      `A request may have at most 4 MiB, ${MAX_OPERATIONS} operations, and 50 operations that set a password. Operations are executed in ` +
      'request order, except that an operation waits for the operations that it refers to by `bulkId:…` in a path, a `value` or ' +
      'a `$ref`. Operations on users are applied in sets, and unique values are checked after each set. Groups are changed one ' +
      'by one. If an operation fails, only operations that refer to it fail too. Each operation needs the scope that it would ' +
      'need as a separate request. The request stops after `failOnErrors` errors, counted in request order. If a request ' +
      'with an `Idempotency-Key` was interrupted, repeating it continues where it stopped.',
    body: BulkRequestDto,
    examples: {
      'two users and their group': {
        schemas: [BULK_REQUEST_MESSAGE],
        failOnErrors: 10,
        Operations: [
          { method: 'POST', path: '/Users', bulkId: 'noa', data: buildExampleUser('noa.lane') },
          { method: 'POST', path: '/Users', bulkId: 'kim', data: buildExampleUser('kim.lane') },
          {
            method: 'PATCH',
            path: '/Users/bulkId:kim',
            data: {
              schemas: [PATCH_MESSAGE],
              Operations: [{ op: 'add', path: 'title', value: 'Guide' }],
            },
          },
          {
            method: 'POST',
            path: '/Groups',
            bulkId: 'guides',
            data: {
              schemas: [GROUP_SCHEMA],
              displayName: 'City guides',
              members: [{ value: 'bulkId:noa' }, { value: 'bulkId:kim' }],
            },
          },
        ],
      },
    },
    answer: describeJson('The result of each operation, in request order.', BulkResponseDto),
    errors: ['invalid_value', 'invalid_syntax'],
  })
  @HttpCode(200)
  @RequiresScim('scim.bulk', SCIM_BULK_BODY)
  async run(@Body() body: object, @CurrentCaller() caller: Caller): Promise<BulkResponseDto> {
    const plan = await readBulkRequest(body);
    return { schemas: [BULK_RESPONSE_MESSAGE], Operations: await this.bulk.run(plan, caller) };
  }
}
