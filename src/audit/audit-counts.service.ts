import { Injectable } from '@nestjs/common';
import { millisOf } from '../platform/common/uuid.js';
import { AuditCountsRepository, type CountedAction } from './audit-counts.repository.js';
import { ACTIONS, type AuditAction, BEFORE_ALL, BEHIND_ALL, firstId } from './audit-event.js';
import { AuditSealRepository } from './audit-seal.repository.js';
import type { AuditCountEntity } from './audit.entity.js';

/** Longest period that a client can request, in days. Older counts are deleted. */
export const MAX_DAYS = 90;
/** Retention of counts. Two extra days cover the differences between time zones. */
const KEPT_MILLIS = (MAX_DAYS + 2) * 24 * 3_600_000;
/** Maximum number of unsealed events counted per action and query. */
const MOST = 10_000;
/** Maximum number of unsealed hours to count. There is usually one, and more only after a downtime. */
const MOST_HOURS = 6;

/** Hours with an incomplete count. `from` is inclusive, `until` is exclusive. */
interface Gap {
  from: number;
  until: number;
}

/** Number of audit events by action and day. */
export interface CountedDays {
  /** Counts of actions. The `hour` of each entry lies within its day. */
  counts: CountedAction[];
  gaps: Gap[];
}

/**
 * Counts audit events by action (ADR 28). Sealed events were counted when the seal was created. Events of about the last
 * hour are counted in an index.
 */
@Injectable()
export class AuditCounts {
  constructor(
    private readonly repository: AuditCountsRepository,
    private readonly seals: AuditSealRepository,
  ) {}

  /**
   * Counts events by action and day, starting at the hour `from`, which is at most `MAX_DAYS` ago.
   * @param offset hours by which days start before midnight UTC.
   */
  async byDay(actions: readonly AuditAction[], from: number, offset: number): Promise<CountedDays> {
    const last = await this.seals.last();
    const end = last?.until_id ?? (await this.repository.firstId());
    const tail = await this.countNew(
      actions,
      Math.max(from, end === undefined ? Infinity : hourOf(millisOf(end))),
      end,
    );
    if (!last) return tail;
    const range = { after: (await this.seals.lastUntil(firstIdOf(from))) ?? 0, last: last.number };
    const counts = await this.repository.byDay(range, from, offset, actions);
    return { counts: [...counts, ...tail.counts], gaps: tail.gaps };
  }

  /** Counts the events of an action since a time in milliseconds. If the count is not exact, it is a lower bound. */
  async since(action: AuditAction, millis: number): Promise<{ count: number; exact: boolean }> {
    const range = { low: firstId(millis), high: BEHIND_ALL };
    const [counted] = await this.repository.count([action], range, MOST + 1);
    const count = counted?.value ?? 0;
    return { count: Math.min(count, MOST), exact: count <= MOST };
  }

  /** Deletes counts that are too old for any request. */
  async purge(): Promise<void> {
    const seal = await this.seals.lastUntil(firstId(Date.now() - KEPT_MILLIS));
    if (seal !== undefined) await this.repository.deleteUntil(seal);
  }

  /** Counts events that no seal covers yet, hour by hour, from the hour `from` and the id `id` on. */
  private async countNew(
    actions: readonly AuditAction[],
    from: number,
    id = BEFORE_ALL,
  ): Promise<CountedDays> {
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
}

const HOUR_MILLIS = 3_600_000;
const KNOWN: ReadonlySet<string> = new Set(ACTIONS);

/** Returns the number of an hour, counted from 1970 (UTC). */
const hourOf = (millis: number): number => Math.floor(millis / HOUR_MILLIS);
/** Returns the smallest possible event id of an hour. */
const firstIdOf = (hour: number): string => firstId(hour * HOUR_MILLIS);

/** Counts events by action and hour. Unknown actions are ignored. */
export class HourCounts {
  private readonly hours = new Map<number, Map<string, number>>();

  add(id: string, action: string): void {
    if (!KNOWN.has(action)) return;
    const hour = hourOf(millisOf(id));
    const actions = this.hours.get(hour) ?? new Map<string, number>();
    this.hours.set(hour, actions.set(action, (actions.get(action) ?? 0) + 1));
  }

  /** Returns the counts as rows of the seal with this number. */
  rows(seal: number): AuditCountEntity[] {
    return [...this.hours].flatMap(([hour, actions]) =>
      [...actions].map(([action, value]) => ({ seal, hour, action, value })),
    );
  }
}
