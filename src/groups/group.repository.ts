import { Inject, Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { type JsonText, fromJson } from '../platform/common/json.js';
import {
  type Sql,
  byIndex,
  countRows,
  forUpdate,
  insertRows,
  placeholders,
  selectIn,
  updateRow,
} from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { GroupEntity, GroupMemberEntity } from './group.entity.js';
import { type Group, type GroupRow, toGroup, toGroupRow } from './group.js';

export const GROUP_COLUMNS = 'uuid, display_name, external_id, roles, created, updated, version';
const SELECT = `SELECT ${GROUP_COLUMNS} FROM user_groups`;

/** Members read in one statement. */
const AT_ONCE = 5000;

/** A group as its members show it. */
type NamedGroup = Pick<Group, 'uuid' | 'display_name'>;

/** A role of a user by a group. */
interface RolesByGroup {
  user_uuid: string;
  roles: JsonText<readonly string[]>;
}

/** Hand-written SQL: groups are locked while they change, and members are sets of any size (ADR 0013). */
@Injectable()
export class GroupRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async find(uuid: string, sql: Sql = this.database): Promise<Group | undefined> {
    const row = await sql.first<GroupRow>(`${SELECT} WHERE uuid = ?`, [uuid]);
    return row && toGroup(row);
  }

  /** As `find`; no other can change the group or its members until the transaction ends. */
  async lock(tx: Sql, uuid: string): Promise<Group | undefined> {
    const row = await tx.first<GroupRow>(`${SELECT} WHERE uuid = ?${forUpdate(tx)}`, [uuid]);
    return row && toGroup(row);
  }

  /** The group that has this value, which belongs to one. */
  async owner(tx: Sql, column: 'display_name_key' | 'external_id', key: string): Promise<string | undefined> {
    const sql = `SELECT uuid FROM user_groups WHERE ${column} = ?`;
    return (await tx.first<{ uuid: string }>(sql, [key]))?.uuid;
  }

  /** Which of these are groups. */
  async groupsAmong(tx: Sql, uuids: readonly string[]): Promise<string[]> {
    const text = (list: string) => `SELECT uuid FROM user_groups WHERE uuid IN (${list})`;
    return (await selectIn<{ uuid: string }>(tx, uuids, text)).map(({ uuid }) => uuid);
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

  /** Members behind a uuid, in their order. */
  async members(group: string, after: string, limit: number, sql: Sql = this.database): Promise<string[]> {
    const rows = await sql.query<{ user_uuid: string }>(
      `SELECT user_uuid FROM group_members WHERE group_uuid = ? AND user_uuid > ?
       ORDER BY user_uuid LIMIT ?`,
      [group, after, limit],
    );
    return rows.map(({ user_uuid }) => user_uuid);
  }

  /** All members, or as many as `most`, in some statements. */
  async allMembers(group: string, sql: Sql = this.database, most = Infinity): Promise<string[]> {
    const found: string[] = [];
    for (;;) {
      const limit = Math.min(AT_ONCE, most - found.length);
      const part = await this.members(group, found.at(-1) ?? '', limit, sql);
      found.push(...part);
      if (part.length < limit || found.length >= most) return found;
      await setImmediate(); // SQLite reads in this thread
    }
  }

  /** Whether a group has more members than `count`: counted in its index, without reading their ids. */
  async hasMoreThan(group: string, count: number, sql: Sql = this.database): Promise<boolean> {
    const text = 'SELECT 1 AS one FROM group_members WHERE group_uuid = ? LIMIT 1 OFFSET ?';
    return (await sql.query<{ one: number }>(text, [group, count])).length > 0;
  }

  /** The members of some groups; undefined where they have more than `most` together. */
  async membersOf(groups: readonly string[], most: number): Promise<Map<string, string[]> | undefined> {
    const text = (list: string) =>
      `SELECT group_uuid, user_uuid FROM group_members WHERE group_uuid IN (${list})
       ORDER BY group_uuid, user_uuid LIMIT ${most + 1}`;
    const rows = await selectIn<GroupMemberEntity>(this.database, groups, text);
    if (rows.length > most) return undefined;
    const groupsOfRows = Map.groupBy(rows, ({ group_uuid }) => group_uuid);
    return new Map([...groupsOfRows].map(([group, of]) => [group, of.map(({ user_uuid }) => user_uuid)]));
  }

  /** The groups of users: uuid of the user → its groups, by name. */
  async groupsOf(users: readonly string[], sql: Sql = this.database): Promise<Map<string, NamedGroup[]>> {
    const rows = await selectIn<NamedGroup & { user_uuid: string }>(
      sql,
      users,
      (list) =>
        `SELECT m.user_uuid, g.uuid, g.display_name FROM group_members m JOIN user_groups g ON g.uuid = m.group_uuid
         WHERE m.user_uuid IN (${list}) ORDER BY m.user_uuid, g.display_name_key`,
    );
    return Map.groupBy(rows, ({ user_uuid }) => user_uuid);
  }

  async countMembers(group: string): Promise<number> {
    const text = 'SELECT COUNT(*) AS count FROM group_members WHERE group_uuid = ?';
    return countRows(this.database, text, [group]);
  }

  /** Which of these users, some hundreds at most, are members. */
  async membersAmong(tx: Sql, group: string, users: readonly string[]): Promise<Set<string>> {
    const rows = await tx.query<{ user_uuid: string }>(
      `SELECT m.user_uuid FROM group_members AS m${named(tx, users)}`,
      [...users, group],
    );
    return new Set(rows.map(({ user_uuid }) => user_uuid));
  }

  async addMembers(tx: Sql, group: string, users: readonly string[]): Promise<void> {
    await insertRows(tx, GroupMemberEntity, membershipsOf(group, users));
  }

  /** @param users some hundreds at most. */
  async removeMembers(tx: Sql, group: string, users: readonly string[]): Promise<void> {
    const target = tx.dialect === 'mysql' ? 'm ' : ''; // MySQL takes an index in this form only
    await tx.execute(`DELETE ${target}FROM group_members AS m${named(tx, users)}`, [...users, group]);
  }

  /** The roles that users have by their groups: one entry a group that has roles. */
  async rolesByGroups(
    tx: Sql,
    users: readonly string[],
  ): Promise<{ user: string; roles: readonly string[] }[]> {
    const rows = await selectIn<RolesByGroup>(
      tx,
      users,
      (list) =>
        `SELECT m.user_uuid, g.roles FROM group_members m JOIN user_groups g ON g.uuid = m.group_uuid
         WHERE m.user_uuid IN (${list}) AND g.roles IS NOT NULL`,
    );
    return rows.map(({ user_uuid, roles }) => ({ user: user_uuid, roles: fromJson(roles) }));
  }
}

/**
 * Some users, and then a group: by the index of users, because MariaDB would take that of groups for a list, and look at
 * all members of a large one.
 */
const named = (sql: Sql, users: readonly string[]): string =>
  `${byIndex(sql, 'ix_group_members_user')} WHERE m.user_uuid IN (${placeholders(users.length)}) AND m.group_uuid = ?`;

const membershipsOf = (group_uuid: string, users: readonly string[]): GroupMemberEntity[] =>
  users.map((user_uuid) => ({ group_uuid, user_uuid }));
