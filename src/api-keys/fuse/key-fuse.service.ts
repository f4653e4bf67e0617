import { Injectable } from '@nestjs/common';
import { type Actor, type Caller, initiatorOf } from '../../access/actor.js';
import { recordEvents } from '../../audit/audit.service.js';
import { ProblemError } from '../../platform/common/errors.js';
import {
  type DbTime,
  HOUR_SECONDS,
  computeLatestTrustedTime,
  now,
  addSeconds,
  isUntrusted,
  toMillis,
} from '../../platform/common/time.js';
import { Env } from '../../platform/config/env.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { createFaultLogger } from '../../platform/http/problem.js';
import { Log } from '../../platform/telemetry/log.js';
import { ApiKeyRepository } from '../api-key.repository.js';
import { KeyFuseRepository } from './key-fuse.repository.js';

/** Number of users that a key has blocked since `since`, which is at most an hour ago, and the limit of the key. */
export interface FuseLoad {
  key: string;
  since: DbTime;
  count: number;
  limit: number;
}

/** Signals that a change would block more users than the fuse of the key allows. */
export class FuseBlownError extends ProblemError {
  constructor(
    readonly keyId: string,
    /** Number of users that the key would have blocked within an hour, including this change. */
    readonly count: number,
    readonly limit: number,
    seconds: number,
  ) {
    const detail =
      `The fuse of API key ${keyId} has blown: the key may block ${limit} users within an hour, and with this change it would have blocked ${count}. ` +
      `Try again in ${seconds} seconds, or reset the fuse with another credential (POST /api_keys/{id}/fuse).`;
    super('fuse_blown', detail, { headers: { 'Retry-After': String(seconds) } });
  }
}

/**
 * The fuse of API keys (ADR 20). Within an hour, a key may block at most FUSE_MIN users, or FUSE_PERCENT of the active
 * users if this is more. Concurrent changes do not see each other, so together they may exceed the limit.
 */
@Injectable()
export class KeyFuse {
  constructor(
    private readonly repository: KeyFuseRepository,
    private readonly keys: ApiKeyRepository,
    private readonly transactions: TransactionRunner,
    private readonly env: Env,
    private readonly log: Log,
  ) {}

  /**
   * Records users that a change is about to block, in the transaction of the change, and checks the fuse. Does nothing
   * unless an API key is responsible for the change.
   * @param uuids at least one user.
   * @param countActive returns the number of active users, including the users in `uuids`.
   * @throws FuseBlownError
   */
  async recordBlockedUsers(
    tx: Sql,
    { actor }: Caller,
    uuids: readonly string[],
    countActive: () => Promise<number>,
  ): Promise<void> {
    const key = this.findResponsibleKey(actor);
    if (key === undefined) return;
    const time = now();
    await this.repository.add(tx, key, time, uuids);
    const countBefore = async (others: number) => (await countActive()) + others - uuids.length;
    const load = await this.computeKeyLoad(tx, key, time, countBefore);
    if (!load || load.count <= load.limit) return;
    const { since, count, limit } = load;
    const firstTime = await this.repository.findNthBlockTime(tx, key, since, count - limit);
    const millis = firstTime === undefined ? 0 : toMillis(firstTime) - toMillis(subtractHour(time));
    const seconds = Math.min(HOUR_SECONDS, Math.max(1, Math.ceil(millis / 1000)));
    throw new FuseBlownError(key, count, limit, seconds);
  }

  /**
   * Returns the load of the API key that is responsible for the caller. Returns undefined without such a key, or if its
   * fuse is switched off or suspended.
   * @param countActive returns the number of active users.
   */
  async findCallerLoad(
    { actor }: Caller,
    sql: Sql,
    countActive: () => Promise<number>,
  ): Promise<FuseLoad | undefined> {
    const key = this.findResponsibleKey(actor);
    if (key === undefined) return undefined;
    const time = now();
    await this.repository.replaceUntrustedTimes(sql, key, time);
    return this.computeKeyLoad(sql, key, time, (count) => countActive().then((n) => n + count), true);
  }

