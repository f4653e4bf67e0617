import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { type SqlValue, indexHintOf, toPlaceholders } from '../platform/database/engine/sql.js';
import type { AuditAction } from './audit-event.js';
import type { IdRange } from './audit-search.repository.js';

const ACTION_INDEX = 'ix_audit_events_action';
const HOURS_OF_DAY = 24;

/** Number of events of an action in a period. `hour` is the first hour of the period, in hours since 1970 (UTC). */
export interface ActionCount {
  hour: number;
  action: AuditAction;
  value: number;
}

/** Counts audit events with hand-written SQL (ADR 13). */
@Injectable()
export class AuditCountsRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * Sums the stored counts of the seals after `after`, up to `last`, by action and day. Ignores hours before `from`.
   * @param offset UTC offset of the days, in hours.
   * @returns one entry per action and day, whose `hour` is the first hour of the day.
   */
  async countByDay(
    { after, last }: { after: number; last: number },
    from: number,
    offset: number,
    actions: readonly AuditAction[],
  ): Promise<ActionCount[]> {
    const rows = await this.database.scan<{ day: number; action: AuditAction; value: number | string }>(
      `SELECT hour - (hour + ?) % ${HOURS_OF_DAY} AS day, action, SUM(value) AS value FROM audit_counts
       WHERE seal > ? AND seal <= ? AND hour >= ? AND action IN (${toPlaceholders(actions.length)}) GROUP BY 1, 2`,
      [offset, after, last, from, ...actions],
    );
    return rows.map(({ day, action, value }) => ({ hour: day, action, value: Number(value) }));
  }

  /** Counts the events of each action in a range of event ids. Counting stops at `limit` events per action. */
  async count(
    actions: readonly AuditAction[],
    range: IdRange,
    limit: number,
  ): Promise<{ action: AuditAction; value: number }[]> {
    const parts = actions.map(
      (action) =>
        `SELECT '${action}' AS action, COUNT(*) AS value FROM (SELECT id FROM audit_events${indexHintOf(this.database, ACTION_INDEX)}
         WHERE action = ? AND id >= ? AND id < ? LIMIT ?) AS part`,
    );
    const params = actions.flatMap((action): SqlValue[] => [action, range.low, range.high, limit]);
    return this.database.scan(parts.join(' UNION ALL '), params);
  }

  async findFirstId(): Promise<string | undefined> {
    const sql = 'SELECT id FROM audit_events ORDER BY id LIMIT 1';
    return (await this.database.queryOne<{ id: string }>(sql))?.id;
  }

  async deleteUntil(seal: number): Promise<void> {
    await this.database.execute('DELETE FROM audit_counts WHERE seal <= ?', [seal]);
  }
}
