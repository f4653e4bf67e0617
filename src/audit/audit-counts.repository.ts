import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { type SqlValue, byIndex, placeholders } from '../platform/database/engine/sql.js';
import type { AuditAction } from './audit-event.js';
import type { Range } from './audit-walk.repository.js';

const BY_ACTION = 'ix_audit_events_action';
const HOURS_OF_DAY = 24;

/** How often an action was recorded in the hours from `hour` on. */
export interface CountedAction {
  hour: number;
  action: AuditAction;
  value: number;
}

/** Seals from one on to another, the last one included. */
export interface SealRange {
  behind: number;
  last: number;
}

/** Hand-written SQL: sums, and counts in the entries of one index (ADR 13). */
@Injectable()
export class AuditCountsRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * What these seals cover from an hour on, by action and day. @param offset hours by which days begin before midnight UTC.
   * @returns each with the first hour of its day.
   */
  async byDay(
    { behind, last }: SealRange,
    from: number,
    offset: number,
    actions: readonly AuditAction[],
  ): Promise<CountedAction[]> {
    const rows = await this.database.aside<{ day: number; action: AuditAction; value: number | string }>(
      `SELECT hour - (hour + ?) % ${HOURS_OF_DAY} AS day, action, SUM(value) AS value FROM audit_counts
       WHERE seal > ? AND seal <= ? AND hour >= ? AND action IN (${placeholders(actions.length)}) GROUP BY 1, 2`,
      [offset, behind, last, from, ...actions],
    );
    return rows.map(({ day, action, value }) => ({ hour: day, action, value: Number(value) }));
  }

  /** How many rows of these actions are in a range of ids: of each `most` at most. */
  async count(
    actions: readonly AuditAction[],
    range: Range,
    most: number,
  ): Promise<{ action: AuditAction; value: number }[]> {
    const parts = actions.map(
      (action) =>
        `SELECT '${action}' AS action, COUNT(*) AS value FROM (SELECT id FROM audit_events${byIndex(this.database, BY_ACTION)}
         WHERE action = ? AND id >= ? AND id < ? LIMIT ?) AS part`,
    );
    const params = actions.flatMap((action): SqlValue[] => [action, range.low, range.high, most]);
    return this.database.aside(parts.join(' UNION ALL '), params);
  }

  /** The least id of all rows. */
  async firstId(): Promise<string | undefined> {
    const row = await this.database.first<{ id: string }>('SELECT id FROM audit_events ORDER BY id LIMIT 1');
    return row?.id;
  }

  /** Deletes what was counted for the seals up to a number. */
  async deleteUntil(seal: number): Promise<void> {
    await this.database.execute('DELETE FROM audit_counts WHERE seal <= ?', [seal]);
  }
}
