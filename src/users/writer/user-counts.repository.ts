import { Inject, Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { deleteRows, insertRows } from '../../platform/database/engine/bulk.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { DatabaseFault } from '../../platform/database/engine/database-fault.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { UserCountEntity } from '../model/user-lookups.entity.js';

/** What is counted: users by status, and active Webmasters. */
export type Counted = 'Active' | 'Blocked' | 'webmasters';

/** Hand-written SQL: sums and sets of rows (ADR 13). */
@Injectable()
export class UserCountsRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Inserts what a change adds to the totals; no row is written that another change writes. */
  async add(tx: Sql, deltas: ReadonlyMap<string, number>): Promise<void> {
    const rows = [...deltas].filter(([, value]) => value !== 0);
    await insertRows(
      tx,
      UserCountEntity,
      rows.map(([name, value]) => ({ id: uuidv7(), name, value })),
    );
  }

  /** The totals, exact at the moment of the statement. */
  async totals(sql: Sql = this.database): Promise<Readonly<Record<string, number>>> {
    const rows = await sql.query<{ name: string; value: number | string }>(
      'SELECT name, SUM(value) AS value FROM user_counts GROUP BY name',
    );
    return Object.fromEntries(rows.map(({ name, value }) => [name, Number(value)]));
  }

  /**
   * Replaces the oldest rows by their sums, one a name. Rows that are inserted meanwhile are not touched.
   * @param atLeast fewer rows stay as they are. @param most rows in one go.
   * @returns how many rows there were to fold.
   * @throws DatabaseFault `race` where another instance has folded some of them first.
   */
  async fold(tx: Sql, atLeast: number, most: number): Promise<number> {
    const rows = await tx.query<UserCountEntity>(
      'SELECT id, name, value FROM user_counts ORDER BY id LIMIT ?',
      [most],
    );
    if (rows.length < atLeast) return 0;
    const deleted = await deleteRows(
      tx,
      UserCountEntity,
      'id',
      rows.map(({ id }) => id),
    );
    if (deleted < rows.length)
      throw new DatabaseFault('race', new Error('these counts were folded meanwhile'));
    const sums = new Map<string, number>();
    for (const { name, value } of rows) sums.set(name, (sums.get(name) ?? 0) + value);
    await this.add(tx, sums);
    return rows.length;
  }
}
