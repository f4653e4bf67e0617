import type { Dialect, SqlValue } from '../../database/engine/sql.js';
import type { Order, Sort } from './user.query.js';

/** A piece of SQL with the values of its placeholders. */
export interface Clause {
  sql: string;
  params: readonly SqlValue[];
}

/** How many of the users match: a page of few is found among them, a page of many in the order of its sort. */
export type Form = 'few' | 'many';

/** A condition over `users u` in forms that say the same. No engine chooses well between them: none knows how matches are spread. */
export interface Condition extends Clause {
  /** Looks the matches up first, by the index of the condition. */
  few: string;
  /** Is asked of one user after the other, and keeps its index out of it. */
  many: string;
}

/** What is searched: joins and conditions over `users u`, all of which must hold. */
export interface Filter {
  joins: readonly Clause[];
  conditions: readonly Condition[];
  /** The statuses, when nothing else is asked: then the counters know the number. */
  countedStatuses: readonly string[] | undefined;
  /** Sum of the weights of the matched words. */
  score: string;
}

/** A stretch of an order: within it the key decides, then the uuid, both in the same direction. */
export interface Segment {
  key: string;
  /** What holds of the key of all of it. */
  test?: string;
  /** The key that all of it have. */
  only?: '' | null;
  /** Whether no two users share a key. */
  unique: boolean;
}

/** Behind a user, in the order of a page. */
export interface Place {
  key: SqlValue;
  uuid: string;
}

const COLUMNS: Readonly<Record<Exclude<Sort, 'relevance'>, string>> = {
  updated: 'u.updated',
  created: 'u.created',
  firstname: 'u.firstname_sort',
  surname: 'u.surname_sort',
  username: 'u.username_key',
  email: 'u.email_key',
  external_id: 'u.external_id_key',
  status: 'u.status',
};

/** A condition that has one form. */
export const always = (sql: string, ...params: readonly SqlValue[]): Condition => ({
  sql,
  few: sql,
  many: sql,
  params,
});

/** A condition on a column that has an index. Where the users are sorted by that column, the index serves both. */
export function indexed(column: string, test: string, sort: Sort, ...params: SqlValue[]): Condition {
  const sql = `u.${column} ${test}`;
  return {
    sql,
    few: `u.uuid IN (SELECT uuid FROM users WHERE ${column} ${test})`,
    many: sort !== 'relevance' && COLUMNS[sort] === `u.${column}` ? sql : `+${sql}`,
    params,
  };
}

/** The conditions as a page of few or many takes them. */
export const inForm = (conditions: readonly Condition[], form: Form): Clause[] =>
  conditions.map((condition) => ({ sql: condition[form], params: condition.params }));

const UNIQUE: ReadonlySet<Sort> = new Set(['username', 'email', 'external_id']);

/**
 * The stretches of an order. Empty values come last in both directions: descending empty texts do so by themselves,
 * otherwise they are a stretch of their own, so that one index on (key, uuid) serves every page. Of few users none is
 * needed: a plus keeps SQLite from it, and MariaDB does not see it.
 */
export function segmentsOf(sort: Sort, order: Order, score: string, form: Form): Segment[] {
  if (sort === 'relevance') return [{ key: score, unique: false }];
  const key = form === 'few' ? `+${COLUMNS[sort]}` : COLUMNS[sort];
  const stretch = { key, unique: UNIQUE.has(sort) };
  if (sort === 'external_id')
    return [
      { ...stretch, test: 'IS NOT NULL' },
      { ...stretch, only: null },
    ];
  const named = sort === 'firstname' || sort === 'surname';
  if (!named || order === 'desc') return [stretch];
  return [
    { ...stretch, test: "> ''" },
    { ...stretch, only: '' },
  ];
}

/** `AND`-ed conditions with their values; `1 = 1` when there are none. */
export function where(conditions: readonly Clause[]): Clause {
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND ') || '1 = 1',
    params: conditions.flatMap(({ params }) => params),
  };
}

/**
 * A stretch, or the users of it behind a place: first those with the same key, then those with a key beyond it. Each
 * is one range of the index; together they are none, and users who share their key with many would be read each time.
 */
export function partsOf(
  segment: Segment,
  order: Order,
  after: Place | undefined,
  dialect: Dialect,
): Clause[] {
  const { key, test, only, unique } = segment;
  if (!after) {
    return [
      only === undefined ? { sql: test ? `${key} ${test}` : '1 = 1', params: [] } : alike(key, only, dialect),
    ];
  }
  const beyond = order === 'asc' ? '>' : '<';
  const { sql, params } = alike(key, after.key, dialect);
  const same = { sql: `${sql} AND u.uuid ${beyond} ?`, params: [...params, after.uuid] };
  const others = { sql: `${key} ${beyond} ?`, params: [after.key] };
  if (only !== undefined || after.key === null) return [same];
  return unique ? [others] : [same, others];
}

/** MariaDB answers an equality by all rows that have the key, sorted by uuid; a range it reads in order. */
function alike(key: string, value: SqlValue, dialect: Dialect): Clause {
  if (dialect === 'sqlite') return { sql: `${key} IS ?`, params: [value] };
  return value === null
    ? { sql: `(${key} IS NULL OR ${key} < '')`, params: [] }
    : { sql: `${key} >= ? AND ${key} <= ?`, params: [value, value] };
}
