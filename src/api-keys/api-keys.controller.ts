import { Body, Delete, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { ProblemError, createValidationError } from '../platform/common/errors.js';
import { toIso } from '../platform/common/time.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { type CheckedInput, InputPipe } from '../platform/input/read-input.js';
import { PageQuery, toPageRange } from '../platform/http/page.js';
import { ApiController, DescribeRoute, describeJson } from '../platform/openapi/route-docs.js';
import { ApiKeyInput } from './api-key.input.js';
import { ApiKeyPageDto, KeyFuseDto, NewApiKeyDto, presentApiKey } from './api-key.view.js';
import { ApiKeysService } from './api-keys.service.js';
import { KeyFuse } from './fuse/key-fuse.service.js';

@ApiController('api_keys', 'api keys')
export class ApiKeysController {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly fuse: KeyFuse,
  ) {}

  @Get()
  @DescribeRoute('listApiKeys', 'List API keys, newest first', {
    description: 'The keys themselves are not included.',
    answer: describeJson('A page of keys.', ApiKeyPageDto),
  })
  @Requires('api_keys.manage')
  @Accepts({ query: PageQuery })
  async list(@CheckedQuery() query: PageQuery): Promise<ApiKeyPageDto> {
    const { offset, limit } = toPageRange(query);
    const [keys, blown] = await Promise.all([this.keys.list(), this.fuse.findBlownKeys()]);
    const shown = keys.slice(offset, offset + limit);
    return { Count: keys.length, Results: shown.map((key) => presentApiKey(key, blown)) };
  }

  @Post()
  @DescribeRoute('createApiKey', 'Create an API key', {
    description:
      'Only this response contains the key, because the service stores only its SHA-256 hash. To rotate a key, create a new one, ' +
      'configure the connector with it, and revoke the old one. Without `scopes`, `networks` and `expires`, the key has ' +
      'full access from any network and never expires. These fields and `profile` cannot be changed later. A key with ' +
      '`scopes` cannot create keys. A new key cannot be used from more networks than the key that creates it, and cannot ' +
      'expire later. Otherwise the request fails with 403 `network_not_permitted` or `insufficient_scope`.',
    body: ApiKeyInput,
    examples: {
      'one job': {
        name: 'HR connector',
        scopes: ['users:read', 'users:write'],
        networks: ['10.0.0.0/8', '2001:db8::/32'],
        expires: '2036-01-31T00:00:00.000Z',
        unknown_fields: 'ignore',
      },
      'one data set': {
        name: 'nightly file',
        scopes: ['imports:read', 'imports:write:hr'],
        expires: '2036-01-31T00:00:00.000Z',
      },
      'an identity provider': {
        name: 'Entra',
        scopes: ['users:read', 'users:write', 'groups:read', 'groups:write'],
        expires: '2036-01-31T00:00:00.000Z',
        profile: 'entra',
      },
      everything: { name: 'operator' },
    },
    answer: describeJson('The new key.', NewApiKeyDto),
    errors: ['reauthentication_required'],
  })
  @Requires('api_keys.manage')
  @Accepts({ body: true })
  async create(
    @Body(new InputPipe(ApiKeyInput)) { value, errors }: CheckedInput<ApiKeyInput>,
    @CurrentCaller() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<NewApiKeyDto> {
    if (errors.length > 0) throw createValidationError(errors);
    const { row, key } = await this.keys.create(value, caller);
    response.location(`${response.req.path.replace(/\/$/, '')}/${row.id}`);
    return Object.assign(presentApiKey(row), { key });
  }

  @Delete(':key_id')
  @DescribeRoute('revokeApiKey', 'Revoke an API key', {
    description:
      'A revocation is final and immediate. Revoking a key twice is not an error. A key without `scopes` may revoke itself.',
    answer: 'The key is revoked.',
  })
  @HttpCode(204)
  @Requires('api_keys.manage')
  async revoke(@Param('key_id') id: string, @CurrentCaller() caller: Caller): Promise<void> {
    if (!(await this.keys.revoke(id, caller))) throw createKeyNotFoundError(id);
  }

  @Post(':key_id/fuse')
  @DescribeRoute('resetApiKeyFuse', 'Reset the fuse of an API key', {
    description:
      'A key may block at most `FUSE_MIN` users (default 50), or `FUSE_PERCENT` percent of the active users (default 10) if ' +
      'that is more, within an hour. Further changes that block users fail with 429 `fuse_blown`. After this request, the key may ' +
      'block any number of users for an hour, and then the count starts again. A key cannot reset its own fuse (403 `forbidden`).',
    answer: describeJson('The fuse was reset.', KeyFuseDto),
  })
  @HttpCode(200)
  @Requires('api_keys.manage')
  async resetFuse(@Param('key_id') id: string, @CurrentCaller() caller: Caller): Promise<KeyFuseDto> {
    const until = await this.fuse.reset(id, caller);
    if (until === undefined) throw createKeyNotFoundError(id);
    return { key_id: id, open_until: toIso(until) };
  }
}

const createKeyNotFoundError = (id: string): ProblemError =>
  new ProblemError('not_found', `There is no API key ${id}.`);
