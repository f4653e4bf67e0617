import { Inject, Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { type JsonText, fromJson } from '../platform/common/json.js';
import {
  type Sql,
  indexHintOf,
  countRows,
  lockClauseOf,
  insertRows,
  toPlaceholders,
  selectWhereIn,
  updateRow,
} from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { GroupEntity, GroupMemberEntity } from './group.entity.js';
import { type Group, type GroupRow, type NamedGroup, toGroup, toGroupRow } from './group.js';

export const GROUP_COLUMNS = 'uuid, display_name, external_id, roles, created, updated, version';
const SELECT = `SELECT ${GROUP_COLUMNS} FROM user_groups`;

const BATCH_SIZE = 5000;

type UniqueColumn = 'display_name_key' | 'external_id';

/** Stores groups and their members. Uses hand-written SQL for row locks and for sets of any size (ADR 13). */
@Injectable()
export class GroupRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async find(uuid: string): Promise<Group | undefined> {
    const row = await this.database.queryOne<GroupRow>(`${SELECT} WHERE uuid = ?`, [uuid]);
    return row && toGroup(row);
  }

  /**
   * Locks and returns a group, if it exists. Until this transaction ends, other transactions cannot change the group or
   * its members.
   */
  async lock(tx: Sql, uuid: string): Promise<Group | undefined> {
    const row = await tx.queryOne<GroupRow>(`${SELECT} WHERE uuid = ?${lockClauseOf(tx)}`, [uuid]);
    return row && toGroup(row);
  }

  async findUuidByKey(tx: Sql, column: UniqueColumn, key: string): Promise<string | undefined> {
    const sql = `SELECT uuid FROM user_groups WHERE ${column} = ?`;
    return (await tx.queryOne<{ uuid: string }>(sql, [key]))?.uuid;
  }

  async findExistingIds(tx: Sql, uuids: readonly string[]): Promise<string[]> {
    const toSql = (inList: string) => `SELECT uuid FROM user_groups WHERE uuid IN (${inList})`;
    return (await selectWhereIn<{ uuid: string }>(tx, uuids, toSql)).map(({ uuid }) => uuid);
  }

  async insert(tx: Sql, group: Group): Promise<void> {
    await insertRows(tx, GroupEntity, [toGroupRow(group)]);
  }

  async update(tx: Sql, before: Group, after: Group): Promise<void> {
    await updateRow(tx, GroupEntity, 'uuid', toGroupRow(before), toGroupRow(after));
  }

  async delete(tx: Sql, uuid: string): Promise<void> {
    await tx.execute('DELETE FROM user_groups WHERE uuid = ?', [uuid]);
  }

  /** Reads at most `max` members whose uuids are greater than `after`, in the order of uuid. */
  async readMembers(group: string, after: string, max: number, sql: Sql = this.database): Promise<string[]> {
    const rows = await sql.query<{ user_uuid: string }>(
      `SELECT user_uuid FROM group_members WHERE group_uuid = ? AND user_uuid > ?
       ORDER BY user_uuid LIMIT ?`,
      [group, after, max],
    );
    return rows.map(({ user_uuid }) => user_uuid);
  }

  async listMembers(group: string, sql: Sql = this.database, max = Infinity): Promise<string[]> {
    const found: string[] = [];
    for (;;) {
      const limit = Math.min(BATCH_SIZE, max - found.length);
      const part = await this.readMembers(group, found.at(-1) ?? '', limit, sql);
      found.push(...part);
      if (part.length < limit || found.length >= max) return found;
      await setImmediate(); // lets other requests run, because SQLite statements block this thread
    }
  }

  /** Reads the members of several groups. Returns undefined if the groups have more than `max` members in total. */
  async listMembersByGroup(
    groups: readonly string[],
    max: number,
  ): Promise<Map<string, string[]> | undefined> {
    const toSql = (inList: string) =>
      `SELECT group_uuid, user_uuid FROM group_members WHERE group_uuid IN (${inList})
       ORDER BY group_uuid, user_uuid LIMIT ${max + 1}`;
    const rows = await selectWhereIn<GroupMemberEntity>(this.database, groups, toSql);
    if (rows.length > max) return undefined;
    const byGroup = Map.groupBy(rows, ({ group_uuid }) => group_uuid);
    return new Map([...byGroup].map(([group, own]) => [group, own.map(({ user_uuid }) => user_uuid)]));
  }

  /**
   * Reads the groups of users.
   * @returns a map from the uuid of each user to the user's groups, sorted by name.
   */
  async listGroupsByUser(
    users: readonly string[],
    sql: Sql = this.database,
  ): Promise<Map<string, NamedGroup[]>> {
    const toSql = (inList: string) =>
      `SELECT m.user_uuid, g.uuid, g.display_name FROM group_members m JOIN user_groups g ON g.uuid = m.group_uuid
       WHERE m.user_uuid IN (${inList}) ORDER BY m.user_uuid, g.display_name_key`;
    const rows = await selectWhereIn<NamedGroup & { user_uuid: string }>(sql, users, toSql);
    return Map.groupBy(rows, ({ user_uuid }) => user_uuid);
  }

  async countMembers(group: string): Promise<number> {
    const text = 'SELECT COUNT(*) AS count FROM group_members WHERE group_uuid = ?';
    return countRows(this.database, text, [group]);
  }

  /** Returns the users in the list who are members of the group. @param users at most a few hundred. */
  async filterMembers(tx: Sql, group: string, users: readonly string[]): Promise<Set<string>> {
    const sql = `SELECT m.user_uuid FROM group_members AS m${buildMembersWhere(tx, users)}`;
    const rows = await tx.query<{ user_uuid: string }>(sql, [...users, group]);
    return new Set(rows.map(({ user_uuid }) => user_uuid));
  }

  async addMembers(tx: Sql, group: string, users: readonly string[]): Promise<void> {
    const memberships = users.map((user_uuid) => ({ group_uuid: group, user_uuid }));
    await insertRows(tx, GroupMemberEntity, memberships);
  }

  /** @param users at most a few hundred. */
  async removeMembers(tx: Sql, group: string, users: readonly string[]): Promise<void> {
    const target = tx.dialect === 'mysql' ? 'm ' : ''; // MySQL accepts an index hint in a DELETE only in this form
    const sql = `DELETE ${target}FROM group_members AS m${buildMembersWhere(tx, users)}`;
    await tx.execute(sql, [...users, group]);
  }

  async listGroupRoles(
    tx: Sql,
    users: readonly string[],
  ): Promise<{ user: string; roles: readonly string[] }[]> {
    const toSql = (inList: string) =>
      `SELECT m.user_uuid AS user, g.roles FROM group_members m JOIN user_groups g ON g.uuid = m.group_uuid
       WHERE m.user_uuid IN (${inList}) AND g.roles IS NOT NULL`;
    const rows = await selectWhereIn<{ user: string; roles: JsonText<readonly string[]> }>(tx, users, toSql);
    return rows.map(({ user, roles }) => ({ user, roles: fromJson(roles) }));
  }
}

/**
 * Builds the WHERE clause that selects the memberships of the given users in one group. Its parameters are the users,
 * followed by the group. Without the index hint, MariaDB would read all members of a large group.
 */
const buildMembersWhere = (sql: Sql, users: readonly string[]): string =>
  `${indexHintOf(sql, 'ix_group_members_user')} WHERE m.user_uuid IN (${toPlaceholders(users.length)}) AND m.group_uuid = ?`;
