import type { INestApplicationContext } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { MAX_LIMIT } from '../../platform/http/page.js';
import type { ApiKeyInput } from '../../api-keys/api-key.input.js';
import { presentApiKey } from '../../api-keys/api-key.view.js';
import type { ApiKeyDto, ApiKeyPageDto, NewApiKeyDto } from '../../api-keys/api-keys.docs.js';
import { ApiKeysService } from '../../api-keys/api-keys.service.js';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { toIso } from '../../platform/common/time.js';
import type { RemoteService } from './remote-service.js';

/** A key as it is asked for; what is undefined is not. */
type WantedKey = { [Field in keyof ApiKeyInput]: ApiKeyInput[Field] | undefined } & { name: string };

/** The API keys of a database, or those of a service. */
export interface KeysAccess {
  create(wanted: WantedKey): Promise<NewApiKeyDto>;
  /** All of them, newest first. */
  list(): Promise<ApiKeyDto[]>;
  /** @returns whether it was revoked before. @throws Error for an unknown id. */
  revoke(id: string): Promise<boolean>;
  /** @returns until when the fuse is open, in ISO 8601. @throws Error for an unknown id. */
  openFuse(id: string): Promise<string>;
}

const unknownKey = (id: string): Error => new Error(`There is no key ${id}; "rollcall keys list" shows all.`);

/** The keys of the database, by the services of the application. */
export class LocalKeys implements KeysAccess {
  private readonly keys: ApiKeysService;

  constructor(
    private readonly context: INestApplicationContext,
    private readonly caller: Caller,
  ) {
    this.keys = context.get(ApiKeysService);
  }

  async create({ unknown_fields, ...wanted }: WantedKey): Promise<NewApiKeyDto> {
    const { key, ...made } = await this.keys.create(
      { ...wanted, ignoresUnknownFields: unknown_fields === 'ignore' },
      this.caller,
    );
    return Object.assign(presentApiKey(made), { key });
  }

  async list(): Promise<ApiKeyDto[]> {
    return (await this.keys.list()).map(presentApiKey);
  }

  async revoke(id: string): Promise<boolean> {
    const before = await this.keys.revoke(id, this.caller);
    if (before === undefined) throw unknownKey(id);
    return before === 'revoked';
  }

  async openFuse(id: string): Promise<string> {
    const until = await this.context.get(KeyFuse).reset(id, this.caller);
    if (until === undefined) throw unknownKey(id);
    return toIso(until);
  }
}

/** The keys of a running service. */
export class RemoteKeys implements KeysAccess {
  constructor(private readonly service: RemoteService) {}

  create({ expires, ...wanted }: WantedKey): Promise<NewApiKeyDto> {
    const ends = typeof expires === 'string' && { expires: toIso(expires) };
    return this.service.json('POST', 'api_keys', { body: { ...wanted, ...ends } });
  }

  async list(): Promise<ApiKeyDto[]> {
    const keys: ApiKeyDto[] = [];
    for (;;) {
      const query = { offset: keys.length, limit: MAX_LIMIT };
      const { Count, Results } = await this.service.json<ApiKeyPageDto>('GET', 'api_keys', { query });
      keys.push(...Results);
      if (Results.length === 0 || keys.length >= Count) return keys;
    }
  }

  async revoke(id: string): Promise<boolean> {
    const before = (await this.list()).find((key) => key.id === id);
    if (!before) throw unknownKey(id);
    await this.service.send('DELETE', `api_keys/${id}`);
    return before.state === 'revoked';
  }

  async openFuse(id: string): Promise<string> {
    const path = `api_keys/${encodeURIComponent(id)}/fuse`;
    return (await this.service.json<{ open_until: string }>('POST', path)).open_until;
  }
}
