import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { sha256 } from '../platform/common/secrets.js';
import { millisOf } from '../platform/common/uuid.js';
import {
  type DbTime,
  HOUR_MILLIS,
  MAX_SKEW_SECONDS,
  isUntrusted,
  toDbTime,
  toMillis,
} from '../platform/common/time.js';
import { Env } from '../platform/config/env.js';
import { DatabaseError } from '../platform/database/engine/database-error.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { createFaultLogger } from '../platform/http/problem.js';
import { Leases } from '../platform/database/leases/leases.service.js';
import { Log } from '../platform/telemetry/log.js';
import type { AuditLateEventEntity } from './audit.entity.js';
import { AuditSealRepository, type Seal } from './audit-seal.repository.js';
import { MIN_ID, toFirstId, isEventId } from './audit-event.js';
import { HourCounts } from './audit-counts.service.js';
import { Members, NO_SEAL, RowsHash, type SealFacts, SealKeys, hashRow } from './seal.js';
import { findFirstFutureId, findFirstLateId } from './seal-faults.js';

const LEASE = 'audit.seals';
const LEASE_SECONDS = 60;
const CHECK_MILLIS = 1000;
const CHECKS_PER_PASS = 60;
const DAY_MILLIS = 24 * HOUR_MILLIS;
/**
 * Delay between the end of an hour and its sealing. After this delay, almost all transactions of the hour have ended.
 */
const GRACE_MILLIS = 5 * 60_000;
/**
 * Maximum number of events per seal. It limits the size of `members`, and the number of events in doubt if a hash does
 * not match.
 */
const MAX_ROWS = 50_000;
/** Maximum number of late events per seal. For more events, the same pass creates another seal. */
const MAX_LATE = 10_000;

interface SealingPass {
  /** Start of the pass. The pass sees everything that was committed before this time. */
  at: DbTime;
  millis: number;
  /** Smallest event id that this pass does not seal. */
  limit: string;
  /** True if this pass has found all late events. False if the next seal must search for more of them. */
  isLateCovered: boolean;
  /** True if the next seal records a changed clock and is therefore created even without events. */
  isClockChange: boolean;
}

type LateRow = Omit<AuditLateEventEntity, 'seal'> & { action: string };

/**
 * Seals the audit hour by hour (ADR 19). Events that are committed shortly after the sealing of their hour become late
 * events of the next seal. An even later commit counts as tampering.
 */
@Injectable()
export class Sealer implements BeforeApplicationShutdown {
  private readonly keys = new SealKeys(this.env.AUDIT_SEAL_KEY);
  private timer: NodeJS.Timeout | undefined;
  private busy: Promise<unknown> | undefined;
  private ending = false;

  constructor(
    private readonly env: Env,
    private readonly repository: AuditSealRepository,
    private readonly transactions: TransactionRunner,
    private readonly leases: Leases,
    private readonly log: Log,
  ) {}

