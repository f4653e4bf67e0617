import type { AuditCountEntity } from './audit-count.entity.js';
import { ACTIONS, type AuditAction } from './audit-event.js';
import { firstId, millisOf } from './event-id.js';

const HOUR_MILLIS = 3_600_000;
const KNOWN: ReadonlySet<string> = new Set(ACTIONS);

/** Hours are numbered from 1970 (UTC). */
export const hourOf = (millis: number): number => Math.floor(millis / HOUR_MILLIS);
/** The smallest id of an hour. */
export const firstIdOf = (hour: number): string => firstId(hour * HOUR_MILLIS);

/** Counts rows by action and hour. An action that the service does not have is left out. */
export class HourCounts {
  private readonly hours = new Map<number, Map<string, number>>();

  /** @param id of the row, or of any one of its hour. */
  add(id: string, action: string, value = 1): void {
    if (!KNOWN.has(action)) return;
    const hour = hourOf(millisOf(id));
    const actions = this.hours.get(hour) ?? new Map<string, number>();
    this.hours.set(hour, actions.set(action, (actions.get(action) ?? 0) + value));
  }

  /** The rows of a seal. */
  rows(seal: number): AuditCountEntity[] {
    return [...this.hours].flatMap(([hour, actions]) =>
      [...actions].map(([action, value]) => ({ seal, hour, action, value })),
    );
  }
}

/** How often an action was recorded in the hours from `hour` on. */
export interface CountedAction {
  hour: number;
  action: AuditAction;
  value: number;
}
