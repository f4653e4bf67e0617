import { Inject, Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { type JsonText, fromJson } from '../../platform/common/json.js';
import { WEBMASTER } from '../../access/roles.js';
import { type Sql, lockClauseOf, toPlaceholders, selectWhereIn } from '../../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { readPages } from '../../platform/database/keyset-pages.js';
import { toExactKey } from '../model/comparison-keys.js';
import type { UserEntity } from '../model/user.entity.js';
import { USER_COLUMNS, type User, type UserRow, toUser } from '../model/user.js';
import type { Owner } from '../set-rules/identifier-changes.js';
import { toRestoredUsers } from '../writer/change-set.js';
import { DeletedUsersRepository } from '../writer/deleted-users.repository.js';
import { type CounterName, UserCounts } from '../writer/user-counts.service.js';
import { ReleasedUsernames } from '../writer/released-usernames.repository.js';
import { UserWriteRepository } from '../writer/user-write.repository.js';
import type { UserScope } from './user-scope.js';

export interface ManagedUser extends Pick<
  UserEntity,
  | 'uuid'
  | 'external_id'
  | 'username_key'
  | 'email_key'
  | 'surname_sort'
  | 'status'
  | 'version'
  | 'managed_part'
  | 'manager_uuid'
> {
  isWebmaster: boolean;
  roles: readonly string[];
}

/** SQL condition for users with a role, directly or from a group (see `rolesOf`). */
const HAS_ROLE = "(roles LIKE ? OR COALESCE(group_roles, '') LIKE ?)";
const WEBMASTER_PARAMS = [`%"${WEBMASTER}"%`, `%"${WEBMASTER}"%`];

const COLUMNS = USER_COLUMNS.join(', ');
const COUNT_BATCH_SIZE = 2000;
const MANAGED_PAGE = 1000;

const IDS = 'uuid, external_id';

/**
 * Reads sets of users for imports, exports, groups and SCIM. Uses hand-written SQL with a fixed number of statements
 * (ADR 13).
 */
@Injectable()
export class UserDirectory {
  constructor(
    private readonly writes: UserWriteRepository,
    private readonly counts: UserCounts,
    private readonly deleted: DeletedUsersRepository,
    private readonly released: ReleasedUsernames,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  /** @returns a map from the comparison key of each external id to the user. */
  async findByExternalIds(externalIds: readonly string[]): Promise<Map<string, User>> {
    const rows = await this.select<UserRow>('external_id_key', externalIds.map(toExactKey), COLUMNS);
    return new Map(rows.map((row) => [toExactKey(row.external_id), toUser(row)]));
  }

  /** @returns a map from the comparison key of each external id to the uuid. */
  async findUuidsByExternalIds(externalIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.select<Owner>('external_id_key', externalIds.map(toExactKey), IDS);
    return new Map(rows.map((user) => [toExactKey(user.external_id), user.uuid]));
  }

  async findExternalIds(uuids: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.select<Owner>('uuid', uuids, IDS);
    return new Map(rows.map((user) => [user.uuid, user.external_id]));
  }

  async findByUuids(uuids: readonly string[]): Promise<Map<string, User>> {
    const rows = await this.select<UserRow>('uuid', uuids, COLUMNS);
    return new Map(rows.map((row) => [row.uuid, toUser(row)]));
  }

  /** Finds deleted users. Returns them as they would be after a restore if all their managers existed. */
  async findRestorable(uuids: readonly string[]): Promise<Map<string, User>> {
    return toRestoredUsers(await this.deleted.find(uuids));
  }

  /** See `DeletedUsersRepository.findDeletedElsewhere`. */
  async findDeletedElsewhere(externalIds: readonly string[], dataset?: string): Promise<Map<string, User>> {
    return this.deleted.findDeletedElsewhere(externalIds, dataset);
  }

  private select<T extends object>(key: string, values: readonly string[], columns: string): Promise<T[]> {
    const toSql = (list: string) => `SELECT ${columns} FROM users WHERE ${key} IN (${list})`;
    return selectWhereIn<T>(this.database, [...new Set(values)], toSql);
  }

  /** Returns the uuids of local operators: Webmasters without an external id, whom some API keys must not see. */
  async findOperatorUuids(sql: Sql = this.database): Promise<Set<string>> {
    const rows = await sql.query<{ uuid: string }>(
      `SELECT u.uuid FROM user_roles h JOIN users u ON u.uuid = h.user_uuid
       WHERE h.role = ? AND u.external_id_key IS NULL`,
      [WEBMASTER],
    );
    return new Set(rows.map(({ uuid }) => uuid));
  }

  /**
   * Locks users in the order of their uuids, to avoid deadlocks.
   * @returns the uuids of the users that exist.
   */
  async lock(tx: Sql, uuids: readonly string[]): Promise<string[]> {
    const toSql = (list: string) =>
      `SELECT uuid FROM users WHERE uuid IN (${list}) ORDER BY uuid${lockClauseOf(tx)}`;
    return (await selectWhereIn<{ uuid: string }>(tx, uuids.toSorted(), toSql)).map(({ uuid }) => uuid);
  }

  async findOwners(identifiers: readonly string[]): Promise<Map<string, Owner>> {
    return this.writes.findOwners(this.database, identifiers);
  }

  /** @returns a map from the login key of each released username to the hash of its last owner (`toOwnerHash`). */
  async findReleasedUsernames(usernames: readonly string[]): Promise<Map<string, string>> {
    return this.released.findOwners(usernames);
  }

  /**
   * Finds all direct and indirect managers of the users.
   * @returns for each of these users and managers, the uuid of the next manager or null.
   */
  async findManagers(uuids: readonly string[]): Promise<Map<string, string | null>> {
    return this.writes.findManagers(this.database, uuids);
  }

  async count(name: CounterName): Promise<number> {
    return this.counts.count(name);
  }

  /**
   * Counts the active users of a data set who are not Webmasters. Only these users count as missing if an import file
   * does not contain them.
   * @returns the number of users by part, with an empty string for users without a part.
   */
  async countByPart(dataset: string): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (let after: string | undefined = ''; after !== undefined;) {
      const rows: { part: string; count: number | string; last: string }[] = await this.database.query(
        `SELECT COALESCE(managed_part, '') AS part,
           SUM(CASE WHEN status = 'Active' AND NOT ${HAS_ROLE} THEN 1 ELSE 0 END) AS count, MAX(uuid) AS last
         FROM (SELECT uuid, status, roles, group_roles, managed_part FROM users WHERE managed_by = ? AND uuid > ? ORDER BY uuid LIMIT ?) AS page
         GROUP BY COALESCE(managed_part, '')`,
        [...WEBMASTER_PARAMS, dataset, after, COUNT_BATCH_SIZE],
      );
      for (const { part, count } of rows) counts.set(part, (counts.get(part) ?? 0) + Number(count));
      const lasts = rows.map(({ last }) => last).sort();
      after = lasts.at(-1);
      await setImmediate(); // lets other requests run, because SQLite statements block this thread
    }
    return counts;
  }

  /**
   * Yields the active users in a scope page by page, sorted by uuid. Only these users count as missing if an import file
   * does not contain them.
   */
  async *readActive({ dataset, part }: UserScope): AsyncGenerator<ManagedUser[]> {
    const readUsers = (after: string) => this.listManaged(dataset, after);
    const isInPart = (user: ManagedUser) => part === null || user.managed_part === part;
    for await (const page of readPages('', ({ uuid }) => uuid, readUsers))
      yield page.filter((user) => user.status === 'Active' && isInPart(user));
  }

  /**
   * Reads the next users of a data set after the uuid `after`. Does not filter by status, because MariaDB would then
   * read the whole table for each page.
   */
  private async listManaged(dataset: string, after: string): Promise<ManagedUser[]> {
    const rows = await this.database.query<
      Omit<ManagedUser, 'isWebmaster' | 'roles'> & { webmaster: number | boolean; roles: JsonText<string[]> }
    >(
      `SELECT uuid, external_id, username_key, email_key, surname_sort, status, ${HAS_ROLE} AS webmaster, version,
         managed_part, manager_uuid, roles
       FROM users
       WHERE managed_by = ? AND uuid > ? ORDER BY uuid LIMIT ?`,
      [...WEBMASTER_PARAMS, dataset, after, MANAGED_PAGE],
    );
    return rows.map(({ webmaster, roles, ...user }) => ({
      ...user,
      isWebmaster: Boolean(webmaster),
      roles: fromJson(roles),
    }));
  }

  /**
   * Assigns users to a data set and a part, except for users of another data set. `updated` and the version stay the
   * same.
   */
  async assignScope(tx: Sql, uuids: readonly string[], { dataset, part }: UserScope): Promise<void> {
    if (uuids.length === 0) return;
    await tx.execute(
      `UPDATE users SET managed_by = ?, managed_part = ?
       WHERE (managed_by IS NULL OR managed_by = ?) AND uuid IN (${toPlaceholders(uuids.length)})`,
      [dataset, part, dataset, ...uuids],
    );
  }
}
