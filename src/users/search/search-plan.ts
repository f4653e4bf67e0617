import { type Clause, type SqlValue, toClause } from '../../platform/database/engine/sql.js';
import {
  type Direction,
  type PageOrder,
  type KeyRange,
  splitByEmptyKey,
} from '../../platform/database/keyset-pages.js';
import type { UserSet } from './user-pages.service.js';
import type { Sort } from './user.query.js';

/**
 * Form of a condition. `few` looks up the matching users and sorts them. `many` reads users in the order of the page
 * and tests each one.
 */
export type ConditionForm = 'few' | 'many';

/**
 * A condition on `users u` in two equivalent forms. No database engine chooses well between the two, so the service
 * chooses.
 */
export interface Condition extends Clause {
  /** SQL that looks up the matches with the index of the condition. */
  few: string;
  /** SQL that tests a user without the index of the condition. */
  many: string;
  /** Set for a condition with an index: `unique` if at most one user can match, otherwise `some`. */
  key?: 'unique' | 'some';
  /** Name of the query parameter, for a condition with an index. */
  parameter?: string;
}

/** Table and condition that select the matches of one word. */
export interface WordMatch extends Clause {
  /** The folded word or prefix, such as `jan*`. */
  text: string;
}

/** The users to search: `users u`, joined with the matches of each word, and conditions joined with AND. */
export interface UserFilter extends UserSet {
  tests: readonly Condition[];
  /** Statuses to find. Undefined for a search with other conditions, which `UserCounts` cannot count. */
  countedStatuses: readonly string[] | undefined;
  /** SQL for the sum of the weights of the matched words. */
  score: string;
  words: readonly WordMatch[];
}

const SORT_COLUMNS: Readonly<Record<Exclude<Sort, 'relevance'>, string>> = {
  updated: 'u.updated',
  created: 'u.created',
  firstname: 'u.firstname_sort',
  surname: 'u.surname_sort',
  username: 'u.username_key',
  email: 'u.email_key',
  external_id: 'u.external_id_key',
  status: 'u.status',
};

/** Creates a condition without an index, whose two forms are the same. */
export function buildCondition(sql: string, ...params: readonly SqlValue[]): Condition {
  return { ...toClause(sql, ...params), few: sql, many: sql };
}

/** Creates a condition on an indexed column. The `many` form uses the index only if it also sorts the page. */
export function compare(column: string, test: string, sort: Sort, ...params: SqlValue[]): Condition {
  const sql = `u.${column} ${test}`;
  return {
    sql,
    few: `u.uuid IN (SELECT uuid FROM users WHERE ${column} ${test})`,
    many: sort !== 'relevance' && SORT_COLUMNS[sort] === `u.${column}` ? sql : `+${sql}`,
    params,
    key: UNIQUE_COLUMNS.has(column) && test === '= ?' ? 'unique' : 'some',
  };
}

const UNIQUE_COLUMNS: ReadonlySet<string> = new Set(['username_key', 'email_key', 'external_id_key']);

/**
 * Returns `nothing` if the cost of a filter is bounded, and `words` if it depends on the number of word matches.
 * Returns undefined if nothing bounds the cost.
 */
export function getCostBound({ words, tests }: UserFilter): 'nothing' | 'words' | undefined {
  const keys = tests.flatMap(({ key }) => key ?? []);
  if (words.length > 0) return keys.length === 0 ? 'words' : undefined;
  return keys.length === 0 || (keys.length === 1 && keys[0] === 'unique') ? 'nothing' : undefined;
}

/** Returns the users that match a filter, with its conditions in one form. */
export function toUserSet({ from, tests }: UserFilter, form: ConditionForm): UserSet {
  return { from, tests: tests.map((test) => toClause(test[form], ...test.params)), counted: tests };
}

const UNIQUE_SORTS: ReadonlySet<Sort> = new Set(['username', 'email', 'external_id']);

/**
 * Builds the order of a page. Empty values are last in both directions. Where the index does not sort them last, they
 * form a separate range, so that the index on (key, uuid) serves every page. The form `few` adds a plus sign, which
 * keeps SQLite from using the index of the sort field. MariaDB ignores the sign.
 */
export function buildUserOrder(sort: Sort, order: Direction, score: string, form: ConditionForm): PageOrder {
  if (sort === 'relevance') return { order, ranges: [{ key: score, holds: 'number', unique: false }] };
  const key = form === 'few' ? `+${SORT_COLUMNS[sort]}` : SORT_COLUMNS[sort];
  const range: KeyRange = { key, unique: UNIQUE_SORTS.has(sort) };
  if (sort === 'updated' || sort === 'created') return { order, ranges: [{ ...range, holds: 'time' }] };
  const isName = sort === 'firstname' || sort === 'surname';
  if (sort !== 'external_id' && !(isName && order === 'asc')) return { order, ranges: [range] };
  return { order, ranges: splitByEmptyKey(range, isName ? '' : null) };
}

/** Lists the parts of a search that can have many matches. The statement of each part returns one row per match. */
export function listBroadParts({ words, tests }: UserFilter): (Clause & { name: string })[] {
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
