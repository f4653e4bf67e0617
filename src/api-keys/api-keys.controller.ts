import { Body, Delete, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { ProblemError, validationFailed } from '../platform/common/errors.js';
import { toIso } from '../platform/common/time.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { type Checked, InputPipe } from '../platform/input/read-input.js';
import { Page, page } from '../platform/http/page.js';
import { linkTo } from '../platform/openapi/docs.js';
import { ApiController, Doc, describeJson } from '../platform/openapi/route-docs.js';
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
  @Doc('listApiKeys', 'API keys, newest first', {
    description: 'Without the keys themselves.',
    answer: describeJson('A page of keys.', ApiKeyPageDto),
  })
  @Requires('api_keys.manage')
  @Accepts({ query: Page })
  async list(@CheckedQuery() query: Page): Promise<ApiKeyPageDto> {
    const { offset, limit } = page(query);
    const keys = await this.keys.list();
    return { Count: keys.length, Results: keys.slice(offset, offset + limit).map(presentApiKey) };
  }

  @Post()
  @Doc('createApiKey', 'Create an API key', {
    description:
      'Only this answer holds the key: the service stores its SHA-256. Several keys may be active, so that one can be ' +
      'rotated: create a new one, give it to the connector, revoke the old one. Without `scopes`, `networks` and `expires` ' +
      'it may do everything, from anywhere, for ever. Neither these nor `profile` can be changed later. A key with `scopes` ' +
      'creates no keys. The networks and the end of a key bound the keys that it creates: 403 `network_not_permitted` or ' +
      '`insufficient_scope`.',
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
    answer: describeJson('The key.', NewApiKeyDto),
    links: linkTo(['revokeApiKey', 'resetApiKeyFuse'], 'key_id', 'id'),
  })
  @Requires('api_keys.manage')
  @Accepts({ body: true })
  async create(
    @Body(new InputPipe(ApiKeyInput)) { value, errors }: Checked<ApiKeyInput>,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<NewApiKeyDto> {
    if (errors.length > 0) throw validationFailed(errors);
    const { row, key } = await this.keys.create(value, caller);
    response.location(`${request.path.replace(/\/$/, '')}/${row.id}`);
    return Object.assign(presentApiKey(row), { key });
  }

  @Delete(':key_id')
  @Doc('revokeApiKey', 'Revoke an API key', {
    description:
      'Final, and effective on the next request. Repeating it is not an error. A key without `scopes` may revoke itself.',
    answer: 'It is revoked.',
  })
  @HttpCode(204)
  @Requires('api_keys.manage')
  async revoke(@Param('key_id') id: string, @CurrentCaller() caller: Caller): Promise<void> {
    if (!(await this.keys.revoke(id, caller))) throw notFound(id);
  }

  @Post(':key_id/fuse')
  @Doc('resetApiKeyFuse', 'Reset the fuse of an API key', {
    description:
      'A key that blocks more than `FUSE_MIN` users (50), or `FUSE_PERCENT` of the active ones (10) if that is more, ' +
      'within an hour gets 429 `fuse_blown`. This opens its fuse for an hour, and what it has blocked before counts no ' +
      'more. A key does not reset its own fuse (403 `forbidden`).',
    answer: describeJson('It is open.', KeyFuseDto),
  })
  @HttpCode(200)
  @Requires('api_keys.manage')
  async resetFuse(@Param('key_id') id: string, @CurrentCaller() caller: Caller): Promise<KeyFuseDto> {
    const until = await this.fuse.reset(id, caller);
    if (until === undefined) throw notFound(id);
    return { key_id: id, open_until: toIso(until) };
  }
}

const notFound = (id: string): ProblemError => new ProblemError('not_found', `There is no API key ${id}.`);
