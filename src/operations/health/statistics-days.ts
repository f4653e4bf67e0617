import type { CountedDays } from '../../audit/audit-counts.service.js';
import type { AuditAction } from '../../audit/audit-event.js';

const HOURS = 24;
const HOUR_MILLIS = 3_600_000;

/** What is listed of each day, and the action that it counts. */
export const DAILY = {
  created: 'user.created',
  updated: 'user.updated',
  blocked: 'user.blocked',
  reactivated: 'user.reactivated',
  deleted: 'user.deleted',
  restored: 'user.restored',
  logins: 'session.created',
  failed_logins: 'session.login_failed',
  imports_completed: 'import.completed',
  imports_failed: 'import.failed',
  imports_rejected: 'import.rejected',
  imports_superseded: 'import.superseded',
} as const satisfies Record<string, AuditAction>;

type DailyName = keyof typeof DAILY;
const DAILY_NAMES = Object.keys(DAILY).filter((name): name is DailyName => name in DAILY);
export const DAILY_ACTIONS: readonly AuditAction[] = Object.values(DAILY);

export interface Day extends Record<DailyName, number> {
  /** `YYYY-MM-DD`. */
  day: string;
  /** Whether all of it is counted, as far as it is over. */
  complete: boolean;
}

/** The hour, from 1970 on, in which the first of the last `days` days begins. @param offset hours east of UTC. */
export function firstHour(millis: number, days: number, offset: number): number {
  const local = Math.floor(millis / HOUR_MILLIS) + offset;
  return local - (local % HOURS) - (days - 1) * HOURS - offset;
}

/** The days from an hour on, oldest first. */
export function toDays(from: number, days: number, offset: number, { counts, gaps }: CountedDays): Day[] {
  const listed = Array.from({ length: days }, (_, index) => {
    const begin = from + index * HOURS;
    const complete = !gaps.some((gap) => gap.from < begin + HOURS && gap.until > begin);
    const day = new Date((begin + offset) * HOUR_MILLIS).toISOString().slice(0, 10);
    return { day, complete, ...noNumbers() };
  });
  const names = new Map<AuditAction, DailyName>(DAILY_NAMES.map((name) => [DAILY[name], name]));
  for (const { hour, action, value } of counts) {
    const day = listed[Math.floor((hour - from) / HOURS)];
    const name = names.get(action);
    if (day && name) day[name] += value;
  }
  return listed;
}

function noNumbers(): Record<DailyName, number> {
  return {
    created: 0,
    updated: 0,
    blocked: 0,
    reactivated: 0,
    deleted: 0,
    restored: 0,
    logins: 0,
    failed_logins: 0,
    imports_completed: 0,
    imports_failed: 0,
    imports_rejected: 0,
    imports_superseded: 0,
  };
}
