import { Injectable } from '@nestjs/common';
import { AuditCounts, type DailyCounts } from '../../audit/audit-counts.service.js';
import type { AuditAction } from '../../audit/audit-event.js';
import { ApiKeysService } from '../../api-keys/api-keys.service.js';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { presentSummary } from '../../import/import.view.js';
import { ImportSummary } from '../../import/report/import-summary.service.js';
import { DAY_SECONDS, HOUR_MILLIS, toIso } from '../../platform/common/time.js';
import { UserCounts } from '../../users/writer/user-counts.service.js';
import { DayDto, MAX_EXPIRING, type StatisticsDto } from './statistics.view.js';

const EXPIRY_DAYS = 30;
const HOURS = 24;

/** Maps audit actions to the daily numbers of the statistics that count their events. */
const DAILY: ReadonlyMap<AuditAction, Exclude<keyof DayDto, 'day' | 'complete'>> = new Map([
  ['user.created', 'created'],
  ['user.updated', 'updated'],
  ['user.blocked', 'blocked'],
  ['user.reactivated', 'reactivated'],
  ['user.deleted', 'deleted'],
  ['user.restored', 'restored'],
  ['session.created', 'logins'],
  ['session.login_failed', 'failed_logins'],
  ['import.completed', 'imports_completed'],
  ['import.failed', 'imports_failed'],
  ['import.rejected', 'imports_rejected'],
  ['import.superseded', 'imports_superseded'],
]);

@Injectable()
export class StatisticsService {
  constructor(
    private readonly users: UserCounts,
    private readonly summary: ImportSummary,
    private readonly keys: ApiKeysService,
    private readonly fuse: KeyFuse,
    private readonly counts: AuditCounts,
  ) {}

  /**
   * Reads the statistics. The cost does not depend on the number of users and events (interface §9).
   * @param days number of days, including today.
   * @param offset UTC offset of the days, in hours.
   */
  async read(days: number, offset: number): Promise<StatisticsDto> {
    const millis = Date.now();
    const { matching: active, all } = await this.users.countUsers(['Active']);
    const from = computeFirstHour(millis, days, offset);
    const { isOverdue: overdue, missingParts = [] } = (await this.summary.readOverdue()) ?? {};
    const open = await this.summary.countOpenRuns();
    const datasets = await this.summary.listDatasets();
    const expiring = await this.keys.listExpiring(EXPIRY_DAYS * DAY_SECONDS, MAX_EXPIRING);
    const fusesBlown = (await this.fuse.findBlownKeys()).size;
    const failed = await this.counts.countSince('session.login_failed', millis - DAY_SECONDS * 1000);
    return {
      time: new Date(millis).toISOString(),
      users: { active, blocked: all - active },
      imports: {
        ...(overdue !== undefined && { overdue }),
        ...(missingParts.length > 0 && { missing_parts: missingParts }),
        ...open,
        datasets: datasets.map(({ dataset, last_run, last_completed }) => ({
          dataset,
          last_run: presentSummary(last_run),
          ...(last_completed && { last_completed: presentSummary(last_completed) }),
        })),
      },
      api_keys: {
        expiring: expiring.map(({ id, name, expires }) => ({ id, name, expires: toIso(expires ?? '') })),
        fuses_blown: fusesBlown,
      },
      failed_logins: { last_24_hours: failed.count, exact: failed.exact },
      days: toDays(from, days, offset, await this.counts.countByDay([...DAILY.keys()], from, offset)),
    };
  }
}

/**
 * Computes the start of a period of `days` days that ends today, in hours since 1970 (UTC).
 * @param offset UTC offset of the days, in hours.
 */
function computeFirstHour(millis: number, days: number, offset: number): number {
  const local = Math.floor(millis / HOUR_MILLIS) + offset;
  return local - (local % HOURS) - (days - 1) * HOURS - offset;
}

/**
 * Creates one entry per day, oldest day first.
 * @param firstHour start of the first day, in hours since 1970 (UTC).
 */
function toDays(firstHour: number, days: number, offset: number, { counts, gaps }: DailyCounts): DayDto[] {
  const listed = Array.from({ length: days }, (_, index) => {
    const begin = firstHour + index * HOURS;
    const complete = !gaps.some((gap) => gap.from < begin + HOURS && gap.until > begin);
    const day = new Date((begin + offset) * HOUR_MILLIS).toISOString().slice(0, 10);
    return Object.assign(new DayDto(), { day, complete });
  });
  for (const { hour, action, value } of counts) {
    const day = listed[Math.floor((hour - firstHour) / HOURS)];
    const name = DAILY.get(action);
    if (day && name) day[name] += value;
  }
  return listed;
}