  /**
   * Starts to seal ended hours every minute. If the clock of this machine is set, seals at once, so that the seals show
   * which times events can have. With several instances, only one of them seals.
   */
  start(): void {
    let offset = Date.now() - performance.now();
    let checks = 0;
    this.timer = setInterval(() => {
      if (this.busy) return;
      const change = Date.now() - performance.now() - offset;
      const hasJumped = Math.abs(change) > MAX_SKEW_SECONDS * 1000;
      if (hasJumped) offset += change;
      else if (checks++ % CHECKS_PER_PASS > 0) return;
      const isStart = !hasJumped && checks === 1;
      this.busy = (isStart ? this.sealAtStart() : this.sealEndedHours(Date.now(), hasJumped))
        .catch(createFaultLogger(this.log, 'audit seals'))
        .finally(() => (this.busy = undefined));
    }, CHECK_MILLIS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.ending = true;
    clearInterval(this.timer);
    await this.busy;
  }

  /** Seals when the service starts. If an unsealed event has a future time, the clock was set while the service was off. */
  async sealAtStart(millis = Date.now()): Promise<void> {
    const now = toDbTime(new Date(millis));
    const isAhead = await this.repository.hasEvents(findFirstFutureId(now)); // a cheap check that is false on most starts
    const hasJumped = isAhead && (await this.findFutureEvents(now, 1)).length > 0;
    // At the first start no hour has ended yet.
    if (hasJumped || (await this.findLastSealTime())) await this.sealEndedHours(millis, hasJumped);
  }

  /**
   * Seals all hours that ended at least `GRACE_MILLIS` before `millis`, unless another instance is sealing. If the clock
   * was set, only creates a seal that records the new time.
   */
  async sealEndedHours(millis = Date.now(), hasJumped = false): Promise<void> {
    const last = await this.repository.findLast();
    const now = toDbTime(new Date(millis));
    const isClockChange = hasJumped || (last !== undefined && isUntrusted(last.sealed, now));
    if (!isClockChange && !isDue(last, millis)) return;
    // If the clocks of the instances merely differ, a pass must not get an earlier time than the last seal.
    const at = last && last.sealed > now && !isClockChange ? last.sealed : now;
    const limit = isClockChange ? MIN_ID : computeLimit(millis);
    const pass = { at, millis, limit, isLateCovered: false, isClockChange };
    await this.leases.runUnderLease(LEASE, LEASE_SECONDS, async () => {
      while (!this.ending && (await this.sealNext(pass)));
    });
  }

  async findLastSealTime(): Promise<DbTime | null> {
    return (await this.repository.findLast())?.sealed ?? null;
  }

  /**
   * Returns the newest seal whose events may be deleted, if any. A later seal records its number first, so that the
   * deletion does not look like tampering.
   */
  async findPurgeableSeal(): Promise<Seal | undefined> {
    if (this.env.AUDIT_RETENTION_DAYS === undefined) return undefined;
    await this.sealEndedHours();
    return this.repository.find((await this.repository.findLast())?.purged ?? 0);
  }

  /** Deletes the members and late entries of a seal and of all earlier seals. Call it after their events are deleted. */
  async cleanUpPurgedSeals({ number, until_id }: Seal): Promise<void> {
    await this.repository.deleteLateEntries(number, until_id);
    await this.repository.clearMembers(number);
  }

  /**
   * Creates the next seal.
   * @returns false if all events up to the limit are sealed, or if another instance was faster.
   */
  private async sealNext(pass: SealingPass): Promise<boolean> {
    const last = await this.repository.findLast();
    const from = last?.until_id ?? MIN_ID;
    const outside = pass.isLateCovered ? NOTHING_OUTSIDE : await this.findEventsOutsideRanges(last, pass);
    const { late } = outside;
    pass.isLateCovered = late.length < MAX_LATE;
    if (from >= pass.limit && late.length === 0 && !pass.isClockChange && !isDue(last, pass.millis))
      return false;
    pass.isClockChange = false;
    const isRange = pass.isLateCovered && from < pass.limit;
    const range = isRange ? await this.readRange(from, pass.limit) : createEmptyRange(from);
    const lateHash = new RowsHash();
    late.sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const entry of late) lateHash.addLateEvent(entry);
    for (const { id, action } of outside.missed) range.counts.add(id, action);
    const facts: SealFacts = {
      number: (last?.number ?? 0) + 1,
      sealed: pass.at,
      until_id: range.until,
      row_count: range.rows.count,
      rows_hash: range.rows.digest(),
      late_count: late.length,
      late_hash: lateHash.digest(),
      purged: await this.findPurgeableSealNumber(last, pass.millis),
      key_id: this.keys.current,
      members_hash: sha256(range.members.text),
    };
    const hash = this.keys.computeHash(facts, (last ?? NO_SEAL).hash);
    const seal = { ...facts, hash, members: range.members.text };
    const entries = late.map(({ id, row_hash }) => ({ id, row_hash, seal: facts.number }));
    try {
      const counts = range.counts.toRows(facts.number);
      await this.transactions.run((tx) => this.repository.insert(tx, seal, entries, counts));
    } catch (error) {
      if (error instanceof DatabaseError && error.fault === 'duplicate') return false;
      throw error;
    }
    this.log.info('audit sealed', { seal: seal.number, rows: range.rows.count, late: late.length, hash });
    return true;
  }

  /** Finds events with ids outside the range of the next seal: late events (`missed`) and events with a future time. */
  private async findEventsOutsideRanges(last: Seal | undefined, { at }: SealingPass) {
    const missed = last ? await this.findLateEvents(last, at, MAX_LATE) : [];
    const future = await this.findFutureEvents(at, MAX_LATE - missed.length);
    return { missed, late: [...missed, ...future] };
  }

  /** Reads the events of the next range to seal. Events with an invalid id are skipped, so no seal covers them. */
  private async readRange(from: string, limit: string): Promise<RowRange> {
    const range = { ...createEmptyRange(from), until: await this.findRangeEnd(from, limit) };
    const known = await this.repository.findLateIds(from, range.until);
    for await (const { row, hasId } of this.repository.readEvents(from, range.until)) {
      if (!hasId || !isEventId(row.id) || known.has(row.id)) continue;
      if (range.rows.count === MAX_ROWS) return { ...range, until: row.id };
      range.rows.add(row);
      range.members.add(row.id);
      range.counts.add(row.id, row.action);
    }
    return range;
  }

