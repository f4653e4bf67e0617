import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Caller } from '../../access/actor.js';
import { CurrentCaller, Requires } from '../../access/decorators.js';
import { ProblemError } from '../../platform/common/errors.js';
import { toIso } from '../../platform/common/time.js';
import { DocResetFuse, type KeyFuseDto } from './key-fuse.docs.js';
import { KeyFuse } from './key-fuse.service.js';

@ApiTags('api keys')
@Controller('api_keys')
export class KeyFuseController {
  constructor(private readonly fuse: KeyFuse) {}

  @Post(':key_id/fuse')
  @DocResetFuse()
  @HttpCode(200)
  @Requires('api_keys.manage')
  async reset(@Param('key_id') id: string, @CurrentCaller() caller: Caller): Promise<KeyFuseDto> {
    const until = await this.fuse.reset(id, caller);
    if (until === undefined) throw new ProblemError('not_found', `There is no API key ${id}.`);
    return { key_id: id, open_until: toIso(until) };
  }
}
