import { Inject, Injectable } from '@nestjs/common';
import { now } from '../../platform/common/time.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { type Sql, lockClauseOf } from '../../platform/database/engine/sql.js';
import { TurnLookup } from '../../platform/database/turn-lookup.js';
import { toLoginIdentifier } from '../model/comparison-keys.js';
import { USER_COLUMNS, type User, type UserRow, toUser } from '../model/user.js';

export type Credentials = Pick<UserRow, 'uuid' | 'username' | 'status' | 'password_hash'>;

/**
 * Reads and updates single users without checks of the caller. Every read finds its row by a primary key. Uses
 * hand-written SQL (ADR 13).
 */
@Injectable()
export class UserRecords {
  private readonly select = `SELECT ${USER_COLUMNS.join(', ')} FROM users`;
  private readonly byUuid = new TurnLookup<UserRow>(this.database, 'uuid', this.select);

  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** @param sql the transaction to read in, if any. */
  async find(uuid: string, sql?: Sql): Promise<User | undefined> {
    const inTransaction = sql?.queryOne<UserRow>(`${this.select} WHERE uuid = ?`, [uuid]);
    const row = await (inTransaction ?? this.byUuid.find(uuid));
    return row && toUser(row);
  }

  /** Finds a user by username or e-mail address. */
  async findCredentials(name: string): Promise<Credentials | undefined> {
    return this.database.queryOne<Credentials>(
      `SELECT u.uuid, u.username, u.status, u.password_hash
       FROM user_identifiers i JOIN users u ON u.uuid = i.user_uuid WHERE i.identifier = ?`,
      [toLoginIdentifier(name)],
    );
  }

  async lockCredentials(tx: Sql, uuid: string): Promise<Credentials | undefined> {
    const sql = `SELECT uuid, username, status, password_hash FROM users WHERE uuid = ?${lockClauseOf(tx)}`;
    return tx.queryOne<Credentials>(sql, [uuid]);
  }

  /** Sets `last_access` to the current time. `updated` and the version stay the same. */
  async updateLastAccess(uuid: string, sql: Sql = this.database): Promise<void> {
    await sql.execute('UPDATE users SET last_access = ? WHERE uuid = ?', [now(), uuid]);
  }

  /** Replaces the hash `old` by a newer hash of the same password. Does nothing if the password has changed. */
  async replacePasswordHash(uuid: string, old: string, hash: string): Promise<void> {
    const sql = 'UPDATE users SET password_hash = ? WHERE uuid = ? AND password_hash = ?';
    await this.database.execute(sql, [hash, uuid, old]);
  }

  async isEmpty(): Promise<boolean> {
    return (await this.database.queryOne('SELECT uuid FROM users LIMIT 1')) === undefined;
  }
}
