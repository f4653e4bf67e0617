import { Inject, Injectable } from '@nestjs/common';
import { WEBMASTER } from '../access/roles.js';
import {
  type Sql,
  countRows,
  lockClauseOf,
  chunkValues,
  insertRows,
  toPlaceholders,
} from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { SessionEntity } from './session.entity.js';

/** All columns except the hash of the cookie. */
const SHOWN = 'id, user_uuid, created, expires, absolute_expires, ip';

/**
 * Reads and writes sessions. Uses hand-written SQL, because every request with a cookie runs `findByToken` (ADR 13).
 */
@Injectable()
export class SessionRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async findByToken(hash: string): Promise<SessionEntity | undefined> {
    return this.database.queryOne(`SELECT ${SHOWN}, token_hash FROM sessions WHERE token_hash = ?`, [hash]);
  }

  async isLive(id: string, time: string): Promise<boolean> {
    const sql = 'SELECT id FROM sessions WHERE id = ? AND expires > ?';
    return (await this.database.queryOne(sql, [id, time])) !== undefined;
  }

  async insert(tx: Sql, session: SessionEntity): Promise<void> {
    await insertRows(tx, SessionEntity, [session]);
  }

  /** Extends a session. Never shortens it, because a slow request must not undo the extension of a later request. */
  async renew(id: string, expires: string): Promise<void> {
    const params = [expires, id, expires];
    await this.database.execute('UPDATE sessions SET expires = ? WHERE id = ? AND expires < ?', params);
  }

  async list(
    time: string,
    userUuid: string | undefined,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<{ count: number; sessions: Omit<SessionEntity, 'token_hash'>[] }> {
    const where = `expires > ?${userUuid === undefined ? '' : ' AND user_uuid = ?'}`;
    const params = userUuid === undefined ? [time] : [time, userUuid];
    const count = await countRows(this.database, `SELECT COUNT(*) AS n FROM sessions WHERE ${where}`, params);
    // The plus sign keeps SQLite from using the index on `expires`. Most sessions match, and SQLite would have to sort
    // them.
    const sessions = await this.database.query<SessionEntity>(
      `SELECT ${SHOWN} FROM sessions WHERE +${where} ORDER BY id DESC LIMIT ? OFFSET ?`,
      [...params, limit, offset],
    );
    return { count, sessions };
  }

  async lock(tx: Sql, id: string): Promise<Omit<SessionEntity, 'token_hash'> | undefined> {
    return tx.queryOne(`SELECT ${SHOWN} FROM sessions WHERE id = ?${lockClauseOf(tx)}`, [id]);
  }

  /**
   * Lists the sessions of a user, oldest first. Does not lock the sessions, because a range lock would block logins of
   * other users.
   */
  async listByUser(tx: Sql, userUuid: string): Promise<Omit<SessionEntity, 'token_hash'>[]> {
    return tx.query(`SELECT ${SHOWN} FROM sessions WHERE user_uuid = ? ORDER BY id`, [userUuid]);
  }

  async lockByUser(tx: Sql, userUuid: string): Promise<Omit<SessionEntity, 'token_hash'>[]> {
    return tx.query(`SELECT ${SHOWN} FROM sessions WHERE user_uuid = ?${lockClauseOf(tx)}`, [userUuid]);
  }

  /**
   * Returns true if the user is a Webmaster. Reads a table of the users feature, because that feature is in a higher
   * layer and cannot be called.
   */
  async isWebmaster(tx: Sql, userUuid: string): Promise<boolean> {
    const sql = 'SELECT 1 AS found FROM user_roles WHERE role = ? AND user_uuid = ?';
    return (await tx.queryOne(sql, [WEBMASTER, userUuid])) !== undefined;
  }

  async delete(tx: Sql, id: string): Promise<void> {
    await tx.execute('DELETE FROM sessions WHERE id = ?', [id]);
  }

  async deleteByUsers(tx: Sql, userUuids: readonly string[], except: string): Promise<void> {
    for (const part of chunkValues(userUuids)) {
      await tx.execute(
        `DELETE FROM sessions WHERE user_uuid IN (${toPlaceholders(part.length)}) AND id <> ?`,
        [...part, except],
      );
    }
  }

  /** Deletes expired sessions. Does not check `absolute_expires`, because `expires` is never later. */
  async deleteExpired(time: string): Promise<number> {
    return this.database.execute('DELETE FROM sessions WHERE expires <= ?', [time]);
  }
}
