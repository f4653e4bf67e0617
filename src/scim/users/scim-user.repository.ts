import { Inject, Injectable } from '@nestjs/common';
import { WEBMASTER } from '../../access/roles.js';
import { selectIn } from '../../platform/database/engine/bulk.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { type Sql, type SqlValue, select } from '../../platform/database/engine/sql.js';
import type { Clause } from '../../users/search/search-plan.js';
import { where } from '../../users/search/search-plan.js';
import { USER_COLUMNS, type User, type UserRow, toUser } from '../../users/model/user.js';
import type { Test } from './keyed-values.js';
import type { Membership } from './user.mapping.js';
import { NO_KEY, type Within } from './user-order.js';

/** The users that are looked at: those that `source` selects, or all, of whom all `tests` over `users u` hold. */
export interface Scope extends Within {
  /** None where a look-up leads to them. */
  source: Clause | undefined;
  tests: readonly Test[];
}

/** A user with its key in the order of the page. */
export interface Hit {
  key: SqlValue;
  user: User;
}

/** A part of a page, in the order of `key` and then of uuid. */
export interface PagePart {
  key: string;
  order: 'asc' | 'desc';
  /** The uuid by which users of one key are sorted. */
  tie: string | undefined;
  part: Clause;
  offset: number;
  limit: number;
}

/** Webmasters without external id, who do not exist for some keys. */
export const OPERATORS: Clause = {
  sql: `(u.external_id_key IS NULL AND EXISTS
    (SELECT 1 FROM user_roles h WHERE h.role = ? AND h.user_uuid = u.uuid))`,
  params: [WEBMASTER],
};

const SHOWN = USER_COLUMNS.map((column) => `v.${column}`).join(', ');

/** Hand-written SQL: lists whose cost an index bounds, or that run beside the service until the signal stops them (ADR 24). */
@Injectable()
export class ScimUserRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  get dialect(): Database['dialect'] {
    return this.database.dialect;
  }

  /** The groups of users: uuid of the user → its groups, by name. */
  async memberships(uuids: readonly string[], sql: Sql = this.database): Promise<Map<string, Membership[]>> {
    const rows = await selectIn<Membership & { user_uuid: string }>(
      sql,
      uuids,
      (list) =>
        `SELECT m.user_uuid, g.uuid, g.display_name FROM group_members m JOIN user_groups g ON g.uuid = m.group_uuid
         WHERE m.user_uuid IN (${list}) ORDER BY m.user_uuid, g.display_name_key`,
    );
    const found = new Map<string, Membership[]>();
    for (const { user_uuid, ...group } of rows)
      found.set(user_uuid, [...(found.get(user_uuid) ?? []), group]);
    return found;
  }

  /** Users by uuid, in any order; who is not there any more is left out. */
  async users(uuids: readonly string[]): Promise<User[]> {
    const text = (list: string) => `SELECT ${USER_COLUMNS.join(', ')} FROM users WHERE uuid IN (${list})`;
    return (await selectIn<UserRow>(this.database, uuids, text)).map(toUser);
  }

  /** How many operators there are, of a status or of both. There are few. */
  async countOperators(status: string | undefined): Promise<number> {
    const row = await this.database.first<{ n: number }>(
      `SELECT COUNT(*) AS n FROM user_roles r JOIN users u ON u.uuid = r.user_uuid
       WHERE r.role = ? AND u.external_id_key IS NULL${status === undefined ? '' : ' AND u.status = ?'}`,
      [WEBMASTER, ...(status === undefined ? [] : [status])],
    );
    return row?.n ?? 0;
  }

  /** How many users have a value of an attribute with a look-up. */
  async countValues(attribute: string, signal: AbortSignal | undefined): Promise<number> {
    const sql = 'SELECT COUNT(*) AS n FROM user_values WHERE attribute = ?';
    const [row] = await select<{ n: number }>(this.database, signal, sql, [attribute]);
    return row?.n ?? 0;
  }

  async count(scope: Scope, signal: AbortSignal | undefined): Promise<number> {
    const { sql, params } = this.matching(scope);
    const [row] = await select<{ n: number }>(this.database, signal, `SELECT COUNT(*) AS n ${sql}`, params);
    return row?.n ?? 0;
  }

  /** As `count`, up to a bound. */
  async countUpTo(scope: Scope, most: number, signal: AbortSignal | undefined): Promise<number> {
    const { sql, params } = this.matching(scope);
    const [row] = await select<{ n: number }>(
      this.database,
      signal,
      `SELECT COUNT(*) AS n FROM (SELECT 1 ${sql} LIMIT ?) AS counted`,
      [...params, most],
    );
    return row?.n ?? 0;
  }

  /** The users of one part. The narrow index gives the order; only the rows of the page are read. */
  async page(
    scope: Scope,
    { key, order, tie = 'u.uuid', part, offset, limit }: PagePart,
    signal: AbortSignal | undefined,
  ): Promise<Hit[]> {
    const { sql, params } = this.matching({ ...scope, tests: [...scope.tests, part] });
    const direction = order.toUpperCase();
    const sorted = [...(key === NO_KEY ? [] : [key]), tie].map((by) => `${by} ${direction}`).join(', ');
    const rows = await select<UserRow & { page_key: SqlValue }>(
      this.database,
      signal,
      `SELECT p.page_key, ${SHOWN}
       FROM (SELECT u.uuid, ${key} AS page_key ${sql}
             ORDER BY ${sorted} LIMIT ? OFFSET ?) p
       JOIN users v ON v.uuid = p.uuid ORDER BY p.page_key ${direction}, p.uuid ${direction}`,
      [...params, limit, offset],
    );
    return rows.map((row) => ({ key: row.page_key, user: toUser(row) }));
  }

  /** The first `limit` users in the order of their creation: ids and times. */
  async candidates(
    scope: Scope,
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<{ uuid: string; created: string }[]> {
    const { sql, params } = this.matching(scope);
    return select(
      this.database,
      signal,
      `SELECT u.uuid, u.created ${sql} ORDER BY u.created, u.uuid LIMIT ?`,
      [...params, limit],
    );
  }

  /** The users of a scope: tables and conditions. */
  private matching({ source, tests, lookUp, without }: Scope): Clause {
    const { sql, params } = where([
      ...(lookUp === undefined ? [] : [{ sql: 's.attribute = ?', params: [lookUp] }]),
      ...tests,
      ...(without === undefined
        ? []
        : [{ sql: 'JSON_EXTRACT(u.attributes, ?) IS NULL', params: [`$.${without}`] }]),
    ]);
    return {
      sql: `FROM ${this.tables(source, lookUp)} WHERE ${sql}`,
      params: [...(source?.params ?? []), ...params],
    };
  }

  private tables(source: Clause | undefined, lookUp: string | undefined): string {
    if (source) return `(${source.sql}) AS c JOIN users u ON u.uuid = c.uuid`;
    if (lookUp === undefined) return 'users u';
    // In this order, whatever the engine thinks: the look-up is sorted.
    const join = this.dialect === 'sqlite' ? 'CROSS JOIN' : 'STRAIGHT_JOIN';
    return `user_values s ${join} users u ON u.uuid = s.user_uuid`;
  }
}
