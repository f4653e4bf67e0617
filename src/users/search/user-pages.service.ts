import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { type Clause, type SqlValue, where } from '../../platform/database/engine/sql.js';
import {
  type Page,
  type PageOrder,
  type Place,
  type Position,
  type Range,
  readPage,
} from '../../platform/database/keyset-pages.js';
import { USER_COLUMNS, type User, type UserRow, toUser } from '../model/user.js';
import { UserCounts } from '../writer/user-counts.service.js';

/** Users `u` of some tables who meet all conditions. */
export interface UserSet {
  /** Tables with `users u`, where that table alone is not enough. */
  from?: Clause | undefined;
  tests: readonly Clause[];
  /** The conditions of a count, where those of a page have another form. */
  counted?: readonly Clause[];
}

/** A user with the position in the order of the page. */
export interface Hit extends Position {
  user: User;
}

/** Users that a page may pass over in this thread, because they come before it or have another status. */
export const PASSED_OVER = 10_000;
/** Up to this many matches are looked up and sorted without asking how many users there are. */
const HANDFUL = 500;
/** Below this share of all users, looking the matches up costs less than walking an index that may have them last. */
const FEW = 1 / 10;

const SHOWN = USER_COLUMNS.map((column) => `v.${column}`).join(', ');

/** Hand-written SQL: numbers and pages of users, for all lists of the API and of SCIM (ADR 13). */
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
   * Reads a page in an order that an index gives.
   * @param usersOf the users of a range. @param isEmpty true for a range that is known to have no users.
   * @param signal where the page may take longer than this thread has: another process reads it then, until the signal.
   */
  async read<R extends Range>(
    usersOf: (range: R) => UserSet,
    order: PageOrder<R>,
    place: Place,
    signal: AbortSignal | undefined,
    isEmpty?: (range: R) => Promise<boolean>,
  ): Promise<Page<Hit>> {
    const direction = order.order.toUpperCase();
    const source = {
      // The narrow index gives the order. Only the rows of the page are read.
      read: async (range: R, part: Clause, offset: number, limit: number): Promise<Hit[]> => {
        const { key, tie = 'u.uuid' } = range;
        const { sql, params } = textOf(usersOf(range), part);
        const sorted = [...(key === NO_KEY ? [] : [key]), tie].map((by) => `${by} ${direction}`).join(', ');
        const rows = await this.select<UserRow & { page_key: Hit['key'] }>(
          `SELECT p.page_key, ${SHOWN}
           FROM (SELECT u.uuid, ${key} AS page_key ${sql} ORDER BY ${sorted} LIMIT ? OFFSET ?) p
           JOIN users v ON v.uuid = p.uuid ORDER BY p.page_key ${direction}, p.uuid ${direction}`,
          [...params, limit, offset],
          signal,
        );
        // The key stays in the row: a copy without it takes as long as reading it.
        return rows.map((row) => ({ key: row.page_key, uuid: row.uuid, user: toUser(row) }));
      },
      count: (range: R, part: Clause) => this.count(usersOf(range), signal, part),
      ...(isEmpty && { isEmpty }),
    };
    return readPage(source, order, place, this.dialect);
  }

  /** Number of users, in one part of an order or in all. */
  async count(
    { from, tests, counted = tests }: UserSet,
    signal: AbortSignal | undefined,
    part?: Clause,
  ): Promise<number> {
    const { sql, params } = textOf({ from, tests: counted }, part);
    return this.number(`SELECT COUNT(*) AS n ${sql}`, params, signal);
  }

  /** As `count`, up to a bound. */
  async countUpTo(users: UserSet, most: number, signal: AbortSignal | undefined): Promise<number> {
    const { sql, params } = textOf(users);
    const text = `SELECT COUNT(*) AS n FROM (SELECT 1 ${sql} LIMIT ?) AS counted`;
    return this.number(text, [...params, most], signal);
  }

  /** The first users in the order of their creation: ids and times. */
  async first(
    users: UserSet,
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<{ uuid: string; created: string }[]> {
    const { sql, params } = textOf(users);
    const text = `SELECT u.uuid, u.created ${sql} ORDER BY u.created, u.uuid LIMIT ?`;
    return this.select(text, [...params, limit], signal);
  }

  /** True where so many matches are few: a page of few is found among them, a page of many by a walk in its order. */
  async areFew(count: number, all?: number): Promise<boolean> {
    if (all === undefined && count <= HANDFUL) return true;
    return count < FEW * (all ?? (await this.counts.users([])).all);
  }

  private async number(
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
    return signal ? this.database.aside<T>(sql, params, signal) : this.database.query<T>(sql, params);
  }
}

/** The key of users who have none: they are sorted by their ids alone. */
export const NO_KEY = 'NULL';

/** `FROM … WHERE …` */
function textOf({ from, tests }: UserSet, part?: Clause): Clause {
  const { sql, params } = where(part ? [...tests, part] : tests);
  return { sql: `FROM ${from?.sql ?? 'users u'} WHERE ${sql}`, params: [...(from?.params ?? []), ...params] };
}
