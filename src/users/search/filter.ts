import type { Actor } from '../../access/actor.js';
import { isWebmaster } from '../../access/policy.js';
import type { RoleCatalogue } from '../../access/roles.js';
import { ProblemError } from '../../platform/common/errors.js';
import { splitFoldedText, toPhoneKey } from '../../platform/common/search-words.js';
import { countCharacters, foldSpellings } from '../../platform/common/text.js';
import { toPlaceholders } from '../../platform/database/engine/sql.js';
import { toAttributeKey, toAuthnameIdentifier, toExactKey, toLoginKey } from '../model/comparison-keys.js';
import { type FoundConditions, type ResolvedQuery, type Sort, resolveSort } from './user.query.js';
import {
  type Condition,
  type UserFilter,
  type WordMatch,
  buildCondition,
  buildComparison,
} from './search-plan.js';

const MAX_WORDS = 10;
/** Minimum length of a search prefix such as `ja*`, in characters. One letter would match too many users. */
export const MIN_PREFIX = 2;
/** A character that sorts after all others. `ja` with this character sorts after all words that begin with `ja`. */
const LAST_CHARACTER = '\u{10FFFF}';

/** Signals a condition whose value is invalid in this service. */
export class ConditionError extends ProblemError {
  constructor(
    readonly field: string,
    readonly fault: string,
  ) {
    super('invalid_parameter', `${field} ${fault}.`);
  }
}

/**
 * Converts a search query to SQL joins and conditions. Callers who are not Webmasters find only active users and cannot
 * filter by hidden fields.
 * @throws ConditionError, or ProblemError `forbidden`.
 */
