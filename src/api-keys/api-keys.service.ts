import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Caller, KeyActor } from '../access/actor.js';
import { isInNetworks } from '../access/networks.js';
import { assertScopesWithin, assertWithin, rightsOf } from '../access/policy.js';
import type { KeyRights, Scope } from '../access/scopes.js';
import { AuditService } from '../audit/audit.service.js';
import { ProblemError, unauthenticated } from '../common/errors.js';
import { fromJson, toJson } from '../common/json.js';
import { sha256 } from '../common/secret.js';
import { truncated } from '../common/text.js';
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
/** Longer than any address; a proxy may send other text. */
const MAX_ADDRESS = 64;

/** Addresses that are remembered; for others the audit is asked. */
const MAX_ADDRESSES = 10_000;

export type KeyState = 'active' | 'expired' | 'revoked';

/** What a new key is to be. Without scopes, networks or an end it has no limit of that kind. */
export interface NewKey {
  name: string;
  expires?: DbTime | null | undefined;
  scopes?: readonly Scope[] | null | undefined;
  networks?: readonly string[] | null | undefined;
  ignoresUnknownFields?: boolean | undefined;
}

/** A key as it is shown: its row without the hash, opened. */
export interface ApiKey extends KeyRights {
  id: string;
  name: string;
  state: KeyState;
  created: DbTime;
  revoked: DbTime | null;
  last_used: DbTime | null;
  last_address: string | null;
  ignoresUnknownFields: boolean;
  /** Who made it; `unknown` for keys of earlier versions. */
  maker: { kind: string; id: string | null };
}

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
   * @param ip address of the client.
   * @returns the actor of a key; undefined for a key that is unknown, expired or revoked.
   * @throws ProblemError `unauthenticated` for a key with a typing error, with a message that says so;
   * `network_not_permitted` for a key that is limited to other networks, whose use is not noted then.
   */
  async authenticate(key: string, ip: string): Promise<KeyActor | undefined> {
    const found = await this.repository.findByHash(sha256(key));
    // For unknown keys only: the operator may have set a first key of this format with any checksum.
    if (!found && isMistyped(key)) {
      throw unauthenticated('The X-API-Key has a typing error: its checksum does not match.');
    }
    const time = now();
    if (!found || stateOf(found, time) !== 'active') return undefined;
    const actor = actorOf(found);
    const { networks } = actor.rights;
    if (networks !== null && !isInNetworks(ip, networks)) {
      const address = truncated(ip, MAX_ADDRESS);
      throw new ProblemError('network_not_permitted', `This API key may not be used from ${address}.`);
    }
    if (found.last_used === null || toMillis(found.last_used) < Date.now() - LAST_USED_MILLIS) {
      await this.noteUse(found.id, time, ip);
    }
    return actor;
  }

  /**
   * The actor of a key by its id, for work that it has left behind; undefined when it would be refused.
   * @param sql the transaction that this is part of, if any.
   */
  async actorOf(id: string, sql?: Sql): Promise<KeyActor | undefined> {
    const found = await this.repository.find(id, sql);
    return found && stateOf(found, now()) === 'active' ? actorOf(found) : undefined;
  }

  /** Whether a key is still good; that does not count as its use. */
  async isActive(id: string): Promise<boolean> {
    const key = await this.repository.find(id);
    return key !== undefined && stateOf(key, now()) === 'active';
  }

  /** One of the requests of a moment does it for all. None fails with it: the next one makes up for it. */
  private async noteUse(id: string, time: DbTime, ip: string): Promise<void> {
    if (this.noting.has(id)) return;
    this.noting.add(id);
    try {
      await this.repository.touch(id, time, truncated(ip, MAX_ADDRESS));
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

  /**
   * Creates a key. @returns its row, with the key itself, which cannot be read again.
   * @throws ProblemError `insufficient_scope`, `network_not_permitted` when the new key would have rights that the
   * caller's own key has not.
   */
  async create(wanted: NewKey, caller: Caller): Promise<ApiKey & { key: string }> {
    const { scopes = null, networks = null, expires = null } = wanted;
    assertWithin({ scopes, networks, expires }, rightsOf(caller.actor));
    const id = uuidv7();
    const key = makeApiKey(id);
    return this.transactions.run(async (tx) => {
      const row = await this.add(tx, { ...wanted, id, key }, caller);
      return { ...shown(row, now()), key };
    }, caller);
  }

  /** All keys, newest first. */
  async list(): Promise<ApiKey[]> {
    const time = now();
    return (await this.repository.list()).map((key) => shown(key, time));
  }

  /**
   * Revokes a key, effective with the next request. @returns its state before; undefined when there is no such key.
   * @throws ProblemError `insufficient_scope` for a key with more scopes than the caller's own key.
   */
  async revoke(id: string, caller: Caller): Promise<KeyState | undefined> {
    return this.transactions.run(async (tx) => {
      const key = await this.repository.lock(tx, id);
      if (!key) return undefined;
      if (caller.actor.id !== id) assertScopesWithin(rightsIn(key).scopes, rightsOf(caller.actor).scopes);
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
    { id, key, ...wanted }: NewKey & { id: string; key: string },
    caller: Caller,
  ): Promise<ApiKeyEntity> {
    const { name, scopes = null, networks = null, expires = null, ignoresUnknownFields = false } = wanted;
    const row: ApiKeyEntity = {
      id,
      key_hash: sha256(key),
      name,
      created: now(),
      expires,
      revoked: null,
      last_used: null,
      scopes: scopes && toJson([...scopes]),
      networks: networks && toJson([...networks]),
      ignores_unknown_fields: Number(ignoresUnknownFields),
      maker_kind: caller.actor.kind,
      maker_id: caller.actor.id,
      last_address: null,
    };
    await this.repository.insert(tx, row);
    const changes = [
      { field: 'name', new: name },
      { field: 'expires', new: expires },
      ...(scopes ? [{ field: 'scopes', new: scopes }] : []),
      ...(networks ? [{ field: 'networks', new: networks }] : []),
    ];
    await this.audit.record(tx, caller, [
      { action: 'api_key.created', target: { kind: 'api_key', id }, changes },
    ]);
    return row;
  }
}

const rightsIn = ({ scopes, networks, expires }: ApiKeyEntity): KeyRights => ({
  scopes: scopes && fromJson(scopes),
  networks: networks && fromJson(networks),
  expires,
});

const actorOf = (row: ApiKeyEntity): KeyActor => ({
  kind: 'key',
  id: row.id,
  rights: rightsIn(row),
  ignoresUnknownFields: row.ignores_unknown_fields === 1,
});

function shown(row: ApiKeyEntity, time: DbTime): ApiKey {
  const { id, name, created, revoked, last_used, last_address, maker_kind, maker_id } = row;
  return {
    id,
    name,
    state: stateOf(row, time),
    created,
    revoked,
    last_used,
    last_address,
    ...rightsIn(row),
    ignoresUnknownFields: row.ignores_unknown_fields === 1,
    maker: { kind: maker_kind ?? 'unknown', id: maker_id },
  };
}

function stateOf({ revoked, expires }: Pick<ApiKeyEntity, 'revoked' | 'expires'>, time: DbTime): KeyState {
  if (revoked !== null) return 'revoked';
  return expires !== null && expires <= time ? 'expired' : 'active';
}
