import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { millisOf } from '../platform/common/uuid.js';
import { type DbTime, toDbTime, toMillis } from '../platform/common/time.js';
import { Env } from '../platform/config/env.js';
import { DatabaseFault } from '../platform/database/engine/database-fault.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { toProblemError } from '../platform/http/problem.js';
import { Leases } from '../platform/database/leases/leases.service.js';
import { Log } from '../platform/telemetry/log.js';
import type { AuditLateEventEntity } from './audit.entity.js';
import { AuditSealRepository, type KnownSeal } from './audit-seal.repository.js';
import { BEFORE_ALL, firstId, isEventId } from './audit-event.js';
import { HourCounts } from './audit-counts.service.js';
import { LATE_MILLIS, Members, NO_SEAL, RowsHash, type SealFacts, SealKeys, hashOfRow } from './seal.js';
import { SealedRowsRepository } from './sealed-rows.repository.js';

const LEASE = 'audit.seals';
const LEASE_SECONDS = 60;
const CHECK_MILLIS = 60_000;
const HOUR_MILLIS = 3_600_000;
const DAY_MILLIS = 24 * HOUR_MILLIS;
/** Rows are sealed this long after their hour, when nearly all transactions that wrote them have ended. */
const GRACE_MILLIS = 5 * 60_000;
/** Rows of one seal: what a mismatch is narrowed down to, and what `members` may grow to. */
const MAX_ROWS = 50_000;
/** Rows that one seal covers one by one; where there are more, another seal follows at once. */
const MAX_LATE = 10_000;

/** What one look at the audit seals. */
interface Look {
  /** When it began: all that was committed before is seen. */
  at: DbTime;
  millis: number;
  /** Seals end before this id. */
  limit: string;
  /** Whether all rows of sealed ranges are covered that have come since the last look. */
  hasLate: boolean;
}

/** An entry for a row, and the action of the row. */
interface LateRow {
  entry: Omit<AuditLateEventEntity, 'seal'>;
  action: string;
}

