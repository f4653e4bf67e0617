import type { Actor } from '../../access/actor.js';
import { isWebmaster } from '../../access/policy.js';
import type { RoleCatalogue } from '../../access/roles.js';
import { ProblemError } from '../../platform/common/errors.js';
import { countCharacters } from '../../platform/common/text.js';
import { toPlaceholders } from '../../platform/database/engine/sql.js';
import { toAuthnameIdentifier, toExactKey, toLoginKey } from '../model/comparison-keys.js';
import { splitWords } from '../model/user.js';
import { type Sort, type UserQuery, resolveSort } from './user.query.js';
import {
  type Condition,
  type UserFilter,
  type WordMatch,
  buildCondition,
  buildComparison,
} from './search-plan.js';

const MAX_WORDS = 10;
/** Minimum length of a search prefix such as `ja*`, in characters. One letter would match too many users. */
const MIN_PREFIX = 2;
/** A character that sorts after all others. `ja` with this character sorts after all words that begin with `ja`. */
const LAST_CHARACTER = '\u{10FFFF}';

/**
 * Converts a search query to SQL joins and conditions. Callers who are not Webmasters find only active users and cannot
 * filter by hidden fields.
 * @throws ProblemError `invalid_parameter`, `forbidden`.
 */
export function toUserFilter(query: UserQuery, actor: Actor, roles: RoleCatalogue): UserFilter {
  const seesAll = isWebmaster(actor);
  if (!seesAll) assertNoHiddenFields(query);
  const weight = seesAll ? 'weight' : 'public_weight';
  const { from, words } = buildWordJoins(query.fulltext_search, weight);
  const statuses = seesAll ? query.status : (query.status ?? STATUSES).filter((name) => name === 'Active');
  const tests = [
    ...buildFieldConditions(query, roles),
    ...(seesAll || query.email === undefined ? [] : [buildVisibleEmailCondition(actor)]),
    // A term without words, such as `-`, finds no users.
    ...(query.fulltext_search !== undefined && words.length === 0 ? [NO_MATCH] : []),
  ];
  const isUnfiltered = words.length === 0 && tests.length === 0;
  const countedStatuses = isUnfiltered ? [...new Set(statuses ?? STATUSES)] : undefined;
  if (statuses) tests.push(...buildStatusConditions(statuses, resolveSort(query)));
  return { from, tests, words, weight, countedStatuses };
}

const STATUSES: readonly string[] = ['Active', 'Blocked'];
const NO_MATCH = buildCondition('1 = 0');

/**
 * Builds the condition on the status. Most users are active, so the condition for active users is `<> 'Blocked'`, which
 * uses no index.
 */
function buildStatusConditions(statuses: readonly string[], sort: Sort): Condition[] {
  if (STATUSES.every((status) => statuses.includes(status))) return [];
  if (statuses.length === 0) return [NO_MATCH];
  if (statuses.includes('Active')) return [buildCondition('u.status <> ?', 'Blocked')];
  return [{ ...buildComparison('status', '= ?', sort, 'Blocked'), parameter: 'status' }];
}

function assertNoHiddenFields(query: UserQuery): void {
  const filter = (['authname', 'managed_by'] as const).find((name) => query[name] !== undefined);
  const used = query.sort === 'email' ? 'sort=email' : filter;
  if (used)
    throw new ProblemError(
      'forbidden',
      `Only Webmasters can use ${used}, because it can reveal hidden fields.`,
    );
}

function buildVisibleEmailCondition(actor: Actor): Condition {
  return buildCondition('(u.hide_email = 0 OR u.uuid = ?)', actor.kind === 'user' ? actor.id : '');
}

const returnUnchanged = (sent: string): string => sent;

/** Query parameters that are compared with a column: parameter, column, SQL comparison, and conversion of the value. */
const COMPARED_PARAMETERS = [
  ['external_id', 'external_id_key', '= ?', toExactKey],
  ['username', 'username_key', '= ?', toLoginKey],
  ['email', 'email_key', '= ?', toLoginKey],
  ['manager_uuid', 'manager_uuid', '= ?', (sent: string) => sent.toLowerCase()],
  ['managed_by', 'managed_by', '= ?', returnUnchanged],
  ['updated_since', 'updated', '>= ?', returnUnchanged],
  ['created_since', 'created', '>= ?', returnUnchanged],
] as const;

