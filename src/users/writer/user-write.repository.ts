import { Injectable } from '@nestjs/common';
import {
  type Sql,
  deleteByKeys,
  deleteRows,
  lockClauseOf,
  insertRows,
  selectWhereIn,
  updateRow,
  upsertRows,
} from '../../platform/database/engine/sql.js';
import type { Owner } from '../set-rules/identifier-changes.js';
import {
  UserIdentifierEntity,
  UserRoleEntity,
  UserValueEntity,
  UserWordEntity,
} from '../model/user-lookups.entity.js';
import { UserEntity } from '../model/user.entity.js';
import { USER_COLUMNS, type User, type UserRow, toUserRow, toUser } from '../model/user.js';

/** Set rules that can also depend on users outside of the change set. */
export type SharedRule = 'managers' | 'webmasters';

interface Difference<T> {
  removed: readonly T[];
  added: readonly T[];
}

const WORD_KEY = ['word', 'user_uuid'] as const;

/** Runs the SQL statements of the user writer in its transaction, each for a whole change set. */
@Injectable()
export class UserWriteRepository {
  /**
   * Locks users in the order of their uuids, to avoid deadlocks.
   * @param skipsLocked true to omit users that another transaction has locked, instead of waiting for these locks.
   */
  async lock(tx: Sql, uuids: readonly string[], skipsLocked = false): Promise<Map<string, User>> {
    const clause = lockClauseOf(tx) + (skipsLocked && tx.dialect === 'mysql' ? ' SKIP LOCKED' : '');
    const toSql = (list: string) =>
      `SELECT ${USER_COLUMNS.join(', ')} FROM users WHERE uuid IN (${list}) ORDER BY uuid${clause}`;
    const rows = await selectWhereIn<UserRow>(tx, uuids.toSorted(), toSql);
    return new Map(rows.map((row) => [row.uuid, toUser(row)]));
  }

  /** @returns a map from each identifier to the user who has it. */
  async findOwners(sql: Sql, identifiers: readonly string[]): Promise<Map<string, Owner>> {
    const toSql = (list: string) =>
      `SELECT i.identifier, u.uuid, u.external_id FROM user_identifiers i JOIN users u ON u.uuid = i.user_uuid
       WHERE i.identifier IN (${list})`;
    const rows = await selectWhereIn<Owner & { identifier: string }>(sql, [...new Set(identifiers)], toSql);
    return new Map(rows.map(({ identifier, ...owner }) => [identifier, owner]));
  }

  /**
   * Finds all direct and indirect managers of the users.
   * @returns for each of these users and managers, the uuid of the next manager or null.
   */
  async findManagers(sql: Sql, uuids: readonly string[]): Promise<Map<string, string | null>> {
    const toSql = (list: string) =>
      `WITH RECURSIVE chain (uuid, manager_uuid) AS (
         SELECT uuid, manager_uuid FROM users WHERE uuid IN (${list})
         UNION
         SELECT u.uuid, u.manager_uuid FROM users u JOIN chain c ON u.uuid = c.manager_uuid
       ) SELECT uuid, manager_uuid FROM chain`;
    const rows = await selectWhereIn<{ uuid: string; manager_uuid: string | null }>(sql, uuids, toSql);
    return new Map(rows.map((row) => [row.uuid, row.manager_uuid]));
  }

  /**
   * Locks a set rule until the transaction ends. Updates a row, because a database cluster detects conflicting writes,
   * but not the locks of other nodes (ADR 15).
   */
  async lockRule(tx: Sql, rule: SharedRule): Promise<void> {
    const rows = await tx.execute('UPDATE user_rules SET changes = changes + 1 WHERE name = ?', [rule]);
    if (rows !== 1) throw new Error(`user_rules has no row ${rule}`);
  }

  /**
   * Stores new and changed users. For a single changed user, and for all users in SQLite, writes only the changed
   * columns, because an upsert in SQLite rewrites all indexes.
   */
  async saveUsers(
    tx: Sql,
    created: readonly UserEntity[],
    changed: readonly { before: User; user: User }[],
  ): Promise<void> {
    await insertRows(tx, UserEntity, created);
    if (changed.length === 1 || tx.dialect === 'sqlite') {
      for (const { before, user } of changed)
        await updateRow(tx, UserEntity, 'uuid', toUserRow(before), toUserRow(user));
      return;
    }
    const rows = changed.map((each) => toUserRow(each.user));
    return upsertRows(tx, UserEntity, ['uuid'], rows);
  }

  /**
   * Updates the identifiers of users. Deletes released identifiers first, because another user of the set may get them.
   */
  async updateIdentifiers(
    tx: Sql,
    released: readonly string[],
    taken: readonly UserIdentifierEntity[],
  ): Promise<void> {
    await deleteRows(tx, UserIdentifierEntity, 'identifier', released);
    await insertRows(tx, UserIdentifierEntity, sortByKey(taken, 'identifier'));
  }

  async updateRoles(tx: Sql, { removed, added }: Difference<UserRoleEntity>): Promise<void> {
    await deleteByKeys(tx, UserRoleEntity, ['role', 'user_uuid'], removed);
    await insertRows(tx, UserRoleEntity, sortByKey(added, 'role'));
  }

  async updateValues(tx: Sql, { removed, added }: Difference<UserValueEntity>): Promise<void> {
    await deleteByKeys(tx, UserValueEntity, ['attribute', 'value_key', 'user_uuid'], removed);
    await insertRows(tx, UserValueEntity, sortByKey(added, 'value_key'));
  }

  /**
   * Updates search words.
   * @param added words of new and restored users.
   * @param changed words of existing users, if the word or its weight is new.
   */
  async updateWords(
    tx: Sql,
    { removed, added, changed }: Difference<UserWordEntity> & { changed: readonly UserWordEntity[] },
  ): Promise<void> {
    await deleteByKeys(tx, UserWordEntity, WORD_KEY, removed);
    await upsertRows(tx, UserWordEntity, WORD_KEY, changed);
    await insertRows(tx, UserWordEntity, sortByKey(added, 'word'));
  }
}

/** Sorts rows by their key, to write neighbouring rows to the same database page and to avoid deadlocks. */
function sortByKey<T extends object>(rows: readonly T[], key: keyof T): readonly T[] {
  return rows.toSorted((a, b) => (a[key] < b[key] ? -1 : Number(a[key] > b[key])));
}
