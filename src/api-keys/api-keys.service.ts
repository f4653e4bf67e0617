import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type Caller, DEFAULT_PROFILE, type KeyActor, type Profile, type Scope } from '../access/actor.js';
import { areWithin, isInNetworks } from '../access/networks.js';
import { rightsOf } from '../access/policy.js';
import { AuditService } from '../audit/audit.service.js';
import { ProblemError, unauthenticated } from '../platform/common/errors.js';
import { toJson } from '../platform/common/json.js';
import { sha256 } from '../platform/common/secrets.js';
import { truncated } from '../platform/common/text.js';
import { type DbTime, now, secondsFrom, toIso } from '../platform/common/time.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import { isMistyped, makeApiKey } from './api-key-format.js';
import { type ApiKey, type KeyState, shown, stateOf, toActor } from './api-key.mapping.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { KeyUse, MAX_ADDRESS } from './key-use.service.js';

export type { ApiKey };

/** Keys and the user that have created a key, one after another, up to this many. */
const MAX_MAKERS = 200;

/** What a new key is to be. Without scopes, networks or an end it has no limit of that kind. */
export interface NewKey {
  name: string;
  expires?: DbTime | null | undefined;
  scopes?: readonly Scope[] | null | undefined;
  networks?: readonly string[] | null | undefined;
  ignoresUnknownFields?: boolean | undefined;
  profile?: Profile | null | undefined;
}

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly repository: ApiKeyRepository,
    private readonly audit: AuditService,
    private readonly transactions: TransactionRunner,
    private readonly use: KeyUse,
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
    if (!found || stateOf(found, now()) !== 'active') return undefined;
    const actor = toActor(found);
    const { networks } = actor.rights;
    if (networks !== null && !isInNetworks(ip, networks)) {
      const address = truncated(ip, MAX_ADDRESS);
      throw new ProblemError('network_not_permitted', `This API key may not be used from ${address}.`);
    }
    await this.use.note(found, ip);
    return actor;
  }

  /**
   * The actor of a key by its id, for work that it has left behind; undefined when it would be refused.
   * @param sql the transaction that this is part of, if any.
   */
  async actorOf(id: string, sql?: Sql): Promise<KeyActor | undefined> {
    const found = await this.repository.find(id, sql);
    return found && stateOf(found, now()) === 'active' ? toActor(found) : undefined;
  }

  /** The ids of a key and of the keys and the user that have made it, one after another. */
  async withMakers(id: string): Promise<string[]> {
    const ids = [id];
    for (let key = await this.repository.find(id); key?.maker_id && ids.length <= MAX_MAKERS;) {
      ids.push(key.maker_id);
      key = key.maker_kind === 'key' ? await this.repository.find(key.maker_id) : undefined;
    }
    return ids;
  }

  /** Whether a key is still good; that does not count as its use. */
  async isActive(id: string): Promise<boolean> {
    const key = await this.repository.find(id);
    return key !== undefined && stateOf(key, now()) === 'active';
  }

  /**
   * Creates a key. @returns its row, with the key itself, which cannot be read again.
   * @throws ProblemError `insufficient_scope`, `network_not_permitted` when the new key would outlive the caller's own key, or
   * be valid in more networks.
   */
  async create(wanted: NewKey, caller: Caller): Promise<ApiKey & { key: string }> {
    assertWithin(wanted, caller);
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

  /** Keys that expire within so many seconds, the next one first. */
  async expiring(seconds: number, limit: number): Promise<ApiKey[]> {
    const time = now();
    const keys = await this.repository.expiring(time, secondsFrom(time, seconds), limit);
    return keys.map((key) => shown(key, time));
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
    { id, key, ...wanted }: NewKey & { id: string; key: string },
    caller: Caller,
  ): Promise<ApiKeyEntity> {
    const { name, scopes = null, networks = null, expires = null, ignoresUnknownFields = false } = wanted;
    const profile = wanted.profile ?? DEFAULT_PROFILE;
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
      profile: profile === DEFAULT_PROFILE ? null : profile,
    };
    await this.repository.insert(tx, row);
    const changes = [
      { field: 'name', new: name },
      { field: 'expires', new: expires },
      { field: 'scopes', new: scopes },
      { field: 'networks', new: networks },
      { field: 'unknown_fields', new: ignoresUnknownFields ? 'ignore' : 'refuse' },
      { field: 'profile', new: profile },
    ];
    await this.audit.record(tx, caller, [
      { action: 'api_key.created', target: { kind: 'api_key', id }, changes },
    ]);
    return row;
  }
}

/** A key hands out no more than it has: its networks and its end bound the keys that it creates. */
function assertWithin({ networks, expires }: NewKey, { actor }: Caller): void {
  const own = rightsOf(actor);
  if (own.networks !== null && !(networks && areWithin(networks, own.networks))) {
    const detail = `A key of this API key must name networks within ${own.networks.join(', ')}.`;
    throw new ProblemError('network_not_permitted', detail);
  }
  if (own.expires !== null && (!expires || expires > own.expires)) {
    const detail = `A key of this API key must expire with it or before: at ${toIso(own.expires)}.`;
    throw new ProblemError('insufficient_scope', detail);
  }
}
