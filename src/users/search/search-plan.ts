import type { Dialect, SqlValue } from '../../platform/database/engine/sql.js';
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
  /** Whether an index leads to the users that meet it, and whether there is one of them at most. */
  key?: 'unique' | 'some';
  /** The query parameter that it is made of, where an index leads to its matches. */
  parameter?: string;
}

/** The matches of one word: a table and its condition. */
export interface Word extends Clause {
  /** As it was asked for: `jan*`. */
  text: string;
}

/** What is searched: joins and conditions over `users u`, all of which must hold. */
export interface Filter {
  joins: readonly Clause[];
  conditions: readonly Condition[];
  /** The statuses, when nothing else is asked: then the counters know the number. */
  countedStatuses: readonly string[] | undefined;
  /** Sum of the weights of the matched words. */
  score: string;
  words: readonly Word[];
}

/** A range of an order: within it users are sorted by key, then by uuid, both in the same direction. */
export interface Range {
  key: string;
  /** A condition on the key that all of its users meet. */
  test?: string;
  /** The key that all of its users have. */
  only?: '' | null;
  /** Whether no two users share a key. */
  unique: boolean;
  /** The uuid by which users of one key are sorted: `u.uuid`, unless another table leads to them. */
  tie?: string;
}

/** The position after a user, in the order of a page. */
export interface Position {
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
    key: UNIQUE_COLUMNS.has(column) && test === '= ?' ? 'unique' : 'some',
  };
}

const UNIQUE_COLUMNS: ReadonlySet<string> = new Set(['username_key', 'email_key', 'external_id_key']);

/**
 * What must be known to tell that the cost of a filter is bounded by keys: `nothing` for one exact filter, or none at all;
 * how many users have its `words`; undefined where only the search itself would tell.
 */
export function boundOf({ joins, conditions }: Filter): 'nothing' | 'words' | undefined {
  const keys = conditions.flatMap(({ key }) => key ?? []);
  if (joins.length > 0) return keys.length === 0 ? 'words' : undefined;
  return keys.length === 0 || (keys.length === 1 && keys[0] === 'unique') ? 'nothing' : undefined;
}

/** The conditions as a page of few or many takes them. */
export const inForm = (conditions: readonly Condition[], form: Form): Clause[] =>
  conditions.map((condition) => ({ sql: condition[form], params: condition.params }));

const UNIQUE: ReadonlySet<Sort> = new Set(['username', 'email', 'external_id']);

/**
 * The ranges of an order. Empty values come last in both directions: descending, empty texts do so by themselves;
 * otherwise they are a range of their own, so that one index on (key, uuid) serves every page. A page of few users needs
 * no index: a plus sign keeps SQLite from using it, and MariaDB ignores the sign.
 */
export function rangesOf(sort: Sort, order: Order, score: string, form: Form): Range[] {
  if (sort === 'relevance') return [{ key: score, unique: false }];
  const key = form === 'few' ? `+${COLUMNS[sort]}` : COLUMNS[sort];
  const range = { key, unique: UNIQUE.has(sort) };
  if (sort === 'external_id')
    return [
      { ...range, test: 'IS NOT NULL' },
      { ...range, only: null },
    ];
  const named = sort === 'firstname' || sort === 'surname';
  if (!named || order === 'desc') return [range];
  return [
    { ...range, test: "> ''" },
    { ...range, only: '' },
  ];
}

/** What a search names that may have many matches, each with a statement of one row per match. */
export function namedParts({ words, conditions }: Filter): (Clause & { name: string })[] {
  return [
    ...words.map(({ text, sql, params }) => ({
      name: `"${text}" in fulltext_search`,
      sql: `SELECT 1 FROM ${sql}`,
      params,
    })),
    ...conditions.flatMap(({ parameter, few, params }) =>
      parameter === undefined ? [] : [{ name: parameter, sql: `SELECT 1 FROM users u WHERE ${few}`, params }],
    ),
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
 * The parts of a range that come after a position: first the users with the same key, then those with a key beyond it.
 * Each part is one range of the index. In one statement they would not be, and every page would read all users who share
 * a common key.
 */
export function partsOf(range: Range, order: Order, after: Position | undefined, dialect: Dialect): Clause[] {
  const { key, test, only, unique, tie = 'u.uuid' } = range;
  if (!after) {
    return [
      only === undefined ? { sql: test ? `${key} ${test}` : '1 = 1', params: [] } : alike(key, only, dialect),
    ];
  }
  const beyond = order === 'asc' ? '>' : '<';
  const { sql, params } = alike(key, after.key, dialect);
  const same = { sql: `${sql} AND ${tie} ${beyond} ?`, params: [...params, after.uuid] };
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
