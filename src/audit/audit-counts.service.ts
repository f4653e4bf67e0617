import { Injectable } from '@nestjs/common';
import { millisOf } from '../platform/common/uuid.js';
import { AuditCountsRepository, type CountedAction } from './audit-counts.repository.js';
import { ACTIONS, type AuditAction, BEFORE_ALL, BEHIND_ALL, firstId } from './audit-event.js';
import { AuditSealRepository } from './audit-seal.repository.js';
import type { AuditCountEntity } from './audit.entity.js';

/** The longest time that can be asked for; counts of before are deleted. */
export const MAX_DAYS = 90;
/** With some hours for days that begin elsewhere at another time. */
const KEPT_MILLIS = (MAX_DAYS + 2) * 24 * 3_600_000;
/** Rows that are counted one by one: of an action and an hour that is not sealed yet, or of a day. */
const MOST = 10_000;
/** Hours that are not sealed: one and a few minutes, or more where no instance was there to seal them. */
const MOST_HOURS = 6;

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
    return { counts: [...counts, ...tail.counts], gaps: tail.gaps };
  }

  /** How often an action was recorded since a moment; where that is not exact, at least as often. */
  async since(action: AuditAction, millis: number): Promise<{ count: number; exact: boolean }> {
    const range = { low: firstId(millis), high: BEHIND_ALL };
    const [counted] = await this.repository.count([action], range, MOST + 1);
    const count = counted?.value ?? 0;
    return { count: Math.min(count, MOST), exact: count <= MOST };
  }

  /** Deletes what is older than anybody can ask for. */
  async purge(): Promise<void> {
    const seal = await this.seals.lastUntil(firstId(Date.now() - KEPT_MILLIS));
    if (seal !== undefined) await this.repository.deleteUntil(seal);
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
}

const HOUR_MILLIS = 3_600_000;
const KNOWN: ReadonlySet<string> = new Set(ACTIONS);

/** Hours are numbered from 1970 (UTC). */
const hourOf = (millis: number): number => Math.floor(millis / HOUR_MILLIS);
/** The smallest id of an hour. */
const firstIdOf = (hour: number): string => firstId(hour * HOUR_MILLIS);

/** Counts rows by action and hour. An action that the service does not have is left out. */
export class HourCounts {
  private readonly hours = new Map<number, Map<string, number>>();

  add(id: string, action: string): void {
    if (!KNOWN.has(action)) return;
    const hour = hourOf(millisOf(id));
    const actions = this.hours.get(hour) ?? new Map<string, number>();
    this.hours.set(hour, actions.set(action, (actions.get(action) ?? 0) + 1));
  }

  /** The rows of a seal. */
  rows(seal: number): AuditCountEntity[] {
    return [...this.hours].flatMap(([hour, actions]) =>
      [...actions].map(([action, value]) => ({ seal, hour, action, value })),
    );
  }
}
