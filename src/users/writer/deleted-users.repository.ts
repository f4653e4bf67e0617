import { Inject, Injectable } from '@nestjs/common';
import { toJson } from '../../platform/common/json.js';
import { type DbTime, DAY_SECONDS, addSeconds, now } from '../../platform/common/time.js';
import { Env } from '../../platform/config/env.js';
import {
  type Sql,
  type Clause,
  type SqlValue,
  buildWhere,
  indexHintOf,
  deleteRows,
  lockClauseOf,
  chunkValues,
  joinClauses,
  toClause,
  insertRows,
  orderedJoinOperatorOf,
  toPlaceholders,
  selectWhereIn,
} from '../../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import type { Direction } from '../../platform/database/keyset-pages.js';
import { toExactKey, toLoginKey, toNameSortKey } from '../model/comparison-keys.js';
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
const MAX_WORDS = 10;

export interface DeletedRow {
  user: User;
  deleted: DbTime;
}

export interface DeletedFilter {
  /** Earliest time of deletion. */
  since?: string;
  uuid?: string;
  /** Words that each occur in the name, username, e-mail address or external id. */
  search?: string;
  order?: Direction;
}

/**
 * Stores deleted users (ADR 23). A user whose retention period has ended is never found, even before the purge. Uses
 * hand-written SQL for whole sets.
 */
