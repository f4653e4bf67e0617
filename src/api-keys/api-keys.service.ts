import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Caller, KeyActor } from '../access/actor.js';
import { AuditService } from '../audit/audit.service.js';
import { unauthenticated } from '../common/errors.js';
import { sha256 } from '../common/secret.js';
import { type DbTime, now, toMillis } from '../common/time.js';
import type { Sql } from '../database/engine/sql.js';
import { TransactionRunner } from '../database/transaction-runner.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import { isMistyped, makeApiKey } from './api-key-format.js';
import { ApiKeyRepository } from './api-key.repository.js';

/** `last_used` is true to this many milliseconds, so that a busy key does not write with every request. */
const LAST_USED_MILLIS = 60_000;

export type KeyState = 'active' | 'expired' | 'revoked';

/** A key as it is shown: everything but the key. */
export type ApiKey = Omit<ApiKeyEntity, 'key_hash'> & { state: KeyState };

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly repository: ApiKeyRepository,
    private readonly audit: AuditService,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * The actor of a key; undefined for a key that is unknown, expired or revoked.
   * @throws ProblemError `unauthenticated` that says so for a key with a typing error.
   */
  async authenticate(key: string): Promise<KeyActor | undefined> {
    const found = await this.repository.findByHash(sha256(key));
    // Asked of unknown keys only: an operator chooses the first key, and may choose one of our form.
    if (!found && isMistyped(key)) {
      throw unauthenticated('The X-API-Key has a typing error: its last part does not fit the rest.');
    }
    const time = now();
    if (!found || stateOf(found, time) !== 'active') return undefined;
    if (found.last_used === null || toMillis(found.last_used) < Date.now() - LAST_USED_MILLIS) {
      await this.repository.touch(found.id, time);
    }
    return { kind: 'key', id: found.id };
  }

  /**
   * Makes a key. @param expires when it ends, if ever.
   * @returns it, and the key itself, which nobody can read again.
   */
  async create(name: string, expires: DbTime | null, caller: Caller): Promise<ApiKey & { key: string }> {
    const id = uuidv7();
    const key = makeApiKey(id);
    const row = await this.transactions.run((tx) => this.add(tx, { id, name, key, expires }, caller));
    return { ...shown(row, now()), key };
  }

  /** All keys, newest first. */
  async list(): Promise<ApiKey[]> {
    const time = now();
    return (await this.repository.list()).map((key) => shown(key, time));
  }

  /** Final, and true for the very next request. @returns what the key was before; undefined for no key. */
  async revoke(id: string, caller: Caller): Promise<KeyState | undefined> {
    return this.transactions.run(async (tx) => {
      const key = await this.repository.lock(tx, id);
      if (!key) return undefined;
      const state = stateOf(key, now());
      if (state === 'revoked') return state;
      await this.repository.revoke(tx, id, now());
      await this.audit.record(tx, caller, [{ action: 'api_key.revoked', target: { kind: 'api_key', id } }]);
      return state;
    });
  }

  /** Stores the hash of a key. */
  async add(
    tx: Sql,
    { id, name, key, expires }: { id: string; name: string; key: string; expires: DbTime | null },
    caller: Caller,
  ): Promise<ApiKeyEntity> {
    const row = { id, key_hash: sha256(key), name, created: now(), expires, revoked: null, last_used: null };
    await this.repository.insert(tx, row);
    const changes = [
      { field: 'name', new: name },
      { field: 'expires', new: expires },
    ];
    await this.audit.record(tx, caller, [
      { action: 'api_key.created', target: { kind: 'api_key', id }, changes },
    ]);
    return row;
  }
}

const shown = ({ key_hash: _, ...key }: ApiKeyEntity, time: DbTime): ApiKey => ({
  ...key,
  state: stateOf(key, time),
});

function stateOf({ revoked, expires }: Pick<ApiKeyEntity, 'revoked' | 'expires'>, time: DbTime): KeyState {
  if (revoked !== null) return 'revoked';
  return expires !== null && expires <= time ? 'expired' : 'active';
}
