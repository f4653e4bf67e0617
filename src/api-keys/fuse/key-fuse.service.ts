import { Injectable } from '@nestjs/common';
import { type Actor, type Caller, initiatorOf } from '../../access/actor.js';
import { AuditService } from '../../audit/audit.service.js';
import { ProblemError } from '../../platform/common/errors.js';
import { type DbTime, now, addSeconds, toMillis } from '../../platform/common/time.js';
import { Env } from '../../platform/config/env.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { toProblemError } from '../../platform/http/problem.js';
import { Log } from '../../platform/telemetry/log.js';
import { ApiKeyRepository } from '../api-key.repository.js';
import { KeyFuseRepository } from './key-fuse.repository.js';

/** The window in which blocked users are counted, and the time for which a reset opens a fuse. */
const HOUR_SECONDS = 60 * 60;

/** The number of users that a key has blocked since a time within the last hour, and its limit. */
export interface FuseLoad {
  key: string;
  since: DbTime;
  count: number;
  limit: number;
}

/** Signals that a change would exceed the fuse of a key. The transaction is rolled back. */
export class FuseBlownError extends ProblemError {
  constructor(
    readonly keyId: string,
    /** Users that would have been blocked within the hour. */
    readonly count: number,
    readonly limit: number,
    seconds: number,
  ) {
    const detail =
      `The fuse of API key ${keyId} has blown: the key may block ${limit} users within an hour, and this change would make it ${count}. ` +
      `Try again in ${seconds} seconds, or reset the fuse with another credential (POST /api_keys/{id}/fuse).`;
    super('fuse_blown', detail, { headers: { 'Retry-After': String(seconds) } });
  }
}

/**
 * The fuse of API keys (ADR 20). A key may block at most max(FUSE_MIN, FUSE_PERCENT of the
 * active users) users within an hour.
 * The count is based on rows that the changes insert, so that all instances agree. Concurrent changes do not see
 * each other's rows, and may exceed the limit by the number of users that they block.
 */
@Injectable()
export class KeyFuse {
  constructor(
    private readonly repository: KeyFuseRepository,
    private readonly keys: ApiKeyRepository,
    private readonly audit: AuditService,
    private readonly transactions: TransactionRunner,
    private readonly env: Env,
    private readonly log: Log,
  ) {}

  /**
   * Counts users that are about to be blocked, in the transaction that blocks them, if a key is responsible.
   * @param uuids at least one user.
   * @param active counts the active users, including those in `uuids`.
   * @throws FuseBlownError
   */
  async count(
    tx: Sql,
    { actor }: Caller,
    uuids: readonly string[],
    active: () => Promise<number>,
  ): Promise<void> {
    const key = this.findResponsibleKey(actor);
    if (key === undefined) return;
    const time = now();
    await this.repository.add(tx, key, time, uuids);
    const load = await this.getLoad(tx, key, time, (others) =>
      active().then((n) => n + others - uuids.length),
    );
    if (load && load.count > load.limit) throw await this.createBlownError(tx, load, time);
  }

  /**
   * Returns the load of the key that is responsible for the caller. Returns undefined if no key is
   * responsible, or if the fuse is off or open.
   * @param active counts the active users.
   */
  async readLoad({ actor }: Caller, sql: Sql, active: () => Promise<number>): Promise<FuseLoad | undefined> {
    const key = this.findResponsibleKey(actor);
    if (key === undefined) return undefined;
    return this.getLoad(sql, key, now(), (count) => active().then((n) => n + count), true);
  }