export function toUserFilter(query: ResolvedQuery, actor: Actor, roles: RoleCatalogue): UserFilter {
  const seesAll = isWebmaster(actor);
  if (!seesAll) assertNoHiddenFields(query);
  const weight = seesAll ? 'weight' : 'public_weight';
  const conditions = query.found ? [query, query.found] : [query];
  const terms = conditions.flatMap(({ fulltext_search }) => fulltext_search ?? []);
  const parameter = query.fulltext_search === undefined ? 'find' : 'fulltext_search';
  const { from, words } = buildWordJoins(parameter, terms.join(' '), weight);
  const statuses = seesAll ? query.status : (query.status ?? STATUSES).filter((name) => name === 'Active');
  const tests = [
    ...conditions.flatMap((each) => buildFieldConditions(each, resolveSort(query), roles)),
    ...(seesAll ? [] : conditions.flatMap((each) => buildVisibleConditions(each, actor))),
    // A term without words, such as `-`, finds no users.
    ...(terms.length > 0 && words.length === 0 ? [NO_MATCH] : []),
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

function assertNoHiddenFields(query: ResolvedQuery): void {
  const filter = (['authname', 'managed_by'] as const).find((name) => query[name] !== undefined);
  const used = query.sort === 'email' ? 'sort=email' : filter;
  if (!used) return;
  const detail = `Only Webmasters can use ${used}, because it can reveal hidden fields.`;
  throw new ProblemError('forbidden', detail);
}

/** Parameters that find only the caller and users who do not hide the field. */
const HIDEABLE = [
  ['email', 'hide_email'],
  ['email_domain', 'hide_email'],
  ['phone', 'hide_phone_numbers'],
] as const;

function buildVisibleConditions(query: FoundConditions, actor: Actor): Condition[] {
  const own = actor.kind === 'user' ? actor.id : '';
  return HIDEABLE.filter(([parameter]) => query[parameter] !== undefined).map(([, flag]) =>
    buildCondition(`(u.${flag} = 0 OR u.uuid = ?)`, own),
  );
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

function buildFieldConditions(query: FoundConditions, sort: Sort, roles: RoleCatalogue): Condition[] {
  const conditions: Condition[] = [];
  for (const [parameter, column, test, toKey] of COMPARED_PARAMETERS) {
    const sent = query[parameter];
    if (sent !== undefined)
      conditions.push({ ...buildComparison(column, test, sort, toKey(sent)), parameter });
  }
  if (query.uuid) {
    const sql = `u.uuid IN (${toPlaceholders(query.uuid.length)})`;
    const keys = query.uuid.map((uuid) => uuid.toLowerCase());
    // `find` gives a search at most one uuid. Only exports have more.
    conditions.push({ ...buildCondition(sql, ...keys), key: 'unique' });
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
  if (query.email_domain !== undefined) {
    const key = toAttributeKey(query.email_domain);
    const test = "attribute = 'email_domain' AND value_key = ?";
    conditions.push(buildLookUpCondition('email_domain', 'user_values', test, key));
  }
  if (query.phone !== undefined) conditions.push(buildPhoneCondition(toPhoneKey(query.phone)));
  if (query.role) conditions.push(buildRoleCondition(query.role, roles));
  return conditions;
}

function buildRoleCondition(names: readonly string[], roles: RoleCatalogue): Condition {
  const known = names.flatMap((name) => roles.find(name) ?? []);
  if (known.length < names.length)
    throw new ConditionError('role', `must be one of ${roles.names.join(', ')}`);
  return buildLookUpCondition('role', 'user_roles', `role IN (${toPlaceholders(known.length)})`, ...known);
}

function buildLookUpCondition(parameter: string, table: string, test: string, ...keys: string[]): Condition {
  const sql = `u.uuid IN (SELECT user_uuid FROM ${table} WHERE ${test})`;
  // Uses COUNT instead of EXISTS, because MariaDB would convert EXISTS to IN, as in the form `few`.
  const many = `(SELECT COUNT(*) FROM ${table} WHERE user_uuid = u.uuid AND ${test}) > 0`;
  return { ...buildCondition(sql, ...keys), many, key: 'some', parameter };
}

/** Builds the condition on the reversed digits. It has no form `many`, because a range search needs the index. */
function buildPhoneCondition(key: string): Condition {
  const range = "attribute = 'phone' AND value_key >= ? AND value_key < ?";
  const sql = `u.uuid IN (SELECT user_uuid FROM user_values WHERE ${range})`;
  return { ...buildCondition(sql, key, key + LAST_CHARACTER), key: 'some', parameter: 'phone' };
}

type WordJoins = Pick<UserFilter, 'from' | 'words'>;

/** Builds one join for each word of a search term, because a user must match every word. */
function buildWordJoins(parameter: string, term: string, weight: string): WordJoins {
  const terms = [...new Set(term.split(/\s+/u))];
  if (terms.some((word) => /^\*+$/.test(word)))
    throw new ConditionError(parameter, 'must have * after the start of a word, as in jan*');
  const parts = terms.flatMap((word) => splitTerm(word.replace(/\*+$/, ''), word.endsWith('*')));
  if (parts.length > MAX_WORDS) throw new ConditionError(parameter, `may have at most ${MAX_WORDS} words`);
  const short = parts.find(({ forms: [word = ''], prefix }) => prefix && countCharacters(word) < MIN_PREFIX);
  if (short)
    throw new ConditionError(parameter, `must have * after at least ${MIN_PREFIX} characters, as in jan*`);
  if (parts.length === 0) return { words: [] };
  const words = parts.map(({ forms, prefix }) => buildWordMatch(forms, prefix));
  const joins = words.map(({ sql }, index) => buildWordJoin(`w${index}`, sql, weight));
  return {
    from: { sql: `users u ${joins.join(' ')}`, params: words.flatMap(({ params }) => params) },
    words,
  };
}

/** A word of a search term in each of its spellings. */
interface TermWord {
  forms: readonly string[];
  prefix: boolean;
}

function splitTerm(term: string, hasStar: boolean): TermWord[] {
  const [words = [], ...others] = foldSpellings(term).map(splitFoldedText);
  return words.map((word, index) => ({
    forms: [...new Set([word, ...others.flatMap((other) => other[index] ?? [])])],
    prefix: hasStar && index === words.length - 1,
  }));
}

/** Builds the match of a word. With several spellings it is not whole, because a user can match more than one. */
function buildWordMatch(forms: readonly string[], prefix: boolean): WordMatch {
  const [word = ''] = forms;
  const test = prefix ? 'word >= ? AND word < ?' : 'word = ?';
  const tests = forms.map(() => test).join(' OR ');
  const params = forms.flatMap((form) => (prefix ? [form, `${form}${LAST_CHARACTER}`] : [form]));
  const sql = `user_words WHERE ${forms.length > 1 ? `(${tests})` : tests}`;
  return { text: prefix ? `${word}*` : word, sql, params, isWhole: !prefix && forms.length === 1 };
}

function buildWordJoin(alias: string, words: string, weight: string): string {
  const matches = `SELECT user_uuid, MAX(${weight}) AS ${weight} FROM ${words} AND ${weight} > 0 GROUP BY user_uuid`;
  return `JOIN (${matches}) ${alias} ON ${alias}.user_uuid = u.uuid`;
}
