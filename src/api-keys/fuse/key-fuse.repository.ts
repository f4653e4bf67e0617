import { Inject, Injectable } from '@nestjs/common';
import {
  type Sql,
  countRows,
  lockClauseOf,
  insertRows,
  upsertRows,
} from '../../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { KeyDeactivationEntity, KeyFuseEntity } from '../api-key.entity.js';

const PURGE_BATCH = 500;

/**
 * Reads and writes fuses and blocked users. Uses hand-written SQL, because ranges are counted in the transactions of
 * changes (ADR 13).
 */
@Injectable()
export class KeyFuseRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async add(tx: Sql, key: string, time: string, uuids: readonly string[]): Promise<void> {
    const rows = uuids.map((user_uuid) => ({ key_id: key, time, user_uuid }));
    await insertRows(tx, KeyDeactivationEntity, rows);
  }

  /** Counts the users that a key has blocked after a time. */
  async count(sql: Sql, key: string, after: string): Promise<number> {
    const text = 'SELECT COUNT(*) AS count FROM key_deactivations WHERE key_id = ? AND time > ?';
    return countRows(sql, text, [key, after]);
  }

  /** Like `count`, but stops at `max`, because a key with an open fuse may have blocked any number of users. */
  async countUpTo(sql: Sql, key: string, after: string, max: number): Promise<number> {
    const rows = 'SELECT user_uuid FROM key_deactivations WHERE key_id = ? AND time > ? LIMIT ?';
    return countRows(sql, `SELECT COUNT(*) AS count FROM (${rows}) AS first`, [key, after, max]);
  }

  /**
   * Returns the time at which a key blocked a user, counted from the time `after`.
   * @param position number of the user in this count, from 1.
   */
  async findTimeOfNth(tx: Sql, key: string, after: string, position: number): Promise<string | undefined> {
    const [row] = await tx.query<{ time: string }>(
      'SELECT time FROM key_deactivations WHERE key_id = ? AND time > ? ORDER BY time, user_uuid LIMIT 1 OFFSET ?',
      [key, after, position - 1],
    );
    return row?.time;
  }

  async find(sql: Sql, key: string): Promise<KeyFuseEntity | undefined> {
    return sql.queryOne('SELECT key_id, blown, open_until FROM key_fuses WHERE key_id = ?', [key]);
  }

  /** Like `find`, but locks the row until the transaction ends. */
  async lock(tx: Sql, key: string): Promise<KeyFuseEntity | undefined> {
    const sql = `SELECT key_id, blown, open_until FROM key_fuses WHERE key_id = ?${lockClauseOf(tx)}`;
    return tx.queryOne(sql, [key]);
  }

  async insert(tx: Sql, fuse: KeyFuseEntity): Promise<void> {
    await insertRows(tx, KeyFuseEntity, [fuse]);
  }

  async save(tx: Sql, fuse: KeyFuseEntity): Promise<void> {
    await upsertRows(tx, KeyFuseEntity, ['key_id'], [fuse]);
  }

  /** Counts the fuses that have blown after a time and were not reset. */
  async countBlown(after: string): Promise<number> {
    return countRows(this.database, 'SELECT COUNT(*) AS count FROM key_fuses WHERE blown > ?', [after]);
  }

  /** Deletes a batch of rows up to a time. @returns true if there may be more rows. */
  async purge(time: string): Promise<boolean> {
    // The upper bound is read first, as in the audit, because MariaDB scans a subquery on the same table.
    const [part] = await this.database.query<{ last: string | null }>(
      'SELECT MAX(time) AS last FROM (SELECT time FROM key_deactivations WHERE time <= ? ORDER BY time LIMIT ?) AS part',
      [time, PURGE_BATCH],
    );
    if (!part?.last) return false;
    await this.database.execute('DELETE FROM key_deactivations WHERE time <= ?', [part.last]);
    return true;
  }
}
