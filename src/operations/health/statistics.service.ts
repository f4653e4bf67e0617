import { Injectable } from '@nestjs/common';
import { AuditCounts, type CountedDays } from '../../audit/audit-counts.service.js';
import type { AuditAction } from '../../audit/audit-event.js';
import { type ApiKey, ApiKeysService } from '../../api-keys/api-keys.service.js';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { ImportsService } from '../../import/imports.service.js';
import { type DatasetSummary, ImportSummary } from '../../import/report/import-summary.service.js';
import { UserCounts } from '../../users/writer/user-counts.service.js';

const DAY_SECONDS = 24 * 60 * 60;
const EXPIRY_DAYS = 30;
/** Keys that are listed, of those that expire soon. */
export const MAX_EXPIRING = 100;

const HOURS = 24;
const HOUR_MILLIS = 3_600_000;

/** What is listed of each day, and the action that it counts. */
const DAILY = {
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
const NONE = Object.fromEntries(DAILY_NAMES.map((name) => [name, 0])) as Record<DailyName, number>;
const DAILY_ACTIONS: readonly AuditAction[] = Object.values(DAILY);

export interface Day extends Record<DailyName, number> {
  /** `YYYY-MM-DD`. */
  day: string;
  /** Whether all of it is counted, as far as it is over. */
  complete: boolean;
}

/** Whether all is well. Each part costs the same however many users, runs and events there are (interface §9). */
export interface Statistics {
  /** When it was looked up, in milliseconds since 1970. */
  millis: number;
  users: { active: number; blocked: number };
  imports: {
    /** undefined without IMPORT_OVERDUE_HOURS. */
    overdue: boolean | undefined;
    open: { needs_approval: number; planned: number; running: number };
    datasets: DatasetSummary[];
  };
  keys: { expiring: ApiKey[]; fusesBlown: number };
  failedLogins: { count: number; exact: boolean };
  days: Day[];
}

@Injectable()
export class StatisticsService {
  constructor(
    private readonly users: UserCounts,
    private readonly imports: ImportsService,
    private readonly summary: ImportSummary,
    private readonly keys: ApiKeysService,
    private readonly fuse: KeyFuse,
    private readonly counts: AuditCounts,
  ) {}

  /** @param days with today. @param offset hours east of UTC by which days begin. */
  async read(days: number, offset: number): Promise<Statistics> {
    const millis = Date.now();
    const { matching: active, all } = await this.users.users(['Active']);
    const from = firstHour(millis, days, offset);
    return {
      millis,
      users: { active, blocked: all - active },
      imports: {
        overdue: await this.imports.isOverdue(),
        open: await this.summary.open(),
        datasets: await this.summary.datasets(),
      },
      keys: {
        expiring: await this.keys.expiring(EXPIRY_DAYS * DAY_SECONDS, MAX_EXPIRING),
        fusesBlown: await this.fuse.countBlown(),
      },
      failedLogins: await this.counts.since(DAILY.failed_logins, millis - DAY_SECONDS * 1000),
      days: toDays(from, days, offset, await this.counts.byDay(DAILY_ACTIONS, from, offset)),
    };
  }
}

/** The hour, from 1970 on, in which the first of the last `days` days begins. @param offset hours east of UTC. */
function firstHour(millis: number, days: number, offset: number): number {
  const local = Math.floor(millis / HOUR_MILLIS) + offset;
  return local - (local % HOURS) - (days - 1) * HOURS - offset;
}

/** The days from an hour on, oldest first. */
function toDays(from: number, days: number, offset: number, { counts, gaps }: CountedDays): Day[] {
  const listed = Array.from({ length: days }, (_, index) => {
    const begin = from + index * HOURS;
    const complete = !gaps.some((gap) => gap.from < begin + HOURS && gap.until > begin);
    const day = new Date((begin + offset) * HOUR_MILLIS).toISOString().slice(0, 10);
    return { day, complete, ...NONE };
  });
  const names = new Map<AuditAction, DailyName>(DAILY_NAMES.map((name) => [DAILY[name], name]));
  for (const { hour, action, value } of counts) {
    const day = listed[Math.floor((hour - from) / HOURS)];
    const name = names.get(action);
    if (day && name) day[name] += value;
  }
  return listed;
}
