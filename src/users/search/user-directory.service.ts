import { Inject, Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { WEBMASTER } from '../../access/roles.js';
import { type Sql, forUpdate, placeholders, selectIn } from '../../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { exactKey } from '../model/comparison-keys.js';
import { USER_COLUMNS, type User, type UserRow, toUser } from '../model/user.js';
import type { Owner } from '../set-rules/identifier-changes.js';
import { UserCounts } from '../writer/user-counts.service.js';
import { UserWriteRepository } from '../writer/user-write.repository.js';
import type { UserScope } from './user-scope.js';

export type { Owner };

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

/** As `rolesOf`: among the user's own roles or those of its groups. */
const HOLDS_ROLE = "(roles LIKE ? OR COALESCE(group_roles, '') LIKE ?)";
const NAMES_WEBMASTER = [`%"${WEBMASTER}"%`, `%"${WEBMASTER}"%`];

const COLUMNS = USER_COLUMNS.join(', ');
const COUNTED_AT_ONCE = 2000;

type Ids = Pick<User, 'uuid' | 'external_id'>;
const IDS = 'uuid, external_id';

/** Users of a part of a data set ('' for those of none), and the last one counted. */
interface ManagedCount {
  part: string;
  count: number | string;
  last: string;
}

/**
 * Users by the hundred, for imports, exports, groups and SCIM. A method costs one statement, whatever the number of users;
 * a count costs some. Hand-written SQL: the statements are set-based (ADR 13).
 */
@Injectable()
export class UserDirectory {
  constructor(
    private readonly writes: UserWriteRepository,
    private readonly counts: UserCounts,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  /** External id in its key form → user. */
  async byExternalIds(externalIds: readonly string[]): Promise<Map<string, User>> {
    const rows = await this.select<UserRow>('external_id_key', externalIds.map(exactKey), COLUMNS);
    return new Map(rows.map((row) => [exactKey(row.external_id), toUser(row)]));
  }

  /** External id in its key form → uuid. */
  async uuidsByExternalIds(externalIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.select<Ids>('external_id_key', externalIds.map(exactKey), IDS);
    return new Map(rows.map((user) => [exactKey(user.external_id), user.uuid]));
  }

  async externalIdsOf(uuids: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.select<Ids>('uuid', uuids, IDS);
    return new Map(rows.map((user) => [user.uuid, user.external_id]));
  }

  async byUuids(uuids: readonly string[]): Promise<Map<string, User>> {
    const rows = await this.select<UserRow>('uuid', uuids, COLUMNS);
    return new Map(rows.map((row) => [row.uuid, toUser(row)]));
  }

  private select<T extends object>(key: string, values: readonly string[], columns: string): Promise<T[]> {
    const text = (list: string) => `SELECT ${columns} FROM users WHERE ${key} IN (${list})`;
    return selectIn<T>(this.database, [...new Set(values)], text);
  }

  /** Webmasters without external id, of whom some keys learn nothing. */
  async operators(sql: Sql = this.database): Promise<Set<string>> {
    const rows = await sql.query<{ uuid: string }>(
      `SELECT u.uuid FROM user_roles h JOIN users u ON u.uuid = h.user_uuid
       WHERE h.role = ? AND u.external_id_key IS NULL`,
      [WEBMASTER],
    );
    return new Set(rows.map(({ uuid }) => uuid));
  }

  /**
   * Returns the users that exist, which do not change until the transaction ends. They are locked in the order of uuid, so
   * that two sets seldom deadlock.
   */
  async hold(tx: Sql, uuids: readonly string[]): Promise<string[]> {
    const text = (list: string) =>
      `SELECT uuid FROM users WHERE uuid IN (${list}) ORDER BY uuid${forUpdate(tx)}`;
    return (await selectIn<{ uuid: string }>(tx, uuids.toSorted(), text)).map(({ uuid }) => uuid);
  }

  /** Identifier (`model/comparison-keys.ts`) → who has it. */
  async owners(identifiers: readonly string[]): Promise<Map<string, Owner>> {
    return this.writes.owners(this.database, identifiers);
  }

  /** The users and everybody above them, each with its manager. */
  async managersAbove(uuids: readonly string[]): Promise<Map<string, string | null>> {
    return this.writes.managersAbove(this.database, uuids);
  }

  /** How many active users there are. */
  async countActive(): Promise<number> {
    return this.counts.active();
  }

  /** How many active Webmasters there are. */
  async countWebmasters(): Promise<number> {
    return this.counts.webmasters();
  }

  /** Part ('' for none) → how many users of a data set are to be reported where its file lacks them: active ones, Webmasters aside. */
  async countManaged(dataset: string): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (let after: string | undefined = ''; after !== undefined;) {
      const rows: ManagedCount[] = await this.database.query(
        `SELECT COALESCE(managed_part, '') AS part,
           SUM(CASE WHEN status = 'Active' AND NOT ${HOLDS_ROLE} THEN 1 ELSE 0 END) AS count, MAX(uuid) AS last
         FROM (SELECT uuid, status, roles, group_roles, managed_part FROM users WHERE managed_by = ? AND uuid > ? ORDER BY uuid LIMIT ?) AS page
         GROUP BY COALESCE(managed_part, '')`,
        [...NAMES_WEBMASTER, dataset, after, COUNTED_AT_ONCE],
      );
      for (const { part, count } of rows) counts.set(part, (counts.get(part) ?? 0) + Number(count));
      const lasts = rows.map(({ last }) => last).sort();
      after = lasts.at(-1);
      await setImmediate(); // SQLite counts in this thread
    }
    return counts;
  }

  /**
   * Users of a data set, whatever their part, after a uuid. The status is no condition: it would lead MariaDB to another
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

  /**
   * Users after a uuid, in the order of uuid. @param all also users without an external id. Between those with one there may
   * be any number of others.
   */
  async page(after: string, limit: number, all: boolean): Promise<User[]> {
    const linked = all ? '' : ' AND external_id_key IS NOT NULL';
    const rows = await this.database.aside<UserRow>(
      `SELECT ${COLUMNS} FROM users WHERE uuid > ?${linked} ORDER BY uuid LIMIT ?`,
      [after, limit],
    );
    return rows.map(toUser);
  }

  /**
   * Puts users that no data set manages, or another part of this one, into this scope. Bookkeeping, not a change of a user:
   * neither `updated` nor the version moves.
   */
  async claim(tx: Sql, uuids: readonly string[], { dataset, part }: UserScope): Promise<void> {
    if (uuids.length === 0) return;
    await tx.execute(
      `UPDATE users SET managed_by = ?, managed_part = ?
       WHERE (managed_by IS NULL OR managed_by = ?) AND uuid IN (${placeholders(uuids.length)})`,
      [dataset, part, dataset, ...uuids],
    );
  }
}
