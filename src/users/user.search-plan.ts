import type { SqlValue } from '../database/sql.js';
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
  condition: string | undefined;
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

/**
 * The stretches of an order. Empty values come last in both directions: descending they do so by themselves,
 * ascending they are a stretch of their own, so that one index on (key, uuid) serves every page. Of few users none
 * is needed: a plus keeps SQLite from it, and MariaDB does not see it.
 */
export function segmentsOf(sort: Sort, order: Order, score: string, form: Form): Segment[] {
  if (sort === 'relevance') return [{ key: score, condition: undefined }];
  const key = form === 'few' ? `+${COLUMNS[sort]}` : COLUMNS[sort];
  if (order === 'desc') return [{ key, condition: undefined }];
  if (sort === 'external_id') {
    return [
      { key, condition: `${key} IS NOT NULL` },
      { key, condition: `${key} IS NULL` },
    ];
  }
  if (sort === 'firstname' || sort === 'surname') {
    return [
      { key, condition: `${key} > ''` },
      { key, condition: `${key} = ''` },
    ];
  }
  return [{ key, condition: undefined }];
}

/** `AND`-ed conditions with their values; `1 = 1` when there are none. */
export function where(conditions: readonly Clause[]): Clause {
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND ') || '1 = 1',
    params: conditions.flatMap(({ params }) => params),
  };
}

/** The users behind a key in one direction. The outer comparison lets the index be entered at the right place. */
export function behind(key: string, order: Order, after: { key: SqlValue; uuid: string }): Clause {
  const [beyond, from] = order === 'asc' ? ['>', '>='] : ['<', '<='];
  if (after.key === null) return { sql: `${key} IS NULL AND u.uuid ${beyond} ?`, params: [after.uuid] };
  const keyed = {
    sql: `${key} ${from} ? AND (${key} ${beyond} ? OR u.uuid ${beyond} ?)`,
    params: [after.key, after.key, after.uuid],
  };
  // Descending, unset values (NULL) follow the last key.
  const reachesUnset = order === 'desc' && key.endsWith(COLUMNS.external_id);
  return reachesUnset
    ? { sql: `(${keyed.sql} OR ${key} IS NULL)`, params: keyed.params }
    : { sql: `(${keyed.sql})`, params: keyed.params };
}