@Injectable()
export class DeletedUsersRepository {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly env: Env,
  ) {}

  /** Computes the time of the oldest deletion whose retention period has not ended. */
  private computeOldestTime(): DbTime {
    return addSeconds(now(), -this.env.SCIM_DELETED_DAYS * DAY_SECONDS);
  }

  private readonly isRetained = ({ deleted }: DeletedUserEntity): boolean =>
    deleted >= this.computeOldestTime();

  /** @param deletions the deleted users, each with the data set of the run whose revert deletes the user. */
  async moveToDeletedUsers(
    tx: Sql,
    deletions: readonly { user: User; reverted_dataset: string | null }[],
    time: string,
  ): Promise<void> {
    const rows = deletions.flatMap(({ user, reverted_dataset }) => {
      if (isTemporary(user)) return [];
      const row = toUserRow(user);
      const { uuid, external_id_key } = row;
      return { uuid, deleted: time, external_id_key, reverted_dataset, document: toJson<UserRow>(row) };
    });
    await insertRows(tx, DeletedUserEntity, rows);
    const uuids = deletions.map(({ user }) => user.uuid);
    await deleteRows(tx, UserEntity, 'uuid', uuids);
  }

  /** @param tx transaction that locks the users, if any. */
  async find(uuids: readonly string[], tx?: Sql): Promise<Map<string, User>> {
    const lock = tx ? lockClauseOf(tx) : '';
    const toSql = (list: string) =>
      `SELECT uuid, deleted, document FROM deleted_users WHERE uuid IN (${list}) ORDER BY uuid${lock}`;
    const rows = await selectWhereIn<DeletedUserEntity>(tx ?? this.database, uuids.toSorted(), toSql);
    const retained = rows.filter(this.isRetained);
    return new Map(retained.map(({ uuid, document }) => [uuid, parseStoredUser(document)]));
  }

  /**
   * Finds deleted users. With `dataset`, leaves out the users that a revert of a run of this data set deleted.
   * @returns a map from the comparison key of each external id to the user who was deleted last.
   */
  async findDeletedElsewhere(externalIds: readonly string[], dataset?: string): Promise<Map<string, User>> {
    const from = `deleted_users${indexHintOf(this.database, 'ix_deleted_users_external_id')}`;
    const toSql = (list: string) =>
      `SELECT external_id_key, deleted, reverted_dataset, document FROM ${from} WHERE external_id_key IN (${list})
       ORDER BY deleted, uuid`;
    const rows = await selectWhereIn<DeletedUserEntity>(this.database, externalIds.map(toExactKey), toSql);
    const elsewhere = rows.filter((row) => row.reverted_dataset !== dataset && this.isRetained(row));
    return new Map(elsewhere.map((row) => [row.external_id_key ?? '', parseStoredUser(row.document)]));
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
    const toSql = (list: string) =>
      `SELECT group_uuid, user_uuid FROM group_members WHERE user_uuid IN (${list})`;
    const rows = await selectWhereIn<{ group_uuid: string; user_uuid: string }>(tx, users, toSql);
    if (rows.length === 0) return new Map();
    for (const part of chunkValues(users)) {
      await tx.execute(`DELETE FROM group_members WHERE user_uuid IN (${toPlaceholders(part.length)})`, part);
    }
    for (const part of chunkValues([...new Set(rows.map(({ group_uuid }) => group_uuid))].sort())) {
      const list = toPlaceholders(part.length);
      const sql = `UPDATE user_groups SET version = version + 1, updated = ? WHERE uuid IN (${list})`;
      await tx.execute(sql, [time, ...part]);
    }
    const byUser = Map.groupBy(rows, ({ user_uuid }) => user_uuid);
    return new Map([...byUser].map(([user, all]) => [user, all.map(({ group_uuid }) => group_uuid)]));
  }

  /**
   * Counts deleted users and reads a page of them, in the order of deletion.
   * @param signal stops the statements. Required for a search by words, which reads all deleted users.
   */
  async listPage(
    filter: DeletedFilter,
    { offset, limit }: { offset: number; limit: number },
    signal?: AbortSignal,
  ): Promise<{ count: number; users: DeletedRow[] }> {
    const oldest = this.computeOldestTime();
    const since = filter.since !== undefined && filter.since > oldest ? filter.since : oldest;
    const { sql: where, params } = toCondition({ ...filter, since }, this.database.dialect);
    const query = <T extends object>(sql: string, values: readonly SqlValue[]) =>
      signal ? this.database.scan<T>(sql, values, signal) : this.database.query<T>(sql, values);
    const countSql = `SELECT COUNT(*) AS count FROM deleted_users WHERE ${where}`;
    const [counted] = await query<{ count: number }>(countSql, params);
    const order = filter.order ?? 'asc';
    const rows = await query<DeletedUserEntity>(
      `SELECT d.deleted, d.document FROM
         (SELECT uuid FROM deleted_users WHERE ${where} ORDER BY deleted ${order}, uuid ${order} LIMIT ? OFFSET ?) AS part
       ${orderedJoinOperatorOf(this.database)} deleted_users d ON d.uuid = part.uuid
       ORDER BY d.deleted ${order}, d.uuid ${order}`,
      [...params, limit, offset],
    );
    const users = rows.map(({ deleted, document }) => ({ deleted, user: parseStoredUser(document) }));
    return { count: counted?.count ?? 0, users };
  }

  /**
   * Permanently removes a batch of users whose retention period has ended.
   * @returns true if more of them may remain.
   */
  async purge(): Promise<boolean> {
    const sql = 'SELECT uuid FROM deleted_users WHERE deleted < ? ORDER BY deleted, uuid LIMIT ?';
    const params = [this.computeOldestTime(), PURGE_BATCH_SIZE];
    const rows = await this.database.query<{ uuid: string }>(sql, params);
    const uuids = rows.map(({ uuid }) => uuid);
    await deleteRows(this.database, DeletedUserEntity, 'uuid', uuids);
    return rows.length === PURGE_BATCH_SIZE;
  }
}

/** Members of a stored document in which a search looks for words, with the functions that normalize the words. */
const SEARCHED = [
  ['username_key', toLoginKey],
  ['email_key', toLoginKey],
  ['firstname_sort', toNameSortKey],
  ['surname_sort', toNameSortKey],
  ['external_id', (word: string): string => word],
] as const;

function toCondition({ since = '', uuid, search }: DeletedFilter, dialect: Sql['dialect']): Clause {
  const valueFunction = dialect === 'mysql' ? 'JSON_VALUE' : 'json_extract';
  const toWordCondition = (word: string): Clause => {
    const members = SEARCHED.map(([member, normalize]) =>
      toClause(`INSTR(${valueFunction}(document, '$.${member}'), ?) > 0`, normalize(word)),
    );
    const { sql, params } = joinClauses(members, ' OR ');
    return toClause(`(${sql})`, ...params);
  };
  return buildWhere([
    toClause('deleted >= ?', since),
    ...(uuid === undefined ? [] : [toClause('uuid = ?', uuid.toLowerCase())]),
    ...(search?.split(/\s+/u, MAX_WORDS) ?? []).map(toWordCondition),
  ]);
}
