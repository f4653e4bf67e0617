import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { crc32 } from 'node:zlib';
import { type Caller, DEFAULT_PROFILE, type KeyActor } from '../access/actor.js';
import { areWithin, isInNetworks } from '../access/networks.js';
import { rightsOf } from '../access/policy.js';
import { AuditService } from '../audit/audit.service.js';
import { ProblemError, unauthenticated } from '../platform/common/errors.js';
import { toJson } from '../platform/common/json.js';
import { randomToken, sha256 } from '../platform/common/secrets.js';
import { truncated } from '../platform/common/text.js';
import { now, secondsFrom, toIso, toMillis } from '../platform/common/time.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { toProblemError } from '../platform/http/problem.js';
import { Log } from '../platform/telemetry/log.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import type { ApiKeyInput } from './api-key.input.js';
import { ApiKeyRepository, stateOf, toActor } from './api-key.repository.js';

const PREFIX = 'rollcall';
const FORMAT = /^rollcall_[0-9a-f]{12}_[A-Za-z0-9_-]{43}_[0-9a-f]{8}$/;
/** Keys and the user that have created a key, one after another, up to this many. */
const MAX_MAKERS = 200;
/** Resolution of `last_used`, so that a busy key does not write with every request. */
const LAST_USED_MILLIS = 60_000;
/** Longer than any address. A proxy may send other text. */
const MAX_ADDRESS = 64;
/** Addresses that are remembered. For others the audit is searched. */
const MAX_ADDRESSES = 10_000;

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
    if (!found) assertTyped(key);
    if (!found || stateOf(found, now()) !== 'active') return undefined;
    const actor = toActor(found);
    const { networks } = actor.rights;
    if (networks !== null && !isInNetworks(ip, networks)) throw networkRefused(ip);
    if (!isUsedRecently(found) && !this.noting.has(found.id)) await this.noteUse(found.id, ip);
    return actor;
  }

  /** Stores time and address of a use, once a minute and for all requests of that moment. No request fails with it. */
  private async noteUse(id: string, ip: string): Promise<void> {
    this.noting.add(id);
    try {
      await this.repository.touch(id, now(), truncated(ip, MAX_ADDRESS));
    } catch (error) {
      this.log.fault('api keys', toProblemError(error).code, error);
    } finally {
      this.noting.delete(id);
    }
  }

  /** Records the first use of a key from an address. When that fails, the next request of the key tries again. */
  async noteAddress(id: string, ip: string): Promise<void> {
    const use = `${id} ${ip}`;
    if (!this.addresses.has(use)) await this.recordAddress(id, ip, use);
  }

  private async recordAddress(id: string, ip: string, use: string): Promise<void> {
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
   * The actor of a key by its id, for work that it has left behind; undefined when it would be refused.
   * @param sql the transaction that this is part of, if any.
   */
  async actorOf(id: string, sql?: Sql): Promise<KeyActor | undefined> {
    const found = await this.repository.find(id, sql);
    return found && stateOf(found, now()) === 'active' ? toActor(found) : undefined;
  }

  /** Returns true for a key that is valid. That does not count as its use. */
  async isActive(id: string): Promise<boolean> {
    return (await this.actorOf(id)) !== undefined;
  }

  /** The ids of a key and of the keys and the user that have created it, one after another. */
  async withMakers(id: string): Promise<string[]> {
    const ids = [id];
    for (let key = await this.repository.find(id); key?.maker_id && ids.length <= MAX_MAKERS;) {
      ids.push(key.maker_id);
      key = key.maker_kind === 'key' ? await this.repository.find(key.maker_id) : undefined;
    }
    return ids;
  }

  /** All keys, newest first. */
  async list(): Promise<ApiKeyEntity[]> {
    return this.repository.list();
  }

  /** Keys that expire within so many seconds, the next one first. */
  async expiring(seconds: number, limit: number): Promise<ApiKeyEntity[]> {
    const time = now();
    return this.repository.expiring(time, secondsFrom(time, seconds), limit);
  }

  /**
   * Creates a key. @returns its row, and the key itself, which cannot be read again.
   * @throws ProblemError `insufficient_scope`, `network_not_permitted` when the new key would outlive the caller's own key, or
   * be valid in more networks.
   */
  async create(input: ApiKeyInput, caller: Caller): Promise<{ row: ApiKeyEntity; key: string }> {
    assertWithin(input, caller);
    const id = uuidv7();
    const key = makeApiKey(id);
    const row = await this.transactions.run((tx) => this.add(tx, input, caller, id, key), caller);
    return { row, key };
  }

  /** Stores a key that the caller has created, as its hash, with an audit row. */
  async add(tx: Sql, input: ApiKeyInput, caller: Caller, id: string, key: string): Promise<ApiKeyEntity> {
    const { name, scopes = null, networks = null, expires = null } = input;
    const unknown_fields = input.unknown_fields ?? 'refuse';
    const profile = input.profile ?? DEFAULT_PROFILE;
    const row: ApiKeyEntity = {
      id,
      key_hash: sha256(key),
      name,
      created: now(),
      expires,
      revoked: null,
      last_used: null,
      scopes: scopes && toJson(scopes),
      networks: networks && toJson(networks),
      ignores_unknown_fields: Number(unknown_fields === 'ignore'),
      maker_kind: caller.actor.kind,
      maker_id: caller.actor.id,
      last_address: null,
      profile: profile === DEFAULT_PROFILE ? null : profile,
    };
    await this.repository.insert(tx, row);
    const fields = { name, expires, scopes, networks, unknown_fields, profile };
    const changes = Object.entries(fields).map(([field, value]) => ({ field, new: value }));
    await this.audit.record(tx, caller, [
      { action: 'api_key.created', target: { kind: 'api_key', id }, changes },
    ]);
    return row;
  }

  /** Revokes a key, effective with the next request. @returns false when there is no such key. */
  async revoke(id: string, caller: Caller): Promise<boolean> {
    return this.transactions.run(async (tx) => {
      const key = await this.repository.lock(tx, id);
      if (!key || key.revoked !== null) return key !== undefined;
      await this.repository.revoke(tx, id, now());
      await this.audit.record(tx, caller, [{ action: 'api_key.revoked', target: { kind: 'api_key', id } }]);
      return true;
    }, caller);
  }
}

function assertTyped(key: string): void {
  if (isMistyped(key))
    throw unauthenticated('The X-API-Key has a typing error: its checksum does not match.');
}

function networkRefused(ip: string): ProblemError {
  const address = truncated(ip, MAX_ADDRESS);
  return new ProblemError('network_not_permitted', `This API key may not be used from ${address}.`);
}

const isUsedRecently = ({ last_used }: ApiKeyEntity): boolean =>
  last_used !== null && toMillis(last_used) >= Date.now() - LAST_USED_MILLIS;

/** A key hands out no more than it has: its networks and its end bound the keys that it creates. */
function assertWithin({ networks, expires }: ApiKeyInput, { actor }: Caller): void {
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

/**
 * Creates a key `rollcall_<public id>_<32 random bytes>_<checksum>`, which secret scanners can find and verify offline. The
 * public id is the end of the key's id: it shows which key to revoke when one is found.
 */
export function makeApiKey(id = uuidv7()): string {
  const body = `${PREFIX}_${id.slice(-12)}_${randomToken()}`;
  return `${body}_${checksum(body)}`;
}

/** Returns true for a key of this format with a wrong checksum, most likely because of a typing error. */
export function isMistyped(key: string): boolean {
  const end = key.lastIndexOf('_');
  return FORMAT.test(key) && key.slice(end + 1) !== checksum(key.slice(0, end));
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0');
