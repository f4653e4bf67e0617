import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../../database/engine/database.js';
import type { SqlValue } from '../../database/engine/sql.js';
import { USER_COLUMNS, type User, type UserRow, toUser } from '../model/user.js';
import type { Order } from './user.query.js';
import {
  type Clause,
  type Filter,
  type Form,
  type Position,
  type Range,
  boundOf,
  inForm,
  partsOf,
  where,
} from './search-plan.js';

/** A user with its key in the order of the page. */
export interface Hit {
  key: string | number | null;
  user: User;
}

/** A part of a page in one statement. */
export interface PagePart {
  form: Form;
  key: string;
  order: Order;
  part: Clause;
  offset: number;
  limit: number;
  /** Whether it may take longer than this thread has. */
  aside: boolean;
}

/** Matches of words that are joined and sorted in this thread. */
const FEW_MATCHES = 500;

const SHOWN = USER_COLUMNS.map((column) => `v.${column}`).join(', ');

@Injectable()
export class UserSearchRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** The parts of a range, from a position on, one after another. */
  parts(range: Range, order: Order, after: Position | undefined): Clause[] {
    return partsOf(range, order, after, this.database.dialect);
  }

  /** Whether no keys bound what a search costs, so that it may not run in this thread. */
  async isBroad(filter: Filter): Promise<boolean> {
    if (this.database.dialect === 'mysql') return false; // its server works beside this thread
    const bound = boundOf(filter);
    return bound === 'words' ? (await this.matches(filter.words)) > FEW_MATCHES : bound === undefined;
  }

  /** The users of one part. The narrow index gives the order; only the rows of the page are read. */
  async page(filter: Filter, { form, key, order, part, offset, limit, aside }: PagePart): Promise<Hit[]> {
    const { sql, params } = where([...inForm(filter.conditions, form), part]);
    const direction = order.toUpperCase();
    const rows = await this.select<UserRow & { page_key: Hit['key'] }>(
      aside,
      `SELECT p.page_key, ${SHOWN}
       FROM (SELECT u.uuid, ${key} AS page_key FROM users u ${joins(filter)} WHERE ${sql}
             ORDER BY ${key} ${direction}, u.uuid ${direction} LIMIT ? OFFSET ?) p
       JOIN users v ON v.uuid = p.uuid ORDER BY p.page_key ${direction}, p.uuid ${direction}`,
      [...joinParams(filter), ...params, limit, offset],
    );
    // The key stays in the row: a copy without it takes as long as reading it.
    return rows.map((row) => ({ key: row.page_key, user: toUser(row) }));
  }

  /** Number of users, in one part or in all. */
  async count(filter: Filter, aside: boolean, part?: Clause): Promise<number> {
    const { sql, params } = where([...filter.conditions, ...(part ? [part] : [])]);
    const [row] = await this.select<{ n: number }>(
      aside,
      `SELECT COUNT(*) AS n FROM users u ${joins(filter)} WHERE ${sql}`,
      [...joinParams(filter), ...params],
    );
    return row?.n ?? 0;
  }

  /** Rows that the words have together, counted up to a bound. */
  private async matches(words: readonly Clause[]): Promise<number> {
    const counts = words.map(
      ({ sql }) => `(SELECT COUNT(*) FROM (SELECT 1 FROM ${sql} LIMIT ${FEW_MATCHES + 1}))`,
    );
    const row = await this.database.first<{ n: number }>(
      `SELECT ${counts.join(' + ')} AS n`,
      words.flatMap(({ params }) => params),
    );
    return row?.n ?? 0;
  }

  private select<T extends object>(aside: boolean, sql: string, params: readonly SqlValue[]): Promise<T[]> {
    return aside ? this.database.aside<T>(sql, params) : this.database.query<T>(sql, params);
  }
}

type Joined = Pick<Filter, 'joins'>;
const joins = (filter: Joined): string => filter.joins.map(({ sql }) => sql).join(' ');
const joinParams = (filter: Joined): SqlValue[] => filter.joins.flatMap(({ params }) => params);
