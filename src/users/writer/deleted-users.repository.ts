import { Inject, Injectable } from '@nestjs/common';
import { toJson } from '../../platform/common/json.js';
import {
  type Sql,
  countRows,
  deleteRows,
  lockClauseOf,
  chunkValues,
  insertRows,
  orderedJoinOperatorOf,
  toPlaceholders,
  selectWhereIn,
} from '../../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { DeletedUserEntity } from '../model/deleted-user.entity.js';
import { UserEntity } from '../model/user.entity.js';
import {
  USER_COLUMNS,
  type User,
  type UserRow,
  isTemporary,
  parseStoredUser,
  toUserRow,
  toUser,
} from '../model/user.js';

const PURGE_BATCH_SIZE = 500;

export interface DeletedUser {
  user: User;
  deleted: string;
}

/** Stores deleted users (ADR 23). Uses hand-written SQL for whole sets. */
@Injectable()
export class DeletedUsersRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async moveToDeletedUsers(tx: Sql, users: readonly User[], time: string): Promise<void> {
    const rows = users.flatMap((user) => {
      if (isTemporary(user)) return [];
      const { uuid, external_id } = user;
      return { uuid, deleted: time, external_id, document: toJson<UserRow>(toUserRow(user)) };
    });
    await insertRows(tx, DeletedUserEntity, rows);
    const uuids = users.map(({ uuid }) => uuid);
    await deleteRows(tx, UserEntity, 'uuid', uuids);
  }

  async lock(tx: Sql, uuids: readonly string[]): Promise<Map<string, User>> {
    return this.find(uuids, tx, lockClauseOf(tx));
  }

  async find(uuids: readonly string[], sql: Sql = this.database, lock = ''): Promise<Map<string, User>> {
    const toSql = (list: string) =>
      `SELECT uuid, document FROM deleted_users WHERE uuid IN (${list}) ORDER BY uuid${lock}`;
    const rows = await selectWhereIn<DeletedUserEntity>(sql, uuids.toSorted(), toSql);
    return new Map(rows.map(({ uuid, document }) => [uuid, parseStoredUser(document)]));
  }

  async remove(tx: Sql, uuids: readonly string[]): Promise<void> {
    await deleteRows(tx, DeletedUserEntity, 'uuid', uuids);
  }

  async lockReports(tx: Sql, managers: readonly string[]): Promise<User[]> {
    const columns = USER_COLUMNS.join(', ');
    const toSql = (list: string) =>
      `SELECT ${columns} FROM users WHERE manager_uuid IN (${list}) ORDER BY manager_uuid, uuid${lockClauseOf(tx)}`;
    return (await selectWhereIn<UserRow>(tx, managers, toSql)).map(toUser);
  }

  /**
   * Removes users from all groups and increases the versions of these groups.
   * @returns the uuids of the former groups of each user.
   */
  async removeFromGroups(tx: Sql, users: readonly string[], time: string): Promise<Map<string, string[]>> {
    const groups = new Map<string, string[]>();
    const toSql = (list: string) =>
      `SELECT group_uuid, user_uuid FROM group_members WHERE user_uuid IN (${list})`;
    const rows = await selectWhereIn<{ group_uuid: string; user_uuid: string }>(tx, users, toSql);
    if (rows.length === 0) return groups;
    for (const { group_uuid, user_uuid } of rows)
      groups.set(user_uuid, [...(groups.get(user_uuid) ?? []), group_uuid]);
    for (const part of chunkValues(users)) {
      await tx.execute(`DELETE FROM group_members WHERE user_uuid IN (${toPlaceholders(part.length)})`, part);
    }
    for (const part of chunkValues([...new Set(rows.map(({ group_uuid }) => group_uuid))].sort())) {
      const list = toPlaceholders(part.length);
      const sql = `UPDATE user_groups SET version = version + 1, updated = ? WHERE uuid IN (${list})`;
      await tx.execute(sql, [time, ...part]);
    }
    return groups;
  }

  /**
   * Counts deleted users and reads a page of them, in the order of deletion.
   * @param since earliest time of deletion.
   */
  async listPage(
    since: string,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<{ count: number; users: DeletedUser[] }> {
    const countSql = 'SELECT COUNT(*) AS count FROM deleted_users WHERE deleted >= ?';
    const count = await countRows(this.database, countSql, [since]);
    const rows = await this.database.query<DeletedUserEntity>(
      `SELECT d.deleted, d.document FROM
         (SELECT uuid FROM deleted_users WHERE deleted >= ? ORDER BY deleted, uuid LIMIT ? OFFSET ?) AS part
       ${orderedJoinOperatorOf(this.database)} deleted_users d ON d.uuid = part.uuid ORDER BY d.deleted, d.uuid`,
      [since, limit, offset],
    );
    const users = rows.map(({ deleted, document }) => ({ deleted, user: parseStoredUser(document) }));
    return { count, users };
  }

  /**
   * Permanently removes a batch of users who were deleted before `time`.
   * @returns true if more of them may remain.
   */
  async purge(time: string): Promise<boolean> {
    const sql = 'SELECT uuid FROM deleted_users WHERE deleted < ? ORDER BY deleted, uuid LIMIT ?';
    const rows = await this.database.query<{ uuid: string }>(sql, [time, PURGE_BATCH_SIZE]);
    const uuids = rows.map(({ uuid }) => uuid);
    await deleteRows(this.database, DeletedUserEntity, 'uuid', uuids);
    return rows.length === PURGE_BATCH_SIZE;
  }
}
