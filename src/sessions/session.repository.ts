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
import { TurnLookup } from '../platform/database/turn-lookup.js';
import type { JsonText } from '../platform/common/json.js';
import { computeLatestTrustedTime } from '../platform/common/time.js';
import { SessionEntity } from './session.entity.js';

export type SessionTimes = Pick<SessionEntity, 'created' | 'expires' | 'absolute_expires'>;

/** A session with the columns of its user that authentication needs. */
export interface SessionWithUser extends Omit<SessionEntity, 'ip'> {
  username: string;
  status: string;
  roles: JsonText<string[]>;
  group_roles: JsonText<string[]> | null;
  password_change_required: number;
}

const SHOWN = 'id, user_uuid, created, expires, absolute_expires, ip, confirmed';

/**
 * Reads and writes sessions. Uses hand-written SQL, because `findByToken` runs for every request with a cookie (ADR
 * 13).
 */
@Injectable()
export class SessionRepository {
  private readonly byToken = new TurnLookup<SessionWithUser>(
    this.database,
    'token_hash',
    `SELECT s.token_hash, s.id, s.user_uuid, s.created, s.expires, s.absolute_expires, s.confirmed,
     u.username, u.status, u.roles, u.group_roles, u.password_change_required
     FROM sessions s JOIN users u ON u.uuid = s.user_uuid`,
  );

  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Finds a session and its user. Queries the table of the users feature directly, as `isWebmaster` does. */
  findByToken(hash: string): Promise<SessionWithUser | undefined> {
    return this.byToken.find(hash);
  }

  async isLive(id: string, time: string): Promise<boolean> {
    const sql = 'SELECT id FROM sessions WHERE id = ? AND expires > ?';
    return (await this.database.queryOne(sql, [id, time])) !== undefined;
  }

  async insert(tx: Sql, session: SessionEntity): Promise<void> {
    await insertRows(tx, SessionEntity, [session]);
  }

  /**
   * Extends a session until `expires`. A session is never shortened, because a slow request must not undo a later
   * extension.
   */
  async renew(id: string, expires: string): Promise<void> {
    const params = [expires, id, expires];
    await this.database.execute('UPDATE sessions SET expires = ? WHERE id = ? AND expires < ?', params);
  }

  /**
   * Limits the times of sessions whose creation or last use is in the future and not trusted (interface §9). The limits
   * are the given times, which belong to a session that starts now.
   * @param id if given, only this session is limited.
   */
  async limitTimes({ created, expires, absolute_expires }: SessionTimes, id?: string): Promise<void> {
    const least = this.database.dialect === 'sqlite' ? 'MIN' : 'LEAST';
    const where = id === undefined ? 'expires > ?' : 'id = ?';
    await this.database.execute(
      `UPDATE sessions SET created = ${least}(created, ?), confirmed = ${least}(confirmed, ?),
       absolute_expires = ${least}(absolute_expires, ?), expires = ${least}(absolute_expires, ?) WHERE ${where}`,
      [created, created, absolute_expires, expires, id ?? computeLatestTrustedTime(expires)],
    );
  }

  async confirm(tx: Sql, id: string, time: string): Promise<void> {
    await tx.execute('UPDATE sessions SET confirmed = ? WHERE id = ?', [time, id]);
  }

  async list(
    time: string,
    userUuid: string | undefined,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<{ count: number; sessions: Omit<SessionEntity, 'token_hash'>[] }> {
    const where = `expires > ?${userUuid === undefined ? '' : ' AND user_uuid = ?'}`;
    const params = userUuid === undefined ? [time] : [time, userUuid];
    const count = await countRows(this.database, `SELECT COUNT(*) AS n FROM sessions WHERE ${where}`, params);
    // The plus sign keeps SQLite from using the index on `expires`. With this index, SQLite would have to sort nearly
    // all sessions.
    const sql = `SELECT ${SHOWN} FROM sessions WHERE +${where} ORDER BY id DESC LIMIT ? OFFSET ?`;
    const sessions = await this.database.query<SessionEntity>(sql, [...params, limit, offset]);
    return { count, sessions };
  }

  async lock(tx: Sql, id: string): Promise<Omit<SessionEntity, 'token_hash'> | undefined> {
    return tx.queryOne(`SELECT ${SHOWN} FROM sessions WHERE id = ?${lockClauseOf(tx)}`, [id]);
  }

  /**
   * Lists the sessions of a user, oldest first. The rows are not locked, because locking a range of the index would
   * block the logins of other users.
   */
  async listByUser(tx: Sql, userUuid: string): Promise<Omit<SessionEntity, 'token_hash'>[]> {
    return tx.query(`SELECT ${SHOWN} FROM sessions WHERE user_uuid = ? ORDER BY id`, [userUuid]);
  }

  async lockByUser(tx: Sql, userUuid: string): Promise<Omit<SessionEntity, 'token_hash'>[]> {
    return tx.query(`SELECT ${SHOWN} FROM sessions WHERE user_uuid = ?${lockClauseOf(tx)}`, [userUuid]);
  }

  /**
   * Returns true if the user is a Webmaster. Queries a table of the users feature directly, because this layer must not
   * call the users feature.
   */
  async isWebmaster(tx: Sql, userUuid: string): Promise<boolean> {
    const sql = 'SELECT 1 AS found FROM user_roles WHERE role = ? AND user_uuid = ?';
    return (await tx.queryOne(sql, [WEBMASTER, userUuid])) !== undefined;
  }

  async delete(tx: Sql, id: string): Promise<void> {
    await tx.execute('DELETE FROM sessions WHERE id = ?', [id]);
  }

  async deleteByUsers(tx: Sql, userUuids: readonly string[], keptId: string): Promise<void> {
    for (const part of chunkValues(userUuids)) {
      const sql = `DELETE FROM sessions WHERE user_uuid IN (${toPlaceholders(part.length)}) AND id <> ?`;
      await tx.execute(sql, [...part, keptId]);
    }
  }

  /** Deletes expired sessions. Checking `expires` is sufficient, because it is never later than `absolute_expires`. */
  async deleteExpired(time: string): Promise<number> {
    return this.database.execute('DELETE FROM sessions WHERE expires <= ?', [time]);
  }
}