  /** Runs a change of users. A blown fuse is recorded before the error is rethrown. */
  async runChange<T>(caller: Caller, change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } catch (error) {
      if (error instanceof FuseBlownError) await this.recordBlown(error, caller);
      throw error;
    }
  }

  /**
   * Opens the fuse of a key for an hour and forgets the users blocked before.
   * @returns the end of the hour, or undefined if the key does not exist.
   * @throws ProblemError `forbidden` if the key resets its own fuse.
   */
  async reset(id: string, caller: Caller): Promise<DbTime | undefined> {
    return this.transactions.run(async (tx) => {
      const key = await this.keys.lock(tx, id);
      if (!key) return undefined;
      if (!isIndependent(caller.actor, key.id))
        throw new ProblemError('forbidden', 'A key cannot reset its own fuse. Use another credential.');
      const until = addSeconds(now(), HOUR_SECONDS);
      await this.repository.save(tx, { key_id: key.id, blown: null, open_until: until });
      const changes = [{ field: 'open_until', new: until }];
      await this.audit.record(tx, caller, [
        { action: 'api_key.fuse_reset', target: { kind: 'api_key', id: key.id }, changes },
      ]);
      return until;
    }, caller);
  }

  /** Counts the fuses that have blown within the last hour and were not reset. */
  async countBlown(): Promise<number> {
    return this.repository.countBlown(subtractHour(now()));
  }

  /** Deletes rows that are older than an hour, in small batches that do not block other writers for long. */
  async purge(): Promise<void> {
    while (await this.repository.purge(subtractHour(now())));
  }

  /**
   * Returns the key whose fuse counts a change: the caller's own key, or the key that started an import. An import does
   * not count if its approver could also reset the fuse, because the blocked users are then the approver's decision.
   */
  private findResponsibleKey(actor: Actor): string | undefined {
    if (this.env.FUSE_MIN === 0) return undefined;
    const initiator = initiatorOf(actor);
    if (initiator.kind !== 'key') return undefined;
    const approver = actor.kind === 'import' ? actor.approver : null;
    return approver && isIndependent(approver, initiator.id) ? undefined : initiator.id;
  }

  /**
   * Returns the load of a key, or undefined if its fuse is open.
   * @param countBefore returns the number of users that were active before the key blocked `count` of them. It is
   * called only if the load exceeds FUSE_MIN, or if `always` is set.
   */
  private async getLoad(
    sql: Sql,
    key: string,
    time: DbTime,
    countBefore: (count: number) => Promise<number>,
    always = false,
  ): Promise<FuseLoad | undefined> {
    const { FUSE_MIN: least, FUSE_PERCENT: percent } = this.env;
    const hour = subtractHour(time);
    const few = always ? undefined : await this.repository.countUpTo(sql, key, hour, least + 1);
    if (few !== undefined && few <= least) return { key, since: hour, count: few, limit: least };
    const opened = (await this.repository.find(sql, key))?.open_until ?? hour;
    if (opened > time) return undefined;
    const since = opened > hour ? opened : hour;
    const count = await this.repository.count(sql, key, since);
    const share = Math.floor(((await countBefore(count)) * percent) / 100);
    return { key, since, count, limit: Math.max(least, share) };
  }

  private async createBlownError(
    tx: Sql,
    { key, since, count, limit }: FuseLoad,
    time: DbTime,
  ): Promise<FuseBlownError> {
    const firstTime = await this.repository.findTimeOfNth(tx, key, since, count - limit);
    const millis = firstTime === undefined ? 0 : toMillis(firstTime) - toMillis(subtractHour(time));
    const seconds = Math.min(HOUR_SECONDS, Math.max(1, Math.ceil(millis / 1000)));
    return new FuseBlownError(key, count, limit, seconds);
  }

  /**
   * Records a blown fuse, at most once an hour, in a new transaction because the
   * transaction of the change is rolled back.
   */
  private async recordBlown({ keyId: id, count, limit }: FuseBlownError, caller: Caller): Promise<void> {
    const writeBlown = async (tx: Sql): Promise<void> => {
      const time = now();
      const fuse = await this.repository.lock(tx, id);
      if (fuse && ((fuse.blown ?? '') > subtractHour(time) || (fuse.open_until ?? '') > time)) return;
      const blown = { key_id: id, blown: time, open_until: fuse?.open_until ?? null };
      // If two instances insert the row at the same time, the second one retries and finds it.
      await (fuse ? this.repository.save(tx, blown) : this.repository.insert(tx, blown));
      const changes = [
        { field: 'deactivations', new: count },
        { field: 'limit', new: limit },
      ];
      await this.audit.record(tx, caller, [
        { action: 'api_key.fuse_blown', target: { kind: 'api_key', id }, changes },
      ]);
    };
    // The change is rejected even if this write fails.
    await this.transactions.run(writeBlown).catch((error: unknown) => {
      this.log.logFault('fuse', toProblemError(error).code, error);
    });
  }
}

/**
 * Returns true for any actor that may reset the fuse of the key: a user, the service, or another key without scopes.
 */
const isIndependent = (actor: Actor, key: string): boolean =>
  actor.kind !== 'key' || (actor.id !== key && actor.rights.scopes === null);

const subtractHour = (time: DbTime): DbTime => addSeconds(time, -HOUR_SECONDS);
