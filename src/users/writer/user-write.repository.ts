import { Injectable } from '@nestjs/common';
import {
  type Sql,
  deleteKeys,
  deleteRows,
  forUpdate,
  insertRows,
  selectIn,
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
import { USER_COLUMNS, type User, type UserRow, toRow, toUser } from '../model/user.js';

/** Rules that look at more than the users that change. */
export type SharedRule = 'managers' | 'webmasters';

/** Look-up rows that users do not have any more, and those that they have not had. */
interface Difference<T> {
  gone: readonly T[];
  added: readonly T[];
}

const WORD_KEY = ['word', 'user_uuid'] as const;

/** The statements of the user writer: each serves a whole set, and all run in the writer's transaction. */
@Injectable()
export class UserWriteRepository {
  /** The current users, locked until the transaction ends. In the order of uuid, so that two sets seldom deadlock. */
  async lock(tx: Sql, uuids: readonly string[]): Promise<Map<string, User>> {
    const rows = await selectIn<UserRow>(
      tx,
      uuids.toSorted(),
      (list) =>
        `SELECT ${USER_COLUMNS.join(', ')} FROM users WHERE uuid IN (${list}) ORDER BY uuid${forUpdate(tx)}`,
    );
    return new Map(rows.map((row) => [row.uuid, toUser(row)]));
  }

  /** Who has which of the identifiers. */
  async owners(sql: Sql, identifiers: readonly string[]): Promise<Map<string, Owner>> {
    const rows = await selectIn<Owner & { identifier: string }>(
      sql,
      [...new Set(identifiers)],
      (list) =>
        `SELECT i.identifier, u.uuid, u.external_id FROM user_identifiers i JOIN users u ON u.uuid = i.user_uuid
         WHERE i.identifier IN (${list})`,
    );
    return new Map(rows.map(({ identifier, ...owner }) => [identifier, owner]));
  }

  /** The users and everybody above them, each with its manager. */
  async managersAbove(sql: Sql, uuids: readonly string[]): Promise<Map<string, string | null>> {
    const rows = await selectIn<{ uuid: string; manager_uuid: string | null }>(
      sql,
      uuids,
      (list) =>
        `WITH RECURSIVE chain (uuid, manager_uuid) AS (
           SELECT uuid, manager_uuid FROM users WHERE uuid IN (${list})
           UNION
           SELECT u.uuid, u.manager_uuid FROM users u JOIN chain c ON u.uuid = c.manager_uuid
         ) SELECT uuid, manager_uuid FROM chain`,
    );
    return new Map(rows.map((row) => [row.uuid, row.manager_uuid]));
  }

  /**
   * Changes that one rule must judge together take turns from here until their transactions end. The row is written, and
   * not only locked: a cluster notices two writes of a row, but no lock of another node (ADR 15).
   */
  async takeTurn(tx: Sql, rule: SharedRule): Promise<void> {
    const rows = await tx.execute('UPDATE user_rules SET changes = changes + 1 WHERE name = ?', [rule]);
    if (rows !== 1) throw new Error(`user_rules has no row ${rule}`);
  }

  /** One user at a time is changed column by column: SQLite writes the entries of all indexes of an upsert anew. */
  async saveUsers(
    tx: Sql,
    created: readonly UserEntity[],
    changed: readonly { before: User | undefined; user: User }[],
  ): Promise<void> {
    await insertRows(tx, UserEntity, created);
    const [{ before, user } = {}] = changed;
    if (changed.length === 1 && before && user)
      return updateRow(tx, UserEntity, 'uuid', toRow(before), toRow(user));
    const rows = changed.map((each) => toRow(each.user));
    return upsertRows(tx, UserEntity, ['uuid'], rows);
  }

  /** First everything is given up, then taken: an identifier may move from one user of the set to another. */
  async moveIdentifiers(
    tx: Sql,
    given: readonly string[],
    taken: readonly UserIdentifierEntity[],
  ): Promise<void> {
    await deleteRows(tx, UserIdentifierEntity, 'identifier', given);
    await insertRows(tx, UserIdentifierEntity, inOrder(taken, 'identifier'));
  }

  async moveRoles(tx: Sql, { gone, added }: Difference<UserRoleEntity>): Promise<void> {
    await deleteKeys(tx, UserRoleEntity, ['role', 'user_uuid'], gone);
    await insertRows(tx, UserRoleEntity, inOrder(added, 'role'));
  }

  async moveValues(tx: Sql, { gone, added }: Difference<UserValueEntity>): Promise<void> {
    await deleteKeys(tx, UserValueEntity, ['attribute', 'value_key', 'user_uuid'], gone);
    await insertRows(tx, UserValueEntity, inOrder(added, 'value_key'));
  }

  /** @param changed rows of users that had words before: those with another weight are overwritten. */
  async moveWords(
    tx: Sql,
    { gone, added, changed }: Difference<UserWordEntity> & { changed: readonly UserWordEntity[] },
  ): Promise<void> {
    await deleteKeys(tx, UserWordEntity, WORD_KEY, gone);
    await upsertRows(tx, UserWordEntity, WORD_KEY, changed);
    await insertRows(tx, UserWordEntity, inOrder(added, 'word'));
  }
}

/** Rows in the order of their key: neighbours share a page, and two sets with the same keys do not deadlock. */
function inOrder<T extends object>(rows: readonly T[], key: keyof T): readonly T[] {
  return rows.toSorted((a, b) => (a[key] < b[key] ? -1 : Number(a[key] > b[key])));
}
