import { Inject, Injectable } from '@nestjs/common';
import { insertRows } from '../database/bulk.js';
import { DATABASE, type Database } from '../database/database.js';
import { type Sql, placeholders } from '../database/sql.js';
import { SessionEntity } from './session.entity.js';

@Injectable()
export class SessionRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async findByToken(tokenHash: string): Promise<SessionEntity | undefined> {
    const [session] = await this.database.query<SessionEntity>(
      'SELECT id, token_hash, user_uuid, created, expires, absolute_expires, ip FROM sessions WHERE token_hash = ?',
      [tokenHash],
    );
    return session;
  }

  async insert(tx: Sql, session: SessionEntity): Promise<void> {
    await insertRows(tx, SessionEntity, [session]);
  }

  /** Only forward, so that a slow request does not take back what a later one has won. */
  async renew(id: string, expires: string): Promise<void> {
    await this.database.execute('UPDATE sessions SET expires = ? WHERE id = ? AND expires < ?', [
      expires,
      id,
      expires,
    ]);
  }

  async delete(tx: Sql, id: string): Promise<number> {
    return tx.execute('DELETE FROM sessions WHERE id = ?', [id]);
  }

  async deleteOfUsers(tx: Sql, userUuids: readonly string[], except: string): Promise<void> {
    await tx.execute(
      `DELETE FROM sessions WHERE user_uuid IN (${placeholders(userUuids.length)}) AND id <> ?`,
      [...userUuids, except],
    );
  }

  /** `expires` is never beyond `absolute_expires`. */
  async deleteExpired(time: string): Promise<number> {
    return this.database.execute('DELETE FROM sessions WHERE expires <= ?', [time]);
  }
}
