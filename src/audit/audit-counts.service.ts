import { HOUR_MILLIS } from '../platform/common/time.js';
import { Injectable } from '@nestjs/common';
import { getOrCreate } from '../platform/common/maps.js';
import { millisOf } from '../platform/common/uuid.js';
import { AuditCountsRepository, type ActionCount } from './audit-counts.repository.js';
import { ACTIONS, type AuditAction, MIN_ID, MAX_ID, toFirstId } from './audit-event.js';
import { AuditSealRepository } from './audit-seal.repository.js';
import type { AuditCountEntity } from './audit.entity.js';

/** Maximum period that a client can request, in days. Older counts are deleted. */
export const MAX_DAYS = 90;
/** Period after which stored counts are deleted. Two extra days cover the differences between time zones. */
const RETENTION_MILLIS = (MAX_DAYS + 2) * 24 * HOUR_MILLIS;
/** Maximum number of events to count per action and query. */
const MAX_COUNTED = 10_000;
/** Maximum number of unsealed hours to count. There is usually one, but there can be more after a downtime. */
const MAX_UNSEALED_HOURS = 6;

export interface DailyCounts {
  /** Number of events per action and day. Only the day of `hour` is meaningful. */
  counts: ActionCount[];
  /** Ranges of hours in which not all events were counted. `from` is inclusive, `until` is exclusive. */
  gaps: { from: number; until: number }[];
}

/**
 * Counts audit events by action (ADR 28). Counts of sealed events are stored with the seal. Unsealed events, usually
 * from the last hour, are counted on each request.
 */
@Injectable()
export class AuditCounts {
  constructor(
    private readonly repository: AuditCountsRepository,
    private readonly seals: AuditSealRepository,
  ) {}

  /**
   * Counts events by action and day, starting at the hour `from`, which is at most `MAX_DAYS` ago.
   * @param offset UTC offset of the days, in hours.
   */
  async countByDay(actions: readonly AuditAction[], from: number, offset: number): Promise<DailyCounts> {
    const last = await this.seals.findLast();
    const end = last?.until_id ?? (await this.repository.findFirstId());
    const firstNew = end === undefined ? Infinity : hourOf(millisOf(end));
    const tail = await this.countUnsealedEvents(actions, Math.max(from, firstNew), end);
    if (!last) return tail;
    const after = (await this.seals.findLastNumberBefore(toFirstIdOfHour(from))) ?? 0;
    const range = { after, last: last.number };
    const counts = await this.repository.countByDay(range, from, offset, actions);
    return { counts: [...counts, ...tail.counts], gaps: tail.gaps };
  }

  /**
   * Counts the events of an action since the time `millis`. If `exact` is false, there are more events than `count`.
   */
  async countSince(action: AuditAction, millis: number): Promise<{ count: number; exact: boolean }> {
    const range = { low: toFirstId(millis), high: MAX_ID };
    const [counted] = await this.repository.count([action], range, MAX_COUNTED + 1);
    const count = counted?.value ?? 0;
    return { count: Math.min(count, MAX_COUNTED), exact: count <= MAX_COUNTED };
  }

  /** Deletes stored counts that are too old for any client to request. */
  async purge(): Promise<void> {
    const seal = await this.seals.findLastNumberBefore(toFirstId(Date.now() - RETENTION_MILLIS));
    if (seal !== undefined) await this.repository.deleteUntil(seal);
  }

  private async countUnsealedEvents(
    actions: readonly AuditAction[],
    from: number,
    firstId = MIN_ID,
  ): Promise<DailyCounts> {
    const now = hourOf(Date.now());
    const first = Math.max(from, now - MAX_UNSEALED_HOURS + 1);
    const tail: DailyCounts = { counts: [], gaps: first > from ? [{ from, until: first }] : [] };
    for (let hour = first; hour <= now; hour++) {
      const begin = toFirstIdOfHour(hour);
      const range = { low: firstId > begin ? firstId : begin, high: toFirstIdOfHour(hour + 1) };
      for (const { action, value } of await this.repository.count(actions, range, MAX_COUNTED + 1)) {
        tail.counts.push({ hour, action, value: Math.min(value, MAX_COUNTED) });
        if (value > MAX_COUNTED) tail.gaps.push({ from: hour, until: hour + 1 });
      }
    }
    return tail;
  }
}

const KNOWN_ACTIONS: ReadonlySet<string> = new Set(ACTIONS);

const hourOf = (millis: number): number => Math.floor(millis / HOUR_MILLIS);
const toFirstIdOfHour = (hour: number): string => toFirstId(hour * HOUR_MILLIS);

/** Counts events by action and hour. Unknown actions are ignored. */
export class HourCounts {
  private readonly counts = new Map<string, Omit<AuditCountEntity, 'seal'>>();

  add(id: string, action: string): void {
    if (!KNOWN_ACTIONS.has(action)) return;
    const hour = hourOf(millisOf(id));
    getOrCreate(this.counts, `${hour} ${action}`, () => ({ hour, action, value: 0 })).value++;
  }

  toRows(seal: number): AuditCountEntity[] {
    return [...this.counts.values()].map((count) => ({ seal, ...count }));
  }
}
