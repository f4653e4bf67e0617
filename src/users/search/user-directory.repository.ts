import { Inject, Injectable } from '@nestjs/common';
import { WEBMASTER } from '../../access/roles.js';
import { selectIn } from '../../platform/database/engine/bulk.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { type Sql, forUpdate, placeholders } from '../../platform/database/engine/sql.js';
import type { UserScope } from './user-scope.js';
import { USER_COLUMNS, type User, type UserRow, toUser } from '../model/user.js';

/** A user that a data set manages. */
export interface Managed {
  uuid: string;
  external_id: string;
  username_key: string;
  email_key: string;
  status: string;
  /** By its own roles or by a group. */
  isWebmaster: boolean;
  version: number;
  managed_part: string | null;
}

/** Users of a part of a data set ('' for those of none); `last` is the uuid behind which the count goes on. */
export interface ManagedCount {
  part: string;
  count: number;
  last: string;
}

/** As `rolesOf`: among the user's own roles or those of its groups. */
const HOLDS_ROLE = "(roles LIKE ? OR COALESCE(group_roles, '') LIKE ?)";
const NAMES_WEBMASTER = [`%"${WEBMASTER}"%`, `%"${WEBMASTER}"%`];

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

  async operators(sql: Sql): Promise<string[]> {
    const rows = await sql.query<{ uuid: string }>(
      `SELECT u.uuid FROM user_roles h JOIN users u ON u.uuid = h.user_uuid
       WHERE h.role = ? AND u.external_id_key IS NULL`,
      [WEBMASTER],
    );
    return rows.map(({ uuid }) => uuid);
  }

  /** In the order of uuid, so that two sets seldom deadlock. */
  async hold(tx: Sql, uuids: readonly string[]): Promise<string[]> {
    const text = (list: string) =>
      `SELECT uuid FROM users WHERE uuid IN (${list}) ORDER BY uuid${forUpdate(tx)}`;
    return (await selectIn<{ uuid: string }>(tx, uuids.toSorted(), text)).map(({ uuid }) => uuid);
  }

  /**
   * Users of a data set, whatever their part, behind a uuid. The status is not asked for: it would lead MariaDB to another
   * index, by which each page costs the whole table.
   */
  async managed({ dataset }: UserScope, after: string, limit: number): Promise<Managed[]> {
    const rows = await this.database.query<Omit<Managed, 'isWebmaster'> & { webmaster: number | boolean }>(
      `SELECT uuid, external_id, username_key, email_key, status, ${HOLDS_ROLE} AS webmaster, version, managed_part
       FROM users
       WHERE managed_by = ? AND uuid > ? ORDER BY uuid LIMIT ?`,
      [...NAMES_WEBMASTER, dataset, after, limit],
    );
    return rows.map(({ webmaster, ...user }) => ({ ...user, isWebmaster: Boolean(webmaster) }));
  }

  /** Of the next users of a data set behind a uuid: how many of each part ('' for none) are active and no Webmasters, and who is the last one. */
  async countManaged(dataset: string, after: string, limit: number): Promise<ManagedCount[]> {
    const rows = await this.database.query<{ part: string; count: number | string; last: string }>(
      `SELECT COALESCE(managed_part, '') AS part,
         SUM(CASE WHEN status = 'Active' AND NOT ${HOLDS_ROLE} THEN 1 ELSE 0 END) AS count, MAX(uuid) AS last
       FROM (SELECT uuid, status, roles, group_roles, managed_part FROM users WHERE managed_by = ? AND uuid > ? ORDER BY uuid LIMIT ?) AS page
       GROUP BY COALESCE(managed_part, '')`,
      [...NAMES_WEBMASTER, dataset, after, limit],
    );
    return rows.map(({ part, count, last }) => ({ part, count: Number(count), last }));
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
