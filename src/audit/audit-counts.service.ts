import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { toMillis } from '../platform/common/time.js';
import { DatabaseFault } from '../platform/database/engine/database-fault.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { AuditCountsRepository } from './audit-counts.repository.js';
import type { AuditAction } from './audit-event.js';
import { AuditSealRepository, type KnownSeal } from './audit-seal.repository.js';
import { BEFORE_ALL, BEHIND_ALL, firstId, millisOf } from './event-id.js';
import { type CountedAction, HourCounts, firstIdOf, hourOf, millisOfHour } from './hour-counts.js';
import { LateEventsRepository } from './late-events.repository.js';
import { LATE_MILLIS } from './seal.js';

/** The longest time that can be asked for; counts of before are deleted. */
export const MAX_DAYS = 90;
/** With some hours for days that begin elsewhere at another time. */
const KEPT_MILLIS = (MAX_DAYS + 2) * 24 * 3_600_000;
/** Rows that are counted one by one: of an action and an hour that is not sealed yet, or of a day. */
const MOST = 10_000;
/** Hours that are not sealed: one and a few minutes, or more where no instance was there to seal them. */
const MOST_HOURS = 6;
/** How long earlier seals are counted before the next look. */
const FILL_MILLIS = 5000;

/** Hours from `from` on, `until` not included, of which not all rows are counted. */
interface Gap {
  from: number;
  until: number;
}

/** How often actions were recorded, by day. */
export interface CountedDays {
  /** Each with an hour of its day. */
  counts: CountedAction[];
  gaps: Gap[];
}

/**
 * How often each action was recorded (ADR 28). Rows that a seal covers were counted when it was made; the rows of about
 * the last hour are counted in an index.
 */
@Injectable()
export class AuditCounts {
  constructor(
    private readonly repository: AuditCountsRepository,
    private readonly seals: AuditSealRepository,
    private readonly late: LateEventsRepository,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * How often actions were recorded from an hour on, at most `MAX_DAYS` ago.
   * @param offset hours by which days begin before midnight UTC.
   */
  async byDay(actions: readonly AuditAction[], from: number, offset: number): Promise<CountedDays> {
    const last = await this.seals.last();
    const end = last?.until_id ?? (await this.repository.firstId());
    const tail = await this.tail(
      actions,
      Math.max(from, end === undefined ? Infinity : hourOf(millisOf(end))),
      end,
    );
    if (!last) return tail;
    const range = { behind: (await this.seals.lastUntil(firstIdOf(from))) ?? 0, last: last.number };
    const counts = await this.repository.byDay(range, from, offset, actions);
    const uncounted = await this.repository.newestUncounted(range);
    const known = uncounted === undefined ? from : await this.endOf(uncounted);
    return {
      counts: [...counts, ...tail.counts],
      gaps: [...(known > from ? [{ from, until: known }] : []), ...tail.gaps],
    };
  }

  /** How often an action was recorded since a moment; where that is not exact, at least as often. */
  async since(action: AuditAction, millis: number): Promise<{ count: number; exact: boolean }> {
    const range = { low: firstId(millis), high: BEHIND_ALL };
    const [counted] = await this.repository.count([action], range, MOST + 1);
    const count = counted?.value ?? 0;
    return { count: Math.min(count, MOST), exact: count <= MOST };
  }

  /**
   * Counts what seals cover that an earlier version has made, newest first, for some seconds. The newest seal is left out: the
   * next one says which rows of its hour came late. To be called by who makes the seals.
   */
  async fillIn(isEnding: () => boolean): Promise<void> {
    const end = Date.now() + FILL_MILLIS;
    while (!isEnding() && Date.now() < end) {
      const seal = await this.nextToFillIn();
      if (!seal) return;
      await this.countAgain(seal);
      await setImmediate();
    }
  }

  /** The newest seal that is to be counted, as far as its rows are there. */
  async nextToFillIn(): Promise<KnownSeal | undefined> {
    const last = await this.seals.last();
    if (!last) return undefined;
    const oldest = (await this.seals.lastUntil(firstId(Date.now() - KEPT_MILLIS))) ?? 0;
    const range = { behind: Math.max(oldest, last.purged), last: last.number - 1 };
    const number = await this.repository.newestUncounted(range);
    return number === undefined ? undefined : this.seals.find(number);
  }

  /** Deletes what is older than anybody can ask for. */
  async purge(): Promise<void> {
    const seal = await this.seals.lastUntil(firstId(Date.now() - KEPT_MILLIS));
    if (seal !== undefined) await this.repository.deleteUntil(seal);
  }

  private async countAgain(seal: KnownSeal): Promise<void> {
    const counts = new HourCounts();
    const before = await this.seals.find(seal.number - 1);
    // The range of a seal is within an hour, or begins with hours without a row.
    const range = { low: before?.until_id ?? BEFORE_ALL, high: seal.until_id };
    const id = firstId(millisOf(seal.until_id) - 1);
    for (const { action, value } of await this.repository.countSealed(range)) counts.add(id, action, value);
    const ahead = firstId(toMillis(seal.sealed) + LATE_MILLIS + 1);
    for await (const { entry, row } of this.late.of(seal.number)) {
      if (row && entry.id < ahead) counts.add(entry.id, row.action);
    }
    try {
      await this.transactions.run((tx) => this.repository.insert(tx, counts.rows(seal.number)));
    } catch (error) {
      if (!(error instanceof DatabaseFault && error.fault === 'duplicate')) throw error;
    }
  }

  /** The rows from an id on, hour by hour. */
  private async tail(actions: readonly AuditAction[], from: number, id = BEFORE_ALL): Promise<CountedDays> {
    const now = hourOf(Date.now());
    const first = Math.max(from, now - MOST_HOURS + 1);
    const tail: CountedDays = { counts: [], gaps: first > from ? [{ from, until: first }] : [] };
    for (let hour = first; hour <= now; hour++) {
      const begin = firstIdOf(hour);
      const range = { low: id > begin ? id : begin, high: firstIdOf(hour + 1) };
      for (const { action, value } of await this.repository.count(actions, range, MOST + 1)) {
        tail.counts.push({ hour, action, value: Math.min(value, MOST) });
        if (value > MOST) tail.gaps.push({ from: hour, until: hour + 1 });
      }
    }
    return tail;
  }

  /** The hour in which the range of a seal ends, or the next one where that hour is not over. */
  private async endOf(number: number): Promise<number> {
    const seal = await this.seals.find(number);
    const millis = millisOf(seal?.until_id ?? BEHIND_ALL);
    return hourOf(millis) + Number(millis > millisOfHour(hourOf(millis)));
  }
}
