import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { type SqlValue, select } from '../../platform/database/engine/sql.js';
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
  namedParts,
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
  /** Given where it may take longer than this thread has: it runs beside it then, until the signal stops it. */
  signal: AbortSignal | undefined;
}

/** Matches of words that are joined and sorted in this thread. */
const FEW_MATCHES = 500;
/** Matches of one part of a search that are counted to find the one with the most. */
const COUNTED_MATCHES = 10_000;

const SHOWN = USER_COLUMNS.map((column) => `v.${column}`).join(', ');

@Injectable()
export class UserSearchRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** The parts of a range, from a position on, one after another. */
  parts(range: Range, order: Order, after: Position | undefined): Clause[] {
    return partsOf(range, order, after, this.database.dialect);
  }

  /** Whether no keys bound what a search costs. */
  async isBroad(filter: Filter): Promise<boolean> {
    const bound = boundOf(filter);
    return bound === 'words' ? (await this.matches(filter.words)) > FEW_MATCHES : bound === undefined;
  }

  /** The users of one part. The narrow index gives the order; only the rows of the page are read. */
  async page(filter: Filter, { form, key, order, part, offset, limit, signal }: PagePart): Promise<Hit[]> {
    const { sql, params } = where([...inForm(filter.conditions, form), part]);
    const direction = order.toUpperCase();
    const rows = await select<UserRow & { page_key: Hit['key'] }>(
      this.database,
      signal,
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
  async count(filter: Filter, signal: AbortSignal | undefined, part?: Clause): Promise<number> {
    const { sql, params } = where([...filter.conditions, ...(part ? [part] : [])]);
    const [row] = await select<{ n: number }>(
      this.database,
      signal,
      `SELECT COUNT(*) AS n FROM users u ${joins(filter)} WHERE ${sql}`,
      [...joinParams(filter), ...params],
    );
    return row?.n ?? 0;
  }

  /** The name of the part of a search that has the most matches; undefined for a search without parts. */
  async broadest(filter: Filter, signal: AbortSignal): Promise<string | undefined> {
    const parts: { name: string; n: number }[] = [];
    for (const { name, sql, params } of namedParts(filter)) {
      const counting = `SELECT COUNT(*) AS n FROM (${sql} LIMIT ${COUNTED_MATCHES}) AS part`;
      const [row] = await this.database.aside<{ n: number }>(counting, params, signal);
      parts.push({ name, n: row?.n ?? 0 });
    }
    return parts.toSorted((one, other) => other.n - one.n)[0]?.name;
  }

  /** Rows that the words have together, counted up to a bound. */
  private async matches(words: readonly Clause[]): Promise<number> {
    const counts = words.map(
      ({ sql }, index) =>
        `(SELECT COUNT(*) FROM (SELECT 1 FROM ${sql} LIMIT ${FEW_MATCHES + 1}) AS w${index})`,
    );
    const row = await this.database.first<{ n: number }>(
      `SELECT ${counts.join(' + ')} AS n`,
      words.flatMap(({ params }) => params),
    );
    return row?.n ?? 0;
  }
}

type Joined = Pick<Filter, 'joins'>;
const joins = (filter: Joined): string => filter.joins.map(({ sql }) => sql).join(' ');
const joinParams = (filter: Joined): SqlValue[] => filter.joins.flatMap(({ params }) => params);
