import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { type Clause, type SqlValue, buildWhere } from '../../platform/database/engine/sql.js';
import {
  type KeysetPage,
  type PageOrder,
  type PageWindow,
  type Position,
  type KeyRange,
  readPage,
} from '../../platform/database/keyset-pages.js';
import { USER_COLUMNS, type User, type UserRow, toUser } from '../model/user.js';
import { UserCounts } from '../writer/user-counts.service.js';

export interface UserSet {
  /** Tables to read, by default `users u`. A join must include `users u`. */
  from?: Clause | undefined;
  tests: readonly Clause[];
  /** Equivalent conditions that are faster for counting, by default `tests`. */
  counted?: readonly Clause[];
}

export interface Hit extends Position {
  user: User;
}

/** Maximum number of users that a query may skip before its page. A query that skips more users is broad. */
export const MAX_SKIPPED_USERS = 10_000;
/** Up to this number of matches, `isLookUpFaster` returns true without counting all users. */
const ALWAYS_FEW = 500;
/** Share of matching users below which looking up the matches is faster than reading all users in sort order. */
const FEW_SHARE = 1 / 10;

const PAGE_COLUMNS = USER_COLUMNS.map((column) => `v.${column}`).join(', ');

/** Counts users and reads pages of users for all lists of the API and of SCIM. Uses hand-written SQL (ADR 13). */
@Injectable()
export class UserPages {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly counts: UserCounts,
  ) {}

  get dialect(): Database['dialect'] {
    return this.database.dialect;
  }

  /**
   * Reads a page of users.
   * @param usersOf returns the tables and conditions for one range of the order.
   * @param isEmpty returns true if a range is known to be empty.
   * @param signal stops the statement when it aborts. Set it for slow reads, which SQLite then runs in the read worker.
   */
  async read<R extends KeyRange>(
    usersOf: (range: R) => UserSet,
    order: PageOrder<R>,
    window: PageWindow,
    signal: AbortSignal | undefined,
    isEmpty?: (range: R) => Promise<boolean>,
  ): Promise<KeysetPage<Hit>> {
    const direction = order.order.toUpperCase();
    const source = {
      // The inner query reads only the index, to find the uuids. The join then reads the rows of these users.
      read: async (range: R, part: Clause, offset: number, limit: number): Promise<Hit[]> => {
        const { key, tie = 'u.uuid' } = range;
        const { sql, params } = buildFromWhere(usersOf(range), part);
        const isSorted = key !== NO_KEY && typeof range.only !== 'number';
        const sorted = [...(isSorted ? [key] : []), tie].map((by) => `${by} ${direction}`).join(', ');
        const rows = await this.select<UserRow & { page_key: Hit['key'] }>(
          `SELECT p.page_key, ${PAGE_COLUMNS}
           FROM (SELECT ${idOf(range)}, ${key} AS page_key ${sql} ORDER BY ${sorted} LIMIT ? OFFSET ?) p
           JOIN users v ON v.uuid = p.uuid ORDER BY p.page_key ${direction}, p.uuid ${direction}`,
          [...params, limit, offset],
          signal,
        );
        // `page_key` stays in the row, because copying the row without it would be slow.
        return rows.map((row) => ({ key: row.page_key, uuid: row.uuid, user: toUser(row) }));
      },
      count: (range: R, part: Clause) => this.count(usersOf(range), signal, part),
      ...(isEmpty && { isEmpty }),
    };
    return readPage(source, order, window, this.dialect);
  }

  async count(
    { from, tests, counted = tests }: UserSet,
    signal: AbortSignal | undefined,
    part?: Clause,
  ): Promise<number> {
    const { sql, params } = buildFromWhere({ from, tests: counted }, part);
    return this.readNumber(`SELECT COUNT(*) AS n ${sql}`, params, signal);
  }

  /** Counts users by a key that has few values. */
  async countByKey(
    users: UserSet,
    key: string,
    signal: AbortSignal | undefined,
  ): Promise<{ value: number; n: number }[]> {
    const { sql, params } = buildFromWhere(users);
    return this.select(`SELECT ${key} AS value, COUNT(*) AS n ${sql} GROUP BY ${key}`, params, signal);
  }

  /** Counts users, but at most `max`. */
  async countUpTo(users: UserSet, max: number, signal: AbortSignal | undefined): Promise<number> {
    const { sql, params } = buildFromWhere(users);
    const text = `SELECT COUNT(*) AS n FROM (SELECT 1 ${sql} LIMIT ?) AS counted`;
    return this.readNumber(text, [...params, max], signal);
  }

  async listOldest(
    users: UserSet,
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<{ uuid: string; created: string }[]> {
    const { sql, params } = buildFromWhere(users);
    const text = `SELECT u.uuid, u.created ${sql} ORDER BY u.created, u.uuid LIMIT ?`;
    return this.select(text, [...params, limit], signal);
  }

  /**
   * Returns true if looking up the matches is faster than reading users in sort order.
   * @param userCount number of all users, if known.
   */
  async isLookUpFaster(matchCount: number, userCount?: number): Promise<boolean> {
    if (userCount === undefined && matchCount <= ALWAYS_FEW) return true;
    return matchCount < FEW_SHARE * (userCount ?? (await this.counts.countUsers([])).all);
  }

  private async readNumber(
    sql: string,
    params: readonly SqlValue[],
    signal: AbortSignal | undefined,
  ): Promise<number> {
    return (await this.select<{ n: number }>(sql, params, signal))[0]?.n ?? 0;
  }

  private select<T extends object>(
    sql: string,
    params: readonly SqlValue[],
    signal: AbortSignal | undefined,
  ): Promise<T[]> {
    return signal ? this.database.scan<T>(sql, params, signal) : this.database.query<T>(sql, params);
  }
}

/** Sort key for lists that are sorted only by uuid. */
export const NO_KEY = 'NULL';

const idOf = ({ tie, only }: KeyRange): string =>
  typeof only === 'number' && tie ? `${tie} AS uuid` : 'u.uuid';

function buildFromWhere({ from, tests }: UserSet, part?: Clause): Clause {
  const { sql, params } = buildWhere(part ? [...tests, part] : tests);
  return { sql: `FROM ${from?.sql ?? 'users u'} WHERE ${sql}`, params: [...(from?.params ?? []), ...params] };
}
