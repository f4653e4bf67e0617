import { Injectable } from '@nestjs/common';
import { AuditCounts } from '../../audit/audit-counts.service.js';
import { type ApiKey, ApiKeysService } from '../../api-keys/api-keys.service.js';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { ImportsService } from '../../import/imports.service.js';
import { type DatasetSummary, ImportSummary } from '../../import/report/import-summary.service.js';
import { UserCounts } from '../../users/writer/user-counts.service.js';
import { DAILY, DAILY_ACTIONS, type Day, firstHour, toDays } from './statistics-days.js';

const DAY_SECONDS = 24 * 60 * 60;
const EXPIRY_DAYS = 30;
/** Keys that are listed, of those that expire soon. */
export const MAX_EXPIRING = 100;

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