  /** Runs a change of users, and records a blown fuse in the audit. */
  async runWithFuse<T>(caller: Caller, change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } catch (error) {
      if (error instanceof FuseBlownError) await this.recordBlownFuse(error, caller);
      throw error;
    }
  }

  /**
   * Resets the fuse of a key, and suspends the fuse for an hour. Users that the key blocked before the reset no longer
   * count.
   * @returns the end of the suspension, or undefined if the key does not exist.
   * @throws ProblemError `forbidden` if a key tries to reset its own fuse.
   */
  async reset(id: string, caller: Caller): Promise<DbTime | undefined> {
    return this.transactions.run(async (tx) => {
      const key = await this.keys.lock(tx, id);
      if (!key) return undefined;
      if (!canResetFuse(caller.actor, key.id))
        throw new ProblemError('forbidden', 'A key cannot reset its own fuse. Use another credential.');
      const until = addSeconds(now(), HOUR_SECONDS);
      await this.repository.save(tx, { key_id: key.id, blown: null, open_until: until });
      const target = { kind: 'api_key', id: key.id } as const;
      const changes = [{ field: 'open_until', new: until }];
      await recordEvents(tx, caller, [{ action: 'api_key.fuse_reset', target, changes }]);
      return until;
    }, caller);
  }

  /** Returns the ids of the keys whose fuse has blown within the last hour. */
  async findBlownKeys(): Promise<Set<string>> {
    const time = now();
    const rows = await this.repository.listBlown(subtractHour(time), computeLatestTrustedTime(time));
    return new Set(rows.map(({ key_id }) => key_id));
  }

  /** Deletes rows that are more than an hour old, in small batches, so that other writers do not wait long. */
  async purge(): Promise<void> {
    while (await this.repository.purge(subtractHour(now())));
  }

  /**
   * Returns the API key that is responsible for the actor. Returns undefined without such a key, if fuses are switched
   * off, or if the approver of an import may reset the fuse.
   */
  private findResponsibleKey(actor: Actor): string | undefined {
    if (this.env.FUSE_MIN === 0) return undefined;
    const initiator = initiatorOf(actor);
    if (initiator.kind !== 'key') return undefined;
    const approver = actor.kind === 'import' ? actor.approver : null;
    return approver && canResetFuse(approver, initiator.id) ? undefined : initiator.id;
  }

  /**
   * Returns the load of a key, or undefined while its fuse is suspended.
   * @param countBefore returns the number of active users before the key blocked `count` users.
   * @param ignoresMinimum true to apply FUSE_PERCENT even if the key has blocked at most FUSE_MIN users.
   */
  private async computeKeyLoad(
    sql: Sql,
    key: string,
    time: DbTime,
    countBefore: (count: number) => Promise<number>,
    ignoresMinimum = false,
  ): Promise<FuseLoad | undefined> {
    const { FUSE_MIN: least, FUSE_PERCENT: percent } = this.env;
    const hour = subtractHour(time);
    const few = ignoresMinimum ? undefined : await this.repository.count(sql, key, hour, least + 1);
    if (few !== undefined && few <= least) return { key, since: hour, count: few, limit: least };
    const opened = (await this.repository.find(sql, key))?.open_until ?? hour;
    if (isInLastHour(subtractHour(opened), time)) return undefined;
    const since = opened > hour && opened <= time ? opened : hour;
    const count = await this.repository.count(sql, key, since);
    const share = Math.floor(((await countBefore(count)) * percent) / 100);
    return { key, since, count, limit: Math.max(least, share) };
  }

  /**
   * Records a blown fuse in the audit, at most once an hour. Uses a new transaction, because the transaction of the
   * change is rolled back.
   */
  private async recordBlownFuse({ keyId: id, count, limit }: FuseBlownError, caller: Caller): Promise<void> {
    const writeBlownFuse = async (tx: Sql): Promise<void> => {
      const time = now();
      await this.repository.replaceUntrustedTimes(tx, id, time);
      const fuse = await this.repository.lock(tx, id);
      const [blownAt, opened] = [fuse?.blown ?? NEVER, fuse?.open_until ?? NEVER];
      if (isInLastHour(blownAt, time) || isInLastHour(subtractHour(opened), time)) return;
      const blown = { key_id: id, blown: time, open_until: fuse?.open_until ?? null };
      // If two instances insert this row at the same time, one of them fails, retries and finds the existing row.
      await (fuse ? this.repository.save(tx, blown) : this.repository.insert(tx, blown));
      const changes = [
        { field: 'deactivations', new: count },
        { field: 'limit', new: limit },
      ];
      const target = { kind: 'api_key', id } as const;
      await recordEvents(tx, caller, [{ action: 'api_key.fuse_blown', target, changes }]);
    };
    // An error is only logged, because the change is rejected in any case.
    await this.transactions.run(writeBlownFuse).catch(createFaultLogger(this.log, 'fuse'));
  }
}

/**
 * Returns true if the actor may reset the fuse of the key: a user, the service, or another key without limits on
 * scopes.
 */
const canResetFuse = (actor: Actor, key: string): boolean =>
  actor.kind !== 'key' || (actor.id !== key && actor.rights.scopes === null);

const NEVER: DbTime = '1970-01-02 00:00:00.000';

/** Returns true for an event of the last hour. An event whose time is not trusted does not count. */
const isInLastHour = (event: DbTime, time: DbTime): boolean =>
  event > subtractHour(time) && !isUntrusted(event, time);

const subtractHour = (time: DbTime): DbTime => addSeconds(time, -HOUR_SECONDS);
