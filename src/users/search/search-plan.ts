import { type Clause, type SqlValue, clause } from '../../platform/database/engine/sql.js';
import {
  type Direction,
  type PageOrder,
  type Range,
  splitEmpty,
} from '../../platform/database/keyset-pages.js';
import type { UserSet } from './user-pages.service.js';
import type { Sort } from './user.query.js';

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

/** What is searched: `users u` joined with the matches of its words, and conditions, all of which must hold. */
export interface Filter extends UserSet {
  tests: readonly Condition[];
  /** The statuses, when nothing else is asked: then the counters know the number. */
  countedStatuses: readonly string[] | undefined;
  /** Sum of the weights of the matched words. */
  score: string;
  words: readonly Word[];
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
  ...clause(sql, ...params),
  few: sql,
  many: sql,
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
export function boundOf({ words, tests }: Filter): 'nothing' | 'words' | undefined {
  const keys = tests.flatMap(({ key }) => key ?? []);
  if (words.length > 0) return keys.length === 0 ? 'words' : undefined;
  return keys.length === 0 || (keys.length === 1 && keys[0] === 'unique') ? 'nothing' : undefined;
}

/** The users as a page of few or many finds them. */
export const inForm = ({ from, tests }: Filter, form: Form): UserSet => ({
  from,
  tests: tests.map((test) => clause(test[form], ...test.params)),
  counted: tests,
});

const UNIQUE: ReadonlySet<Sort> = new Set(['username', 'email', 'external_id']);

/**
 * The order of a page. Empty values come last in both directions: descending, empty texts do so by themselves; otherwise
 * they are a range of their own, so that one index on (key, uuid) serves every page. A page of few users needs no index: a
 * plus sign keeps SQLite from using it, and MariaDB ignores the sign.
 */
export function orderOf(sort: Sort, order: Direction, score: string, form: Form): PageOrder {
  if (sort === 'relevance') return { order, ranges: [{ key: score, holds: 'number', unique: false }] };
  const key = form === 'few' ? `+${COLUMNS[sort]}` : COLUMNS[sort];
  const range: Range = { key, unique: UNIQUE.has(sort) };
  if (sort === 'updated' || sort === 'created') return { order, ranges: [{ ...range, holds: 'time' }] };
  const named = sort === 'firstname' || sort === 'surname';
  if (sort !== 'external_id' && !(named && order === 'asc')) return { order, ranges: [range] };
  return { order, ranges: splitEmpty(range, named ? '' : null) };
}

/** What a search names that may have many matches, each with a statement of one row per match. */
export function namedParts({ words, tests }: Filter): (Clause & { name: string })[] {
  return [
    ...words.map(({ text, sql, params }) => ({
      name: `"${text}" in fulltext_search`,
      sql: `SELECT 1 FROM ${sql}`,
      params,
    })),
    ...tests.flatMap(({ parameter, few, params }) =>
      parameter === undefined ? [] : [{ name: parameter, sql: `SELECT 1 FROM users u WHERE ${few}`, params }],
    ),
  ];
}
