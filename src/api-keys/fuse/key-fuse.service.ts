import { Injectable } from '@nestjs/common';
import { type Actor, type Caller, type KeyActor, initiatorOf } from '../../access/actor.js';
import { assertScopesWithin } from '../../access/policy.js';
import { AuditService } from '../../audit/audit.service.js';
import { ProblemError } from '../../platform/common/errors.js';
import { type DbTime, now, secondsFrom, toMillis } from '../../platform/common/time.js';
import { Env } from '../../platform/config/env.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { toProblemError } from '../../platform/http/problem.js';
import { Log } from '../../platform/telemetry/log.js';
import { rightsIn } from '../api-key.mapping.js';
import { ApiKeyRepository } from '../api-key.repository.js';
import { FuseBlown, FuseOverrun } from './fuse-blown.js';
import { KeyFuseRepository } from './key-fuse.repository.js';

/** The time in which users are counted, and for which a reset opens a fuse. */
const HOUR_SECONDS = 60 * 60;

/** What the keys of a family have blocked since a time within the hour, and how many they may. */
export interface FuseLoad {
  /** The first of them; with the limit 0, a key that has made it and whose fuse has blown. */
  key: string;
  since: DbTime;
  count: number;
  limit: number;
}

/**
 * The fuse of API keys (ADR 20): keys of a family that block more than max(FUSE_MIN, FUSE_PERCENT of the active users) within
 * an hour are refused further ones. Counted by rows that the changes insert, so that all instances agree; changes that race do not
 * see each other's rows, and pass the limit by at most as many users as race.
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
   * Counts users that are about to be blocked, in the transaction that does it. Without any, or where no key is
   * responsible, it costs nothing. @param active counts the active users, these included.
   * @throws FuseBlown
   */
  async count(
    tx: Sql,
    { actor }: Caller,
    uuids: readonly string[],
    active: () => Promise<number>,
  ): Promise<void> {
    if (uuids.length === 0) return;
    const key = await this.responsible(actor, tx);
    if (key === undefined) return;
    const time = now();
    await this.assertNoBlownMaker(tx, key, time);
    await this.repository.add(tx, key, time, uuids);
    const load = await this.load(tx, key, time, (others) => active().then((n) => n + others - uuids.length));
    if (load && load.count > load.limit) throw await this.blown(tx, load, time);
  }

  /**
   * What the key behind a caller has blocked within the hour; undefined where no key is responsible or its fuse is off or
   * open. @param active counts the active users.
   */
  async loadOf({ actor }: Caller, sql: Sql, active: () => Promise<number>): Promise<FuseLoad | undefined> {
    const key = await this.responsible(actor, sql);
    if (key === undefined) return undefined;
    const time = now();
    const hour = hourBefore(time);
    const maker = await this.repository.blownMaker(sql, key, hour, time);
    if (maker) return { key: maker.id, since: hour, count: 0, limit: 0 };
    return this.load(sql, key, time, (count) => active().then((n) => n + count), true);
  }

  /** Runs a change of users. Where it blows a fuse, that is recorded before the error is passed on. */
  async watched<T>(caller: Caller, change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } catch (error) {
      if (error instanceof FuseOverrun) await this.record(error, caller);
      throw error;
    }
  }

  /**
   * Opens the fuse of a key, which its family shares, for an hour. What was blocked until then counts no more.
   * @returns when the hour ends; undefined when there is no such key.
   * @throws ProblemError `forbidden`, `insufficient_scope` for a key that may not decide on this fuse.
   */
  async reset(id: string, caller: Caller): Promise<DbTime | undefined> {
    return this.transactions.run(async (tx) => {
      const key = await this.keys.lock(tx, id);
      if (!key) return undefined;
      const family = key.family_id ?? id;
      if (caller.actor.kind === 'key') await this.assertIndependent(tx, caller.actor, family);
      const until = secondsFrom(now(), HOUR_SECONDS);
      await this.repository.save(tx, { key_id: family, blown: null, open_until: until });
      const changes = [{ field: 'open_until', new: until }];
      await this.audit.record(tx, caller, [
        { action: 'api_key.fuse_reset', target: { kind: 'api_key', id: family }, changes },
      ]);
      return until;
    }, caller);
  }

  /**
   * A key decides on the fuse of others only: not of its family, nor of a key that has made it, directly or by others, and
   * of none that may do more than itself.
   */
  private async assertIndependent(sql: Sql, key: KeyActor, family: string): Promise<void> {
    if (key.family === family || (await this.keys.isMadeBy(sql, key.id, family))) {
      const detail =
        'A key may not reset its own fuse, nor that of the keys that have made it or were made by it; use another credential.';
      throw new ProblemError('forbidden', detail);
    }
    const first = await this.keys.find(family, sql);
    if (first) assertScopesWithin(rightsIn(first).scopes, key.rights.scopes);
  }

  /** How many fuses have blown within the hour and were not reset. */
  async countBlown(): Promise<number> {
    return this.repository.countBlown(hourBefore(now()));
  }

  /** Deletes what no fuse counts any more, in parts that block no other writer for long. */
  async purge(): Promise<void> {
    while (await this.repository.purge(hourBefore(now())));
  }

  /**
   * The family that a change is counted for: that of the caller's own key, or of a key that started an import. An import that
   * another credential has approved, one that could reset the fuse, is that one's decision.
   */
  private async responsible(actor: Actor, sql: Sql): Promise<string | undefined> {
    if (this.env.FUSE_MIN === 0) return undefined;
    const initiator = initiatorOf(actor);
    if (initiator.kind !== 'key') return undefined;
    const approver = actor.kind === 'import' ? actor.approver : null;
    if (!approver) return initiator.family;
    if (approver.kind !== 'key') return undefined;
    return (await this.isIndependent(sql, approver, initiator.family)) ? undefined : initiator.family;
  }

  private async isIndependent(sql: Sql, key: KeyActor, family: string): Promise<boolean> {
    try {
      await this.assertIndependent(sql, key, family);
      return true;
    } catch (error) {
      if (error instanceof ProblemError && error.status === 403) return false;
      throw error;
    }
  }

  /** A fuse that has blown holds for the keys that its key has made, too: those of the full Webmaster level, or before them. */
  private async assertNoBlownMaker(tx: Sql, key: string, time: DbTime): Promise<void> {
    const maker = await this.repository.blownMaker(tx, key, hourBefore(time), time);
    if (!maker) return;
    const left = Math.ceil((toMillis(maker.blown) - toMillis(hourBefore(time))) / 1000);
    const detail = `The fuse of API key ${maker.id} has blown, which has made this one: it blocks nobody either.`;
    throw new FuseBlown(detail, Math.max(1, left));
  }

  /**
   * @param activeBefore the users that were active before the key blocked `count` of them. Asked only where the number alone
   * does not decide, unless `always`.
   */
  private async load(
    sql: Sql,
    key: string,
    time: DbTime,
    activeBefore: (count: number) => Promise<number>,
    always = false,
  ): Promise<FuseLoad | undefined> {
    const { FUSE_MIN: least, FUSE_PERCENT: percent } = this.env;
    const hour = hourBefore(time);
    const few = always ? undefined : await this.repository.countUpTo(sql, key, hour, least + 1);
    if (few !== undefined && few <= least) return { key, since: hour, count: few, limit: least };
    const opened = (await this.repository.find(sql, key))?.open_until ?? hour;
    if (opened > time) return undefined;
    const since = opened > hour ? opened : hour;
    const count = await this.repository.count(sql, key, since);
    const share = Math.floor(((await activeBefore(count)) * percent) / 100);
    return { key, since, count, limit: Math.max(least, share) };
  }

  private async blown(tx: Sql, { key, since, count, limit }: FuseLoad, time: DbTime): Promise<FuseOverrun> {
    const leaves = await this.repository.timeOf(tx, key, since, count - limit);
    const millis = leaves === undefined ? 0 : toMillis(leaves) - toMillis(hourBefore(time));
    const seconds = Math.min(HOUR_SECONDS, Math.max(1, Math.ceil(millis / 1000)));
    return new FuseOverrun(key, count, limit, seconds);
  }

  /** Once an hour, however often the key tries: the transaction of the change itself is rolled back. */
  private async record({ keyId: id, count, limit }: FuseOverrun, caller: Caller): Promise<void> {
    const write = async (tx: Sql): Promise<void> => {
      const time = now();
      const fuse = await this.repository.lock(tx, id);
      if (fuse && ((fuse.blown ?? '') > hourBefore(time) || (fuse.open_until ?? '') > time)) return;
      const blown = { key_id: id, blown: time, open_until: fuse?.open_until ?? null };
      // Of two instances that insert the row, the second runs again and finds it.
      await (fuse ? this.repository.save(tx, blown) : this.repository.insert(tx, blown));
      const changes = [
        { field: 'deactivations', new: count },
        { field: 'limit', new: limit },
      ];
      await this.audit.record(tx, caller, [
        { action: 'api_key.fuse_blown', target: { kind: 'api_key', id }, changes },
      ]);
    };
    // The change is refused whether or not this can be written.
    await this.transactions.run(write).catch((error: unknown) => {
      this.log.fault('fuse', toProblemError(error).code, error);
    });
  }
}

const hourBefore = (time: DbTime): DbTime => secondsFrom(time, -HOUR_SECONDS);
