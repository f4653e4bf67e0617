import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { crc32 } from 'node:zlib';
import { type Caller, DEFAULT_PROFILE, type KeyActor } from '../access/actor.js';
import { areNetworksWithin, isInNetworks } from '../access/networks.js';
import { assertConfirmed, rightsOf } from '../access/policy.js';
import { AuditService, recordEvents } from '../audit/audit.service.js';
import { ProblemError, createUnauthenticatedError } from '../platform/common/errors.js';
import { toJson } from '../platform/common/json.js';
import { createToken, sha256 } from '../platform/common/secrets.js';
import { truncate } from '../platform/common/text.js';
import { now, addSeconds, isUntrusted, toIso, toMillis } from '../platform/common/time.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { createFaultLogger } from '../platform/http/problem.js';
import { Log } from '../platform/telemetry/log.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import type { ApiKeyInput } from './api-key.input.js';
import { ApiKeyRepository, stateOf, toKeyActor } from './api-key.repository.js';

const PREFIX = 'rollcall';
const FORMAT = /^rollcall_[0-9a-f]{12}_[A-Za-z0-9_-]{43}_[0-9a-f]{8}$/;
const MAX_CREATORS = 200;
/**
 * Precision of `last_used`, in milliseconds. It is low, so that a busy key does not cause a write with every request.
 */
const LAST_USED_MILLIS = 60_000;
/** Maximum length of a stored address, in characters. A proxy may send any text, so longer addresses are truncated. */
const MAX_ADDRESS_LENGTH = 64;
/** Maximum number of pairs of key and address in the cache. Other pairs are looked up in the audit. */
const MAX_ADDRESSES = 10_000;

@Injectable()
export class ApiKeysService {
  private readonly pendingUses = new Set<string>();
  private readonly recordedAddresses = new Set<string>();
  private readonly logFault = createFaultLogger(this.log, 'api keys');

  constructor(
    private readonly repository: ApiKeyRepository,
    private readonly audit: AuditService,
    private readonly transactions: TransactionRunner,
    private readonly log: Log,
  ) {}

  /**
   * Finds the API key of a request and stores its use.
   * @param ip address of the client.
   * @returns the actor of the key, or undefined if the key is unknown, expired or revoked.
   * @throws ProblemError `unauthenticated` if the checksum shows that the key was mistyped, `network_not_permitted` if
   * the key may not be used from this address.
   */
  async authenticate(key: string, ip: string): Promise<KeyActor | undefined> {
    const found = await this.repository.findByHash(sha256(key));
    // The checksum is verified only for unknown keys, because operators can set a first key with a wrong checksum.
    if (!found && isMistyped(key))
      throw createUnauthenticatedError('The API key has a wrong checksum. Check it for typing errors.');
    if (!found || stateOf(found, now()) !== 'active') return undefined;
    const actor = toKeyActor(found);
    const { networks } = actor.rights;
    const address = truncate(ip, MAX_ADDRESS_LENGTH);
    if (networks !== null && !isInNetworks(ip, networks))
      throw new ProblemError('network_not_permitted', `This API key cannot be used from ${address}.`);
    if (!isUsedRecently(found) && !this.pendingUses.has(found.id)) await this.storeLastUse(found.id, address);
    return actor;
  }

  /** Stores the time and address of a use. An error is only logged. */
  private async storeLastUse(id: string, address: string): Promise<void> {
    this.pendingUses.add(id);
    await this.repository.updateLastUse(id, now(), address).catch(this.logFault);
    this.pendingUses.delete(id);
  }

  /** Records the first use of a key from an address in the audit. After an error, the next request tries again. */
  async recordAddress(id: string, ip: string): Promise<void> {
    const use = `${id} ${ip}`;
    if (this.recordedAddresses.has(use)) return;
    if (this.recordedAddresses.size >= MAX_ADDRESSES) this.recordedAddresses.clear();
    this.recordedAddresses.add(use);
    try {
      await this.audit.recordAddress(id, ip);
    } catch (error) {
      this.recordedAddresses.delete(use);
      this.logFault(error);
    }
  }

