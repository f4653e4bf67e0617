import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Caller, KeyActor } from '../access/actor.js';
import { AuditService } from '../audit/audit.service.js';
import { unauthenticated } from '../common/errors.js';
import { sha256 } from '../common/secret.js';
import { type DbTime, now, toMillis } from '../common/time.js';
import type { Sql } from '../database/engine/sql.js';
import { TransactionRunner } from '../database/transaction-runner.js';
import { toProblemError } from '../http/problem.js';
import { Log } from '../telemetry/log.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import { isMistyped, makeApiKey } from './api-key-format.js';
import { ApiKeyRepository } from './api-key.repository.js';

/** Resolution of `last_used`, so that a busy key does not write with every request. */
const LAST_USED_MILLIS = 60_000;

/** Addresses that are remembered; for others the audit is asked. */
const MAX_ADDRESSES = 10_000;

export type KeyState = 'active' | 'expired' | 'revoked';

/** A key as it is shown: its row without the hash. */
export type ApiKey = Omit<ApiKeyEntity, 'key_hash'> & { state: KeyState };

@Injectable()
export class ApiKeysService {
  /** Keys whose use is being noted. */
  private readonly noting = new Set<string>();
  /** Keys with addresses that are in the audit. */
  private readonly addresses = new Set<string>();

  constructor(
    private readonly repository: ApiKeyRepository,
    private readonly audit: AuditService,
    private readonly transactions: TransactionRunner,
    private readonly log: Log,
  ) {}

  /**
   * @returns the actor of a key; undefined for a key that is unknown, expired or revoked.
   * @throws ProblemError `unauthenticated` for a key with a typing error, with a message that says so.
   */
  async authenticate(key: string): Promise<KeyActor | undefined> {
    const found = await this.repository.findByHash(sha256(key));
    // For unknown keys only: the operator may have set a first key of this format with any checksum.
    if (!found && isMistyped(key)) {
      throw unauthenticated('The X-API-Key has a typing error: its checksum does not match.');
    }
    const time = now();
    if (!found || stateOf(found, time) !== 'active') return undefined;
    if (found.last_used === null || toMillis(found.last_used) < Date.now() - LAST_USED_MILLIS) {
      await this.noteUse(found.id, time);
    }
    return { kind: 'key', id: found.id };
  }

  /** One of the requests of a moment does it for all. None fails with it: the next one makes up for it. */
  private async noteUse(id: string, time: DbTime): Promise<void> {
    if (this.noting.has(id)) return;
    this.noting.add(id);
    try {
      await this.repository.touch(id, time);
    } catch (error) {
      this.log.fault('api keys', toProblemError(error).code, error);
    } finally {
      this.noting.delete(id);
    }
  }

  /** Records the first use of a key from an address. No request fails with it: the next one makes up for it. */
  async noteAddress(id: string, ip: string): Promise<void> {
    const use = `${id} ${ip}`;
    if (this.addresses.has(use)) return;
    if (this.addresses.size >= MAX_ADDRESSES) this.addresses.clear();
    this.addresses.add(use);
    try {
      await this.audit.recordAddress(id, ip);
    } catch (error) {
      this.addresses.delete(use);
      this.log.fault('api keys', toProblemError(error).code, error);
    }
  }

  /** Creates a key. @param expires null for never. @returns its row, with the key itself, which cannot be read again. */
  async create(name: string, expires: DbTime | null, caller: Caller): Promise<ApiKey & { key: string }> {
    const id = uuidv7();
    const key = makeApiKey(id);
    return this.transactions.run(async (tx) => {
      const row = await this.add(tx, { id, name, key, expires }, caller);
      return { ...withState(row, now()), key };
    }, caller);
  }

  /** All keys, newest first. */
  async list(): Promise<ApiKey[]> {
    const time = now();
    return (await this.repository.list()).map((key) => withState(key, time));
  }

  /** Revokes a key, effective with the next request. @returns its state before; undefined when there is no such key. */
  async revoke(id: string, caller: Caller): Promise<KeyState | undefined> {
    return this.transactions.run(async (tx) => {
      const key = await this.repository.lock(tx, id);
      if (!key) return undefined;
      const state = stateOf(key, now());
      if (state === 'revoked') return state;
      await this.repository.revoke(tx, id, now());
      await this.audit.record(tx, caller, [{ action: 'api_key.revoked', target: { kind: 'api_key', id } }]);
      return state;
    }, caller);
  }

  /** Stores a key that the caller has made, as its hash, with an audit row. */
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

const withState = ({ key_hash: _, ...key }: ApiKeyEntity, time: DbTime): ApiKey => ({
  ...key,
  state: stateOf(key, time),
});

function stateOf({ revoked, expires }: Pick<ApiKeyEntity, 'revoked' | 'expires'>, time: DbTime): KeyState {
  if (revoked !== null) return 'revoked';
  return expires !== null && expires <= time ? 'expired' : 'active';
}
