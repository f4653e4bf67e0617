import { Inject, Injectable } from '@nestjs/common';
import {
  type Sql,
  countRows,
  lockClauseOf,
  insertRows,
  upsertRows,
} from '../../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { computeLatestTrustedTime } from '../../platform/common/time.js';
import { KeyDeactivationEntity, KeyFuseEntity } from '../api-key.entity.js';

const PURGE_BATCH = 500;

/** Stores the fuses of API keys and the users that keys have blocked, with hand-written SQL (ADR 13). */
@Injectable()
export class KeyFuseRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async add(tx: Sql, key: string, time: string, uuids: readonly string[]): Promise<void> {
    const rows = uuids.map((user_uuid) => ({ key_id: key, time, user_uuid }));
    await insertRows(tx, KeyDeactivationEntity, rows);
  }

  /** Counts the users that a key has blocked since `after`. Stops at `max`. */
  async count(sql: Sql, key: string, after: string, max = Number.MAX_SAFE_INTEGER): Promise<number> {
    const rows = 'SELECT user_uuid FROM key_deactivations WHERE key_id = ? AND time > ? LIMIT ?';
    return countRows(sql, `SELECT COUNT(*) AS count FROM (${rows}) AS first`, [key, after, max]);
  }

  /**
   * Finds the time at which a key blocked its n-th user since `after`. Returns undefined if it blocked fewer users.
   * @param position n, from 1.
   */
  async findNthBlockTime(tx: Sql, key: string, after: string, position: number): Promise<string | undefined> {
    const sql =
      'SELECT time FROM key_deactivations WHERE key_id = ? AND time > ? ORDER BY time, user_uuid LIMIT 1 OFFSET ?';
    const [row] = await tx.query<{ time: string }>(sql, [key, after, position - 1]);
    return row?.time;
  }

  /** Replaces untrusted times of blocked users with `time`, so that these users count for an hour from `time` on. */
  async replaceUntrustedTimes(sql: Sql, key: string, time: string): Promise<void> {
    const untrusted = [key, computeLatestTrustedTime(time)];
    const ignore = sql.dialect === 'sqlite' ? 'OR IGNORE' : 'IGNORE';
    const update = `UPDATE ${ignore} key_deactivations SET time = ? WHERE key_id = ? AND time > ?`;
    await sql.execute(update, [time, ...untrusted]);
    // A user who was blocked several times has only one row with the new time.
    await sql.execute('DELETE FROM key_deactivations WHERE key_id = ? AND time > ?', untrusted);
  }

  async find(sql: Sql, key: string): Promise<KeyFuseEntity | undefined> {
    return sql.queryOne('SELECT key_id, blown, open_until FROM key_fuses WHERE key_id = ?', [key]);
  }

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

  /** Lists the keys whose fuse has blown in a period. */
  async listBlown(after: string, until: string): Promise<{ key_id: string }[]> {
    const sql = 'SELECT key_id FROM key_fuses WHERE blown > ? AND blown <= ?';
    return this.database.query(sql, [after, until]);
  }

  /**
   * Deletes one batch of rows for users who were blocked at or before `time`.
   * @returns true if more rows may remain.
   */
  async purge(time: string): Promise<boolean> {
    // Looks up the last time of the batch first, because MariaDB would scan the table for a DELETE with a subquery.
    const sql =
      'SELECT MAX(time) AS last FROM (SELECT time FROM key_deactivations WHERE time <= ? ORDER BY time LIMIT ?) AS part';
    const [part] = await this.database.query<{ last: string | null }>(sql, [time, PURGE_BATCH]);
    if (!part?.last) return false;
    await this.database.execute('DELETE FROM key_deactivations WHERE time <= ?', [part.last]);
    return true;
  }
}
