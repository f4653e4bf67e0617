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
 * Form of a condition in SQL. `few` finds the matching users through an index and sorts them. `many` reads users in
 * sort order and tests each of them.
 */
export type ConditionForm = 'few' | 'many';

/**
 * A condition on `users u` in two equivalent forms (see `ConditionForm`). The service chooses the form, because no
 * database engine chooses well.
 */
export interface Condition extends Clause {
  few: string;
  many: string;
  /** Set if the condition can use an index. `unique`: at most one user can match. `some`: several users can match. */
  key?: 'unique' | 'some';
  /** Name of the query parameter in the error `search_too_broad`. */
  parameter?: string;
}

/** SQL for the rows of `user_words` that match one word of the search term. */
export interface WordMatch extends Clause {
  text: string;
  /** False if `text` is only the beginning of a word, or if the word has two spellings. */
  isWhole: boolean;
}

/** The users that match every word and meet all conditions in `tests`. */
export interface UserFilter extends UserSet {
  tests: readonly Condition[];
  /**
   * The statuses that a search without other conditions finds. `UserCounts` then counts the matches. Undefined for a
   * search with other conditions.
   */
  countedStatuses: readonly string[] | undefined;
  words: readonly WordMatch[];
  /** Column of `user_words` with the weights that the caller may see. */
  weight: string;
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

/** Creates a condition without an index, with the same SQL in both forms. */
export function buildCondition(sql: string, ...params: readonly SqlValue[]): Condition {
  return { ...toClause(sql, ...params), few: sql, many: sql };
}

/**
 * Creates a condition on an indexed column. In the form `many`, the index is used only if users are sorted by this
 * column.
 */
export function buildComparison(column: string, test: string, sort: Sort, ...params: SqlValue[]): Condition {
  const sql = `u.${column} ${test}`;
  return {
    sql,
    few: `u.uuid IN (SELECT uuid FROM users WHERE ${column} ${test})`,
    many: sort !== 'relevance' && SORT_COLUMNS[sort] === `u.${column}` ? sql : `+${sql}`,
    params,
    key: UNIQUE_COLUMNS.has(column) && test === '= ?' ? 'unique' : 'some',
  };
}

const UNIQUE_COLUMNS: ReadonlySet<string> = new Set(['uuid', 'username_key', 'email_key', 'external_id_key']);

/**
 * Returns `nothing` if a search is always fast, `words` if its cost depends on the number of word matches, undefined if
 * its cost is unlimited.
 */
export function getCostDriver({ words, tests }: UserFilter): 'nothing' | 'words' | undefined {
  const keys = tests.flatMap(({ key }) => key ?? []);
  if (words.length > 0) return keys.length === 0 ? 'words' : undefined;
  return keys.length === 0 || (keys.length === 1 && keys[0] === 'unique') ? 'nothing' : undefined;
}

/** Returns true for a word search: only whole words and the status determine the matches. */
export const isWordSearch = ({ words, tests }: UserFilter): boolean =>
  words.length > 0 && words.every(({ isWhole }) => isWhole) && tests.every(({ key }) => key === undefined);

/**
 * Builds the set of users that match a word search. It begins with the rows of the first word, so the matches are read
 * in the order of their uuids.
 * @param join join operator that keeps the order of the tables.
 * @param hasUsers true if the set must include the columns of `users u`.
 */
export function toWordSet({ words, tests, weight }: UserFilter, join: string, hasUsers: boolean): UserSet {
  const tables = words.map((_, index) => `user_words w${index}`);
  const matches = words.map(({ params }, index) => {
    const sameUser = index === 0 ? '' : ` AND w${index}.user_uuid = w0.user_uuid`;
    return toClause(`w${index}.word = ?${sameUser} AND w${index}.${weight} > 0`, ...params);
  });
  const users = hasUsers || tests.length > 0 ? ['users u'] : [];
  return {
    from: toClause([...tables, ...users].join(` ${join} `)),
    tests: [...matches, ...users.map(() => toClause('u.uuid = w0.user_uuid')), ...tests],
  };
}

/** Returns the SQL expression for the score of a match: the sum of the weights of the words. */
export const toScore = ({ words, weight }: UserFilter): string =>
  words.length === 0 ? 'u.updated' : words.map((_, index) => `w${index}.${weight}`).join(' + ');

/** Builds the set of users that match a word search, for pages in the order of a sort field. */
export function toTestedUsers({ words, tests, weight }: UserFilter): UserSet {
  const test = `(SELECT COUNT(*) FROM user_words w WHERE w.word = ? AND w.user_uuid = u.uuid AND w.${weight} > 0) > 0`;
  return { tests: [...words.map(({ params }) => toClause(test, ...params)), ...tests] };
}

/**
 * Builds the order by relevance of a word search, with one range for each score. The rows of a score are in the order
 * of the index.
 */
export function buildScoreOrder(order: Direction, score: string, scores: readonly number[]): PageOrder {
  const sorted = [...new Set(scores)].sort((a, b) => (order === 'asc' ? a - b : b - a));
  return { order, ranges: sorted.map((only) => ({ key: score, only, tie: 'w0.user_uuid', unique: false })) };
}

export function toUserSet({ from, tests }: UserFilter, form: ConditionForm): UserSet {
  return { from, tests: tests.map((test) => toClause(test[form], ...test.params)), counted: tests };
}

const UNIQUE_SORTS: ReadonlySet<Sort> = new Set(['username', 'email', 'external_id']);

/**
 * Builds the order of a page. Empty values always come last, if necessary in a separate range. For `few`, a plus sign
 * keeps SQLite from using the index of the sort field.
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

/** Lists the words and conditions that can have many matches, each with SQL that returns one row per match. */
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
