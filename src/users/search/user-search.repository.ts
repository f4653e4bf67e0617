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
}

const SHOWN = USER_COLUMNS.map((column) => `v.${column}`).join(', ');

@Injectable()
export class UserSearchRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** The parts of a range, from a position on, one after another. */
  parts(range: Range, order: Order, after: Position | undefined): Clause[] {
    return partsOf(range, order, after, this.database.dialect);
  }

  /** The users of one part. The narrow index gives the order; only the rows of the page are read. */
  async page(filter: Filter, { form, key, order, part, offset, limit }: PagePart): Promise<Hit[]> {
    const { sql, params } = where([...inForm(filter.conditions, form), part]);
    const direction = order.toUpperCase();
    const rows = await this.database.query<UserRow & { page_key: Hit['key'] }>(
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
  async count(filter: Filter, part?: Clause): Promise<number> {
    const { sql, params } = where([...filter.conditions, ...(part ? [part] : [])]);
    const row = await this.database.first<{ n: number }>(
      `SELECT COUNT(*) AS n FROM users u ${joins(filter)} WHERE ${sql}`,
      [...joinParams(filter), ...params],
    );
    return row?.n ?? 0;
  }
}

type Joined = Pick<Filter, 'joins'>;
const joins = (filter: Joined): string => filter.joins.map(({ sql }) => sql).join(' ');
const joinParams = (filter: Joined): SqlValue[] => filter.joins.flatMap(({ params }) => params);
