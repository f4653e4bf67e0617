import { Inject, Injectable } from '@nestjs/common';
import type { JsonText } from '../../common/json.js';
import { WEBMASTER } from '../../access/roles.js';
import { selectIn } from '../../database/engine/bulk.js';
import { DATABASE, type Database } from '../../database/engine/database.js';
import { type Sql, placeholders } from '../../database/engine/sql.js';
import type { UserScope } from './user-scope.js';
import { USER_COLUMNS, type User, type UserRow, toUser } from '../model/user.js';

/** A user that a data set manages. */
export interface Managed {
  uuid: string;
  external_id: string;
  username_key: string;
  email_key: string;
  status: string;
  roles: JsonText<readonly string[]>;
  version: number;
  managed_part: string | null;
}

const COLUMNS = USER_COLUMNS.join(', ');

/** Reads of many users at once, for imports and exports: one statement a call. */
@Injectable()
export class UserDirectoryRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async users(column: 'uuid' | 'external_id_key', values: readonly string[]): Promise<User[]> {
    const text = (list: string) => `SELECT ${COLUMNS} FROM users WHERE ${column} IN (${list})`;
    return (await selectIn<UserRow>(this.database, values, text)).map(toUser);
  }

  async ids(
    column: 'uuid' | 'external_id_key',
    values: readonly string[],
  ): Promise<Pick<User, 'uuid' | 'external_id'>[]> {
    return selectIn(
      this.database,
      values,
      (list) => `SELECT uuid, external_id FROM users WHERE ${column} IN (${list})`,
    );
  }

  /**
   * Users of a data set, whatever their part, behind a uuid. The status is not asked for: it would lead MariaDB to another
   * index, by which each page costs the whole table.
   */
  async managed({ dataset }: UserScope, after: string, limit: number): Promise<Managed[]> {
    return this.database.query<Managed>(
      `SELECT uuid, external_id, username_key, email_key, status, roles, version, managed_part FROM users
       WHERE managed_by = ? AND uuid > ? ORDER BY uuid LIMIT ?`,
      [dataset, after, limit],
    );
  }

  /** Of the next users of a data set behind a uuid: how many of the part are active and no Webmasters, and who is the last one. */
  async countManaged(
    { dataset, part }: UserScope,
    after: string,
    limit: number,
  ): Promise<{ count: number; last: string | null }> {
    const row = await this.database.first<{ count: number | string | null; last: string | null }>(
      `SELECT SUM(CASE WHEN status = 'Active' AND COALESCE(managed_part, '') = ? AND roles NOT LIKE ? THEN 1 ELSE 0 END) AS count, MAX(uuid) AS last
       FROM (SELECT uuid, status, roles, managed_part FROM users WHERE managed_by = ? AND uuid > ? ORDER BY uuid LIMIT ?) AS part`,
      [part ?? '', `%"${WEBMASTER}"%`, dataset, after, limit],
    );
    return { count: Number(row?.count ?? 0), last: row?.last ?? null };
  }

  /** Users behind a uuid; without `all` those that have an external id, between which there may be any number of others. */
  async page(after: string, limit: number, all: boolean): Promise<User[]> {
    const linked = all ? '' : ' AND external_id_key IS NOT NULL';
    const rows = await this.database.aside<UserRow>(
      `SELECT ${COLUMNS} FROM users WHERE uuid > ?${linked} ORDER BY uuid LIMIT ?`,
      [after, limit],
    );
    return rows.map(toUser);
  }

  /** Bookkeeping, not a change of a user: neither `updated` nor the version moves. */
  async claim(tx: Sql, uuids: readonly string[], { dataset, part }: UserScope): Promise<void> {
    await tx.execute(
      `UPDATE users SET managed_by = ?, managed_part = ?
       WHERE (managed_by IS NULL OR managed_by = ?) AND uuid IN (${placeholders(uuids.length)})`,
      [dataset, part, dataset, ...uuids],
    );
  }
}
