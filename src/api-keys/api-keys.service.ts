import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { crc32 } from 'node:zlib';
import { type Caller, DEFAULT_PROFILE, type KeyActor } from '../access/actor.js';
import { areNetworksWithin, isInNetworks } from '../access/networks.js';
import { rightsOf } from '../access/policy.js';
import { AuditService } from '../audit/audit.service.js';
import { ProblemError, createUnauthenticatedError } from '../platform/common/errors.js';
import { toJson } from '../platform/common/json.js';
import { createToken, sha256 } from '../platform/common/secrets.js';
import { truncate } from '../platform/common/text.js';
import { now, addSeconds, toIso, toMillis } from '../platform/common/time.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { toProblemError } from '../platform/http/problem.js';
import { Log } from '../platform/telemetry/log.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import type { ApiKeyInput } from './api-key.input.js';
import { ApiKeyRepository, stateOf, toKeyActor } from './api-key.repository.js';

const PREFIX = 'rollcall';
const FORMAT = /^rollcall_[0-9a-f]{12}_[A-Za-z0-9_-]{43}_[0-9a-f]{8}$/;
/** Maximum length of the chain of keys and users that `findCreatorChain` follows. */
const MAX_CREATORS = 200;
/** Resolution of `last_used`. A busy key must not cause a write with every request. */
const LAST_USED_MILLIS = 60_000;
/** Maximum stored length of an address. A proxy may send arbitrary text. */
const MAX_ADDRESS_LENGTH = 64;
/** Maximum number of cached pairs of key and address. For pairs that are not cached, the audit is searched. */
const MAX_ADDRESSES = 10_000;

@Injectable()
export class ApiKeysService {
  /** Keys whose use is currently being stored. */
  private readonly pendingUses = new Set<string>();
  /** Pairs of key and address that are already in the audit. */
  private readonly recordedAddresses = new Set<string>();

  constructor(
    private readonly repository: ApiKeyRepository,
    private readonly audit: AuditService,
    private readonly transactions: TransactionRunner,
    private readonly log: Log,
  ) {}

  /**
   * @param ip address of the client.
   * @returns the actor of the key, or undefined if the key is unknown, expired or revoked.
   * @throws ProblemError `unauthenticated` if the checksum shows a typing error, `network_not_permitted` if the key is
   * limited to other networks. A rejected use is not stored.
   */
  async authenticate(key: string, ip: string): Promise<KeyActor | undefined> {
    const found = await this.repository.findByHash(sha256(key));
    // The checksum is checked only for unknown keys, because an operator may set a first key of this format with a
    // wrong checksum.
    if (!found) assertNotMistyped(key);
    if (!found || stateOf(found, now()) !== 'active') return undefined;
    const actor = toKeyActor(found);
    const { networks } = actor.rights;
    if (networks !== null && !isInNetworks(ip, networks)) throw createNetworkError(ip);
    if (!isUsedRecently(found) && !this.pendingUses.has(found.id)) await this.storeUse(found.id, ip);
    return actor;
  }

  /**
   * Stores time and address of a use, at most once a minute for each key. Errors are
   * logged and do not fail the request.
   */
  private async storeUse(id: string, ip: string): Promise<void> {
    this.pendingUses.add(id);
    try {
      await this.repository.touch(id, now(), truncate(ip, MAX_ADDRESS_LENGTH));
    } catch (error) {
      this.log.logFault('api keys', toProblemError(error).code, error);
    } finally {
      this.pendingUses.delete(id);
    }
  }

  /**
   * Records the first use of a key from an address in the audit. After an error, the next request of the key tries
   * again.
   */
  async recordAddress(id: string, ip: string): Promise<void> {
    const use = `${id} ${ip}`;
    if (!this.recordedAddresses.has(use)) await this.storeAddress(id, ip, use);
  }

  private async storeAddress(id: string, ip: string, use: string): Promise<void> {
    if (this.recordedAddresses.size >= MAX_ADDRESSES) this.recordedAddresses.clear();
    this.recordedAddresses.add(use);
    try {
      await this.audit.recordAddress(id, ip);
    } catch (error) {
      this.recordedAddresses.delete(use);
      this.log.logFault('api keys', toProblemError(error).code, error);
    }
  }

