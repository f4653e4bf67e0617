import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../database/database.js';
import type { SqlValue } from '../database/sql.js';
import { USER_COLUMNS, type User, type UserRow, toUser } from './user.model.js';
import type { Order } from './user.query.js';
import {
  type Clause,
  type Filter,
  type Form,
  type Segment,
  behind,
  inForm,
  where,
} from './user.search-plan.js';

/** A user with its key in the order of the page. */
export interface Hit {
  key: string | number | null;
  user: User;
}

export interface Stretch {
  form: Form;
  segment: Segment;
  order: Order;
  after: { key: SqlValue; uuid: string } | undefined;
  offset: number;
  limit: number;
}

/** Name → value. */
export type Counters = ReadonlyMap<string, number>;

@Injectable()
export class UserSearchRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** The users of one stretch. The order is found in the narrow index; only the rows of the page are read. */
  async page(filter: Filter, { form, segment, order, after, offset, limit }: Stretch): Promise<Hit[]> {
    const conditions = inForm(filter.conditions, form);
    if (segment.condition) conditions.push({ sql: segment.condition, params: [] });
    if (after) conditions.push(behind(segment.key, order, after));
    const { sql, params } = where(conditions);
    const direction = order.toUpperCase();
    const rows = await this.database.query<UserRow & { page_key: Hit['key'] }>(
      `SELECT p.page_key, ${USER_COLUMNS.map((column) => `v.${column}`).join(', ')}
       FROM (SELECT u.uuid, ${segment.key} AS page_key FROM users u ${joins(filter)} WHERE ${sql}
             ORDER BY ${segment.key} ${direction}, u.uuid ${direction} LIMIT ? OFFSET ?) p
       JOIN users v ON v.uuid = p.uuid ORDER BY p.page_key ${direction}, p.uuid ${direction}`,
      [...joinParams(filter), ...params, limit, offset],
    );
    return rows.map(({ page_key: key, ...row }) => ({ key, user: toUser(row) }));
  }

  /** Number of users, in one stretch or in all. */
  async count(filter: Omit<Filter, 'countedStatuses'>, segment?: Segment): Promise<number> {
    const conditions: Clause[] = [...filter.conditions];
    if (segment?.condition) conditions.push({ sql: segment.condition, params: [] });
    const { sql, params } = where(conditions);
    const row = await this.database.first<{ n: number }>(
      `SELECT COUNT(*) AS n FROM users u ${joins(filter)} WHERE ${sql}`,
      [...joinParams(filter), ...params],
    );
    return row?.n ?? 0;
  }

  /** What is counted in the transaction of every change. */
  async counters(): Promise<Counters> {
    const rows = await this.database.query<{ name: string; value: number }>(
      'SELECT name, value FROM user_counters',
    );
    return new Map(rows.map(({ name, value }) => [name, value]));
  }
}

type Joined = Pick<Filter, 'joins'>;
const joins = (filter: Joined): string => filter.joins.map(({ sql }) => sql).join(' ');
const joinParams = (filter: Joined): SqlValue[] => filter.joins.flatMap(({ params }) => params);