  private async findRangeEnd(from: string, limit: string): Promise<string> {
    for await (const { row } of this.repository.readEvents(from, limit)) {
      if (!isEventId(row.id)) continue;
      const millis = millisOf(row.id);
      const end = toFirstId(millis - (millis % HOUR_MILLIS) + HOUR_MILLIS);
      return end < limit ? end : limit;
    }
    return limit;
  }

  /**
   * Finds late events: unsealed events in sealed ranges. Skips events that were already too old to be late at the
   * previous pass.
   */
  private async findLateEvents(last: Seal, passTime: DbTime, limit: number): Promise<LateRow[]> {
    // Skip the seals of the current pass to find the last seal of the previous pass.
    let previous: Seal | undefined = last;
    while (previous?.sealed === passTime) previous = await this.repository.find(previous.number - 1);
    if (!previous) return [];
    const begin = findFirstLateId(previous.sealed, passTime);
    const future = findFirstFutureId(passTime);
    const end = last.until_id < future ? last.until_id : future;
    if (begin >= end) return [];
    return this.findUnsealedEvents(begin, end, limit);
  }

  /**
   * Finds events with a future time, which the service can only have written before the clock was set back. They are
   * recorded now, because they will look valid later.
   */
  private async findFutureEvents(passTime: DbTime, limit: number): Promise<LateRow[]> {
    return this.findUnsealedEvents(findFirstFutureId(passTime), undefined, limit);
  }

  private async findUnsealedEvents(
    from: string,
    until: string | undefined,
    limit: number,
  ): Promise<LateRow[]> {
    const isSealed = await this.createSealedTest(from);
    const known = await this.repository.findLateIds(from, until);
    const found: LateRow[] = [];
    for await (const { row, hasId } of this.repository.readEvents(from, until)) {
      if (found.length >= limit) break;
      if (!hasId || !isEventId(row.id) || known.has(row.id) || isSealed(row.id)) continue;
      found.push({ id: row.id, row_hash: hashRow(row), action: row.action });
    }
    return found;
  }

  /**
   * Creates a function that returns true if a seal covers an event id. Call that function with ids in ascending order.
   * The first one must be `id` or greater.
   */
  private async createSealedTest(id: string): Promise<(id: string) => boolean> {
    const ranges: { until: string; members: string }[] = [];
    const before = (await this.repository.findLastNumberBefore(id)) ?? 0;
    for await (const { seal } of this.repository.readAll(before)) {
      const members = (await this.repository.findMemberText(seal.number)) ?? '';
      ranges.push({ until: seal.until_id, members });
    }
    let range = ranges.shift();
    let isMember = Members.createMemberTest(range?.members ?? '');
    return (id) => {
      while (range && id >= range.until) {
        range = ranges.shift();
        isMember = Members.createMemberTest(range?.members ?? '');
      }
      return isMember(id);
    };
  }

  /**
   * Returns the number of the newest seal that contains only events older than AUDIT_RETENTION_DAYS. Returns 0 if there
   * is no such seal. The start of an import is kept as long as the events of the import, because it says who is
   * responsible for them.
   */
  private async findPurgeableSealNumber(last: Seal | undefined, millis: number): Promise<number> {
    const before = last?.purged ?? 0;
    const days = this.env.AUDIT_RETENTION_DAYS;
    if (days === undefined) return before;
    const oldest = toFirstId(millis - days * DAY_MILLIS);
    const future = findFirstFutureId(toDbTime(new Date(millis)));
    const start = await this.repository.findFirstStart(oldest, future);
    return Math.max(before, (await this.repository.findLastNumberBefore(start ?? oldest)) ?? 0);
  }
}

const computeLimit = (millis: number): string =>
  toFirstId(Math.floor((millis - GRACE_MILLIS) / HOUR_MILLIS) * HOUR_MILLIS);

/**
 * Returns true if an hour has ended since the last seal. After the clock was set back, the last seal may end in the
 * future. After the clock was set ahead, waits until the transactions that began before have ended.
 */
function isDue(last: Seal | undefined, millis: number): boolean {
  if (!last) return true;
  const passLimit = computeLimit(toMillis(last.sealed));
  if (last.until_id < passLimit) return toMillis(last.sealed) + GRACE_MILLIS <= millis;
  return passLimit < computeLimit(millis);
}

type RowRange = ReturnType<typeof createEmptyRange>;

function createEmptyRange(until: string) {
  return { until, rows: new RowsHash(), members: new Members(), counts: new HourCounts() };
}
const NOTHING_OUTSIDE = { missed: [], late: [] };