/**
 * Seals the audit hour by hour (ADR 19). A row is covered by exactly one seal: that of the range of its id, if it was visible
 * then; otherwise by the next one, if it could not be visible at the look before. Other rows are never covered.
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
    private readonly rows: SealedRowsRepository,
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
    const last = await this.repository.last();
    if ((last?.until_id ?? BEFORE_ALL) >= limit) return;
    // Looks never go back, whichever clock they are by.
    const now = toDbTime(new Date(millis));
    const look = { at: last && last.sealed > now ? last.sealed : now, millis, limit, hasLate: false };
    await this.leases.hold(LEASE, LEASE_SECONDS, async () => {
      while (!this.ending && (await this.sealNext(look)));
    });
  }

  /** When the newest seal was made; null for never. */
  async lastSealed(): Promise<DbTime | null> {
    return (await this.repository.last())?.sealed ?? null;
  }

  /** A page of seals, newest first, with their number: they have no gaps. Those up to `purged` may have no events any more. */
  async page(offset: number, limit: number): Promise<{ count: number; purged: number; seals: KnownSeal[] }> {
    const { number: count, purged } = (await this.repository.last()) ?? NO_SEAL;
    return { count, purged, seals: await this.repository.upTo(count - offset, limit) };
  }

  /**
   * The id before which AUDIT_RETENTION_DAYS lets rows be deleted: only what a seal has announced, so that verifying knows
   * what is not there by intent. @returns undefined where nothing may be deleted.
   */
  async purgeable(): Promise<string | undefined> {
    if (this.env.AUDIT_RETENTION_DAYS === undefined) return undefined;
    await this.run();
    return (await this.purged())?.until_id;
  }

  /** Forgets what seals remember of rows that are deleted. To be called when all rows before `purgeable` are. */
  async forget(): Promise<void> {
    const purged = await this.purged();
    if (!purged) return;
    await this.repository.forgetLate(purged.number, purged.until_id);
    await this.repository.forgetMembers(purged.number);
  }

  private async purged(): Promise<KnownSeal | undefined> {
    return this.repository.find((await this.repository.last())?.purged ?? 0);
  }

  /** @returns false when all is sealed up to the limit, or another instance was faster. */
  private async sealNext(look: Look): Promise<boolean> {
    const last = await this.repository.last();
    const from = last?.until_id ?? BEFORE_ALL;
    const outside = look.hasLate ? NONE : await this.outside(last, look);
    const { late } = outside;
    look.hasLate = late.length < MAX_LATE;
    if (from >= look.limit && late.length === 0) return false;
    const range = look.hasLate && from < look.limit ? await this.range(from, look.limit) : noRows(from);
    const lateHash = new RowsHash();
    late.sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const entry of late) lateHash.addLate(entry);
    for (const { entry, action } of outside.missed) range.counts.add(entry.id, action);
    const facts: SealFacts = {
      number: (last?.number ?? 0) + 1,
      sealed: look.at,
      until_id: range.until,
      row_count: range.rows.count,
      rows_hash: range.rows.digest(),
      late_count: late.length,
      late_hash: lateHash.digest(),
      purged: await this.purgedBy(last, look.millis),
      key_id: this.keys.current,
      members_hash: Members.hashOf(range.members.text),
    };
    const hash = this.keys.seal(facts, (last ?? NO_SEAL).hash);
    const seal = { ...facts, hash, members: range.members.text };
    const entries = late.map((entry) => ({ ...entry, seal: facts.number }));
    try {
      const counts = range.counts.rows(facts.number);
      await this.transactions.run((tx) => this.repository.insert(tx, seal, entries, counts));
    } catch (error) {
      if (error instanceof DatabaseFault && error.fault === 'duplicate') return false;
      throw error;
    }
    this.log.event('audit sealed', { seal: seal.number, rows: range.rows.count, late: late.length, hash });
    return true;
  }

  /** Rows that are in no range that is still to be sealed: those that were `missed` are the service's own. */
  private async outside(last: KnownSeal | undefined, { at }: Look) {
    const missed = last ? await this.missed(last, at, MAX_LATE) : [];
    const ahead = await this.ahead(at, MAX_LATE - missed.length);
    return { missed, late: [...missed, ...ahead].map(({ entry }) => entry) };
  }

  /** The rows of the next range. What is no row of the service is left out, and so belongs to no seal. */
  private async range(from: string, limit: string): Promise<Range> {
    const range = { ...noRows(from), until: await this.endOf(from, limit) };
    const known = await this.repository.lateIn(from, range.until);
    for await (const { row, hasId } of this.rows.rows(from, range.until)) {
      if (!hasId || !isEventId(row.id) || known.has(row.id)) continue;
      if (range.rows.count === MAX_ROWS) return { ...range, until: row.id };
      range.rows.add(row);
      range.members.add(row.id);
      range.counts.add(row.id, row.action);
    }
    return range;
  }

  /** The end of the range from `from`: of the hour of its first row, or `limit`. */
  private async endOf(from: string, limit: string): Promise<string> {
    for await (const { row } of this.rows.rows(from, limit)) {
      if (!isEventId(row.id)) continue;
      const millis = millisOf(row.id);
      const end = firstId(millis - (millis % HOUR_MILLIS) + HOUR_MILLIS);
      return end < limit ? end : limit;
    }
    return limit;
  }

  /**
   * Rows of sealed ranges that became visible since the last look, of which the ids are no older than `LATE_MILLIS` before it:
   * what is older should have been seen then. @param most rows that are wanted.
   */
  private async missed(last: KnownSeal, look: DbTime, most: number): Promise<LateRow[]> {
    // Several seals may be of one look: where one had to be broken off, or was made in parts.
    let before: KnownSeal | undefined = last;
    while (before && before.sealed >= look) before = await this.repository.find(before.number - 1);
    if (!before) return [];
    const begin = firstId(toMillis(before.sealed) - LATE_MILLIS);
    if (begin >= last.until_id) return [];
    const isSealed = await this.sealedFrom(begin);
    return this.uncovered(begin, last.until_id, isSealed, most);
  }

  /**
   * Rows that no instance can have written yet. They are named in a seal now, so that they do not pass for others when their
   * time has come.
   */
  private async ahead(look: DbTime, most: number): Promise<LateRow[]> {
    const begin = firstId(toMillis(look) + LATE_MILLIS + 1);
    return this.uncovered(begin, undefined, () => false, most);
  }

  private async uncovered(
    from: string,
    until: string | undefined,
    isSealed: (id: string) => boolean,
    most: number,
  ): Promise<LateRow[]> {
    const known = await this.repository.lateIn(from, until);
    const found: LateRow[] = [];
    for await (const { row, hasId } of this.rows.rows(from, until)) {
      if (found.length >= most) break;
      if (!hasId || !isEventId(row.id) || known.has(row.id) || isSealed(row.id)) continue;
      found.push({ entry: { id: row.id, row_hash: hashOfRow(row) }, action: row.action });
    }
    return found;
  }

  /** Whether the seal of its range covers an id. To be asked in the order of ids. */
  private async sealedFrom(id: string): Promise<(id: string) => boolean> {
    const ranges: { until: string; members: string }[] = [];
    for await (const { seal } of this.repository.seals((await this.repository.lastUntil(id)) ?? 0)) {
      ranges.push({ until: seal.until_id, members: (await this.repository.membersOf(seal.number)) ?? '' });
    }
    let range = ranges.shift();
    let isMember = Members.of(range?.members ?? '');
    return (id) => {
      while (range && id >= range.until) {
        range = ranges.shift();
        isMember = Members.of(range?.members ?? '');
      }
      return isMember(id);
    };
  }

  /** The newest seal whose rows are older than AUDIT_RETENTION_DAYS. */
  private async purgedBy(last: KnownSeal | undefined, millis: number): Promise<number> {
    const before = last?.purged ?? 0;
    const days = this.env.AUDIT_RETENTION_DAYS;
    if (days === undefined) return before;
    return Math.max(before, (await this.repository.lastUntil(firstId(millis - days * DAY_MILLIS))) ?? 0);
  }
}

type Range = ReturnType<typeof noRows>;

const noRows = (until: string) => ({
  until,
  rows: new RowsHash(),
  members: new Members(),
  counts: new HourCounts(),
});
const NONE = { missed: [], late: [] };