function buildFieldConditions(query: UserQuery, roles: RoleCatalogue): Condition[] {
  const conditions: Condition[] = [];
  const sort = resolveSort(query);
  for (const [parameter, column, test, toKey] of COMPARED_PARAMETERS) {
    const sent = query[parameter];
    if (sent !== undefined)
      conditions.push({ ...buildComparison(column, test, sort, toKey(sent)), parameter });
  }
  if (query.has_external_id !== undefined) {
    const test = query.has_external_id ? 'IS NOT NULL' : 'IS NULL';
    conditions.push({ ...buildComparison('external_id_key', test, sort), parameter: 'has_external_id' });
  }
  if (query.authname !== undefined) {
    const cut = query.authname.indexOf(':');
    const identifier = toAuthnameIdentifier(query.authname.slice(0, cut), query.authname.slice(cut + 1));
    const sql = 'u.uuid = (SELECT user_uuid FROM user_identifiers WHERE identifier = ?)';
    conditions.push({ ...buildCondition(sql, identifier), key: 'unique' });
  }
  if (query.role) conditions.push(buildRoleCondition(query.role, roles));
  return conditions;
}

function buildRoleCondition(names: readonly string[], roles: RoleCatalogue): Condition {
  const known = names.flatMap((name) => roles.find(name) ?? []);
  if (known.length < names.length) {
    throw createParameterError(`role must be one of ${roles.names.join(', ')}.`);
  }
  if (known.length === 0) return NO_MATCH;
  const test = `role IN (${toPlaceholders(known.length)})`;
  const sql = `u.uuid IN (SELECT user_uuid FROM user_roles WHERE ${test})`;
  // Uses COUNT instead of EXISTS, because MariaDB would convert EXISTS to IN, as in the form `few`.
  const many = `(SELECT COUNT(*) FROM user_roles r WHERE r.user_uuid = u.uuid AND r.${test}) > 0`;
  return { ...buildCondition(sql, ...known), many, key: 'some', parameter: 'role' };
}

/** Builds one join for each word of a search term, because a user must match every word. */
function buildWordJoins(term = '', weight: string): Pick<UserFilter, 'from' | 'words'> {
  const terms = [...new Set(term.split(/\s+/u))];
  if (terms.some((word) => /^\*+$/.test(word)))
    throw createParameterError('fulltext_search: put * after the start of a word, as in jan*.');
  const parts = terms.flatMap((word) => {
    const folded = splitWords(word.replace(/\*+$/, ''));
    const last = word.endsWith('*') ? folded.length - 1 : undefined;
    return folded.map((part, index) => ({ folded: part, prefix: index === last }));
  });
  if (parts.length > MAX_WORDS)
    throw createParameterError(`fulltext_search accepts at most ${MAX_WORDS} words.`);
  const short = parts.find(({ folded, prefix }) => prefix && countCharacters(folded) < MIN_PREFIX);
  if (short)
    throw createParameterError(
      `fulltext_search: put * after at least ${MIN_PREFIX} characters, not ${short.folded}*.`,
    );
  if (parts.length === 0) return { words: [] };
  const words = parts.map(({ folded, prefix }) => buildWordMatch(folded, prefix));
  const joins = words.map(({ sql }, index) => buildWordJoin(`w${index}`, sql, weight));
  return {
    from: { sql: `users u ${joins.join(' ')}`, params: words.flatMap(({ params }) => params) },
    words,
  };
}

const createParameterError = (detail: string): ProblemError => new ProblemError('invalid_parameter', detail);

function buildWordMatch(word: string, prefix: boolean): WordMatch {
  if (!prefix) return { text: word, sql: 'user_words WHERE word = ?', params: [word], isWhole: true };
  const params = [word, `${word}${LAST_CHARACTER}`];
  return { text: `${word}*`, sql: 'user_words WHERE word >= ? AND word < ?', params, isWhole: false };
}

function buildWordJoin(alias: string, words: string, weight: string): string {
  const matches = `SELECT user_uuid, MAX(${weight}) AS ${weight} FROM ${words} AND ${weight} > 0 GROUP BY user_uuid`;
  return `JOIN (${matches}) ${alias} ON ${alias}.user_uuid = u.uuid`;
}
