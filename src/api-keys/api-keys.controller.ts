import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { ProblemError, validationFailed } from '../platform/common/errors.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { type Checked, InputPipe } from '../platform/input/read-input.js';
import { Page, page } from '../platform/http/page.js';
import { ApiKeyInput } from './api-key.input.js';
import { presentApiKey } from './api-key.view.js';
import {
  type ApiKeyPageDto,
  DocCreateKey,
  DocListKeys,
  DocRevokeKey,
  type NewApiKeyDto,
} from './api-keys.docs.js';
import { ApiKeysService } from './api-keys.service.js';

@ApiTags('api keys')
@Controller('api_keys')
export class ApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Get()
  @DocListKeys()
  @Requires('api_keys.manage')
  @Accepts({ query: Page })
  async list(@CheckedQuery() query: Page): Promise<ApiKeyPageDto> {
    const { offset, limit } = page(query);
    const keys = await this.keys.list();
    return { Count: keys.length, Results: keys.slice(offset, offset + limit).map(presentApiKey) };
  }

  @Post()
  @DocCreateKey()
  @Requires('api_keys.manage')
  @Accepts({ body: true })
  async create(
    @Body(new InputPipe(ApiKeyInput)) { value, errors }: Checked<ApiKeyInput>,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<NewApiKeyDto> {
    if (errors.length > 0) throw validationFailed(errors);
    const { unknown_fields, ...wanted } = value;
    const key = { ...wanted, ignoresUnknownFields: unknown_fields === 'ignore' };
    const { key: secret, ...created } = await this.keys.create(key, caller);
    response.location(`${request.path.replace(/\/$/, '')}/${created.id}`);
    return Object.assign(presentApiKey(created), { key: secret });
  }

  @Delete(':key_id')
  @DocRevokeKey()
  @HttpCode(204)
  @Requires('api_keys.manage')
  async revoke(@Param('key_id') id: string, @CurrentCaller() caller: Caller): Promise<void> {
    const before = await this.keys.revoke(id, caller);
    if (before === undefined) throw new ProblemError('not_found', `There is no API key ${id}.`);
  }
}