  /**
   * Returns the actor of a key by its id, for work that outlives its request, or undefined if the key is not active.
   * @param sql the current transaction, if any.
   */
  async findActor(id: string, sql?: Sql): Promise<KeyActor | undefined> {
    const found = await this.repository.find(id, sql);
    return found && stateOf(found, now()) === 'active' ? toKeyActor(found) : undefined;
  }

  /** Returns true if the key is active. The check does not count as a use of the key. */
  async isActive(id: string): Promise<boolean> {
    return (await this.findActor(id)) !== undefined;
  }

  /** Returns the id of a key, followed by the ids of its creator, of the creator's creator, and so on, up to a user. */
  async findCreatorChain(id: string): Promise<string[]> {
    const ids = [id];
    for (let key = await this.repository.find(id); key?.maker_id && ids.length <= MAX_CREATORS;) {
      ids.push(key.maker_id);
      key = key.maker_kind === 'key' ? await this.repository.find(key.maker_id) : undefined;
    }
    return ids;
  }

  /** Lists all keys, newest first. */
  async list(): Promise<ApiKeyEntity[]> {
    return this.repository.list();
  }

  /** Lists active keys that expire within a number of seconds, in order of expiry. */
  async listExpiring(seconds: number, limit: number): Promise<ApiKeyEntity[]> {
    const time = now();
    return this.repository.listExpiring(time, addSeconds(time, seconds), limit);
  }

  /**
   * Creates a key and returns its row with the key itself, which cannot be read again.
   * @throws ProblemError `insufficient_scope` if the new key would outlive the key of the caller,
   * `network_not_permitted` if it would be valid in more networks.
   */
  async create(input: ApiKeyInput, caller: Caller): Promise<{ row: ApiKeyEntity; key: string }> {
    assertWithinOwnRights(input, caller);
    const id = uuidv7();
    const key = generateApiKey(id);
    const row = await this.transactions.run((tx) => this.add(tx, input, caller, id, key), caller);
    return { row, key };
  }

  /** Stores the hash of a new key that the caller has generated, and records the key in the audit. */
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
    const target = { kind: 'api_key', id } as const;
    await this.audit.record(tx, caller, [{ action: 'api_key.created', target, changes }]);
    return row;
  }

  /** Revokes a key, effective with the next request. @returns false if the key does not exist. */
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

function assertNotMistyped(key: string): void {
  if (isMistyped(key))
    throw createUnauthenticatedError('The API key has a wrong checksum. Check it for typing errors.');
}

function createNetworkError(ip: string): ProblemError {
  const address = truncate(ip, MAX_ADDRESS_LENGTH);
  return new ProblemError('network_not_permitted', `This API key cannot be used from ${address}.`);
}

const isUsedRecently = ({ last_used }: ApiKeyEntity): boolean =>
  last_used !== null && toMillis(last_used) >= Date.now() - LAST_USED_MILLIS;

/** Throws an error if a key would create a key with more networks or a later expiry than its own. */
function assertWithinOwnRights({ networks, expires }: ApiKeyInput, { actor }: Caller): void {
  const own = rightsOf(actor);
  if (own.networks !== null && !(networks && areNetworksWithin(networks, own.networks))) {
    const detail = `This API key can only create keys with networks within ${own.networks.join(', ')}.`;
    throw new ProblemError('network_not_permitted', detail);
  }
  if (own.expires !== null && (!expires || expires > own.expires)) {
    const detail = `This API key can only create keys that expire at ${toIso(own.expires)} or earlier.`;
    throw new ProblemError('insufficient_scope', detail);
  }
}

/**
 * Generates a key `rollcall_<public id>_<32 random bytes>_<checksum>`. Secret scanners can find such a key
 * and verify its checksum offline.
 * The public id is the end of the key's id, so that an operator can tell which key to revoke.
 */
export function generateApiKey(id = uuidv7()): string {
  const body = `${PREFIX}_${id.slice(-12)}_${createToken()}`;
  return `${body}_${computeChecksum(body)}`;
}

/** Returns true for a key of this format with a wrong checksum, which most likely contains a typing error. */
export function isMistyped(key: string): boolean {
  const end = key.lastIndexOf('_');
  return FORMAT.test(key) && key.slice(end + 1) !== computeChecksum(key.slice(0, end));
}

const computeChecksum = (text: string): string => crc32(text).toString(16).padStart(8, '0');