  /**
   * Returns the actor of a key, or undefined if the key is not active. Does not count as a use of
   * the key. Use it for work that continues after the request.
   * @param sql the current transaction, if any.
   */
  async findActor(id: string, sql?: Sql): Promise<KeyActor | undefined> {
    const found = await this.repository.find(id, sql);
    return found && stateOf(found, now()) === 'active' ? toKeyActor(found) : undefined;
  }

  /** Returns the id of a key, followed by the ids of its direct and indirect creators, up to the first user. */
  async findCreatorChain(id: string): Promise<string[]> {
    const ids = [id];
    for (let key = await this.repository.find(id); key?.maker_id && ids.length <= MAX_CREATORS;) {
      ids.push(key.maker_id);
      key = key.maker_kind === 'key' ? await this.repository.find(key.maker_id) : undefined;
    }
    return ids;
  }

  async list(): Promise<ApiKeyEntity[]> {
    return this.repository.list();
  }

  async listExpiring(seconds: number, limit: number): Promise<ApiKeyEntity[]> {
    const time = now();
    return this.repository.listExpiring(time, addSeconds(time, seconds), limit);
  }

  /**
   * Creates a key.
   * @returns its row and the key itself, which cannot be read later.
   * @throws ProblemError `insufficient_scope` if the new key would expire later than the key of the caller,
   * `network_not_permitted` if the new key would be valid in more networks, `reauthentication_required`.
   */
  async create(input: ApiKeyInput, caller: Caller): Promise<{ row: ApiKeyEntity; key: string }> {
    assertConfirmed(caller.actor);
    assertWithinOwnRights(input, caller);
    const id = uuidv7();
    const key = generateApiKey(id);
    const row = await this.transactions.run((tx) => this.insertKey(tx, input, caller, id, key), caller);
    return { row, key };
  }

  /** Stores the hash of an already generated key, and records the creation in the audit. */
  async insertKey(
    tx: Sql,
    input: ApiKeyInput,
    caller: Caller,
    id: string,
    key: string,
  ): Promise<ApiKeyEntity> {
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
    await recordEvents(tx, caller, [{ action: 'api_key.created', target, changes }]);
    return row;
  }

  /** Revokes a key, effective with the next request. @returns false if the key does not exist. */
  async revoke(id: string, caller: Caller): Promise<boolean> {
    return this.transactions.run(async (tx) => {
      const key = await this.repository.lock(tx, id);
      if (!key || key.revoked !== null) return key !== undefined;
      await this.repository.revoke(tx, id, now());
      await recordEvents(tx, caller, [{ action: 'api_key.revoked', target: { kind: 'api_key', id } }]);
      return true;
    }, caller);
  }
}

const isUsedRecently = ({ last_used }: ApiKeyEntity): boolean =>
  last_used !== null && !isUntrusted(last_used) && toMillis(last_used) >= Date.now() - LAST_USED_MILLIS;

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
 * Generates a key of the form `rollcall_<public id>_<32 random bytes>_<checksum>`. Secret scanners can verify the
 * checksum. The public id is the end of the key's id, so that an operator can find and revoke a leaked key.
 */
export function generateApiKey(id = uuidv7()): string {
  const body = `${PREFIX}_${id.slice(-12)}_${createToken()}`;
  return `${body}_${computeChecksum(body)}`;
}

/** Returns true if the text has the form of a generated key but a wrong checksum. It was probably mistyped. */
export function isMistyped(key: string): boolean {
  const end = key.lastIndexOf('_');
  return FORMAT.test(key) && key.slice(end + 1) !== computeChecksum(key.slice(0, end));
}

const computeChecksum = (text: string): string => crc32(text).toString(16).padStart(8, '0');
