import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { type DbTime, now, toMillis } from '../common/time.js';
import { Env } from '../config/env.js';
import { DatabaseFault } from '../database/engine/database-fault.js';
import { TransactionRunner } from '../database/transaction-runner.js';
import { toProblemError } from '../http/problem.js';
import { Leases } from '../leases/leases.service.js';
import { Log } from '../telemetry/log.js';
import { AuditSealRepository, type KnownSeal } from './audit-seal.repository.js';
import { BEFORE_ALL, firstId, justBehind, millisOf } from './event-id.js';
import { LATE_MILLIS, Members, NO_SEAL, RowsHash, type SealFacts, SealKeys } from './seal.js';

const LEASE = 'audit.seals';
const LEASE_SECONDS = 60;
const CHECK_MILLIS = 60_000;
const HOUR_MILLIS = 3_600_000;
const DAY_MILLIS = 24 * HOUR_MILLIS;
/** Rows are sealed this long after their hour, when nearly all transactions that wrote them have ended. */
const GRACE_MILLIS = 5 * 60_000;
/** Rows of one seal: what a mismatch is narrowed down to, and what `members` may grow to. */
const MAX_ROWS = 50_000;
const MAX_LATE = 10_000;

/**
 * Seals the audit hour by hour (ADR 19). A row is covered by exactly one seal: that of the range of its id, if it was visible
 * then; otherwise the next one, provided that it appears within a day of its id's time.
 */
@Injectable()
export class Sealer implements BeforeApplicationShutdown {
  private readonly keys: SealKeys;
  private timer: NodeJS.Timeout | undefined;
  private busy: Promise<unknown> | undefined;
  private ending = false;

  constructor(
    private readonly env: Env,
    private readonly repository: AuditSealRepository,
    private readonly transactions: TransactionRunner,
    private readonly leases: Leases,
    private readonly log: Log,
  ) {
    this.keys = new SealKeys(env.AUDIT_SEAL_KEY);
  }

  /** Looks every minute whether an hour has ended. One instance of several seals it. */
  start(): void {
    this.timer = setInterval(() => {
      this.busy ??= this.run()
        .catch((error: unknown) => {
          this.log.fault('audit seals', toProblemError(error).code, error);
        })
        .finally(() => {
          this.busy = undefined;
        });
    }, CHECK_MILLIS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.ending = true;
    clearInterval(this.timer);
    await this.busy;
  }

  /** Seals all hours that have ended, unless another instance does. @param millis the time by which they ended. */
  async run(millis = Date.now()): Promise<void> {
    const ripe = millis - GRACE_MILLIS;
    const limit = firstId(ripe - (ripe % HOUR_MILLIS));
    if (((await this.repository.last())?.until_id ?? BEFORE_ALL) >= limit) return;
    await this.leases.hold(LEASE, LEASE_SECONDS, async () => {
      while (!this.ending && (await this.sealNext(limit, millis)));
    });
  }

  async lastSealed(): Promise<DbTime | null> {
    return (await this.repository.last())?.sealed ?? null;
  }

  /**
   * The id before which AUDIT_RETENTION_DAYS lets rows be deleted: only what a seal has announced, so that verifying knows
   * what is not there by intent. @returns undefined where nothing may be deleted.
   */
  async purgeable(): Promise<string | undefined> {
    if (this.env.AUDIT_RETENTION_DAYS === undefined) return undefined;
    await this.run();
    const purged = (await this.repository.last())?.purged ?? 0;
    const until = (await this.repository.find(purged))?.until_id;
    if (until !== undefined) await this.repository.forgetLate(until);
    return until;
  }

  /** @returns false when all is sealed up to `limit`, or another instance was faster. */
  private async sealNext(limit: string, millis: number): Promise<boolean> {
    const last = await this.repository.last();
    const from = last?.until_id ?? BEFORE_ALL;
    if (from >= limit) return false;
    const members = new Members();
    const rows = new RowsHash();
    let until = await this.endOf(from, limit);
    for await (const row of this.repository.rows(from, until)) {
      if (rows.count === MAX_ROWS) {
        until = row.id;
        break;
      }
      rows.add(row);
      members.add(row.id);
    }
    // From the last look on: a service that was off for days still finds what came late before its end.
    const looked = last ? Math.min(millis, toMillis(last.sealed)) : millis;
    const window = firstId(looked - LATE_MILLIS);
    const late = await this.lateRows(window);
    const lateHash = await this.hashOf(late);
    const facts: SealFacts = {
      number: (last?.number ?? 0) + 1,
      sealed: now(),
      until_id: until,
      row_count: rows.count,
      rows_hash: rows.digest(),
      late_count: late.length,
      late_hash: lateHash,
      purged: await this.purgedBy(last, millis),
      key_id: this.keys.current,
    };
    const hash = this.keys.seal(facts, (last ?? NO_SEAL).hash);
    // Rows of long ago were sealed late themselves, or are of before this version: nobody is writing among them any more.
    const seal = { ...facts, hash, members: until > window ? members.text : null };
    try {
      await this.transactions.run((tx) => this.repository.insert(tx, seal, late));
    } catch (error) {
      if (error instanceof DatabaseFault && error.fault === 'duplicate') return false;
      throw error;
    }
    this.log.event('audit sealed', { seal: seal.number, rows: rows.count, late: late.length, hash });
    return true;
  }

  /** The end of the range from `from`: of the hour of its first row, or `limit`. */
  private async endOf(from: string, limit: string): Promise<string> {
    const [first] = await this.repository.idsFrom(from, 1);
    if (first === undefined || first >= limit) return limit;
    const millis = millisOf(first);
    const end = firstId(millis - (millis % HOUR_MILLIS) + HOUR_MILLIS);
    return end < limit ? end : limit;
  }

  /** Ids of rows in the ranges of the last day that were not there when those were sealed. */
  private async lateRows(window: string): Promise<string[]> {
    const late: string[] = [];
    const oldest = (await this.repository.lastUntil(window)) ?? 0;
    await this.repository.forgetMembers(oldest + 1);
    let from = (await this.repository.find(oldest))?.until_id ?? BEFORE_ALL;
    for await (const seal of this.repository.seals(oldest)) {
      const known = new Set<string>();
      for await (const { id } of this.repository.lateIn(from, seal.until_id)) known.add(id);
      if ((await this.repository.count(from, seal.until_id)) > seal.row_count + known.size) {
        const members = await this.repository.membersOf(seal.number);
        const isMember = members === null ? () => true : Members.of(members);
        for await (const id of this.repository.ids(from, seal.until_id)) {
          if (late.length < MAX_LATE && !known.has(id) && !isMember(id)) late.push(id);
        }
      }
      from = seal.until_id;
    }
    return late.sort();
  }

  private async hashOf(ids: readonly string[]): Promise<string> {
    const hash = new RowsHash();
    for (const id of ids) {
      for await (const row of this.repository.rows(id, justBehind(id))) hash.add(row);
    }
    return hash.digest();
  }

  /** The newest seal whose rows are older than AUDIT_RETENTION_DAYS. */
  private async purgedBy(last: KnownSeal | undefined, millis: number): Promise<number> {
    const before = last?.purged ?? 0;
    const days = this.env.AUDIT_RETENTION_DAYS;
    if (days === undefined) return before;
    return Math.max(before, (await this.repository.lastUntil(firstId(millis - days * DAY_MILLIS))) ?? 0);
  }
}
