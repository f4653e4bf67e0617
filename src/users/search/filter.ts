import type { Actor } from '../../access/actor.js';
import { isWebmaster } from '../../access/policy.js';
import type { RoleCatalogue } from '../../access/roles.js';
import { ProblemError } from '../../platform/common/errors.js';
import { characters } from '../../platform/common/text.js';
import { placeholders } from '../../platform/database/engine/sql.js';
import { authnameIdentifier, exactKey, loginKey } from '../model/comparison-keys.js';
import { wordsIn } from '../model/user.js';
import { type Sort, type UserQuery, effectiveSort } from './user.query.js';
import { type Condition, type Filter, type Word, always, indexed } from './search-plan.js';

const MAX_WORDS = 10;
/** Characters of a beginning (`a*`), at least: one letter has as many matches as there are users. */
const MIN_PREFIX = 2;
/** Sorts behind every character: the end of the words with one beginning. */
const LAST = '\u{10FFFF}';

/**
 * What a query asks for, as joins and conditions. Readers without the Webmaster role find active users only, and no
 * condition tells them of a field that they may not read.
 * @throws ProblemError `invalid_parameter`, `forbidden`.
 */
export function toFilter(query: UserQuery, actor: Actor, roles: RoleCatalogue): Filter {
  const all = isWebmaster(actor);
  if (!all) assertReadable(query);
  const { from, score, words, nothing } = wordJoins(query.fulltext_search, all ? 'weight' : 'public_weight');
  const statuses = all ? query.status : (query.status ?? STATUSES).filter((status) => status === 'Active');
  const tests = [
    ...fieldConditions(query, roles),
    ...(all || query.email === undefined ? [] : [visibleEmail(actor)]),
    ...(nothing ? [NOBODY] : []),
  ];
  const unfiltered = words.length === 0 && tests.length === 0;
  if (statuses) tests.push(...statusConditions(statuses, effectiveSort(query)));
  return {
    from,
    tests,
    score,
    words,
    countedStatuses: unfiltered ? [...new Set(statuses ?? STATUSES)] : undefined,
  };
}

const STATUSES: readonly string[] = ['Active', 'Blocked'];
const NOBODY = always('1 = 0');

/** "Not blocked" instead of "active": most users are active, and are not looked up by that. */
function statusConditions(statuses: readonly string[], sort: Sort): Condition[] {
  if (STATUSES.every((status) => statuses.includes(status))) return [];
  if (statuses.length === 0) return [NOBODY];
  if (statuses.includes('Active')) return [always('u.status <> ?', 'Blocked')];
  return [{ ...indexed('status', '= ?', sort, 'Blocked'), parameter: 'status' }];
}

function assertReadable({ sort, authname, managed_by }: UserQuery): void {
  const asked =
    sort === 'email'
      ? 'sort=email'
      : authname !== undefined
        ? 'authname'
        : managed_by !== undefined && 'managed_by';
  if (asked)
    throw new ProblemError(
      'forbidden',
      `${asked} is for Webmasters: it would tell of fields that are hidden.`,
    );
}

function visibleEmail(actor: Actor): Condition {
  return always('(u.hide_email = 0 OR u.uuid = ?)', actor.kind === 'user' ? actor.id : '');
}

const asSent = (sent: string): string => sent;

/** Parameters that are compared with a column. */
const COMPARED = [
  ['external_id', 'external_id_key', '= ?', exactKey],
  ['username', 'username_key', '= ?', loginKey],
  ['email', 'email_key', '= ?', loginKey],
  ['manager_uuid', 'manager_uuid', '= ?', (sent: string) => sent.toLowerCase()],
  ['managed_by', 'managed_by', '= ?', asSent],
  ['updated_since', 'updated', '>= ?', asSent],
  ['created_since', 'created', '>= ?', asSent],
] as const;

function fieldConditions(query: UserQuery, roles: RoleCatalogue): Condition[] {
  const conditions: Condition[] = [];
  const sort = effectiveSort(query);
  for (const [parameter, column, test, toKey] of COMPARED) {
    const sent = query[parameter];
    if (sent !== undefined) conditions.push({ ...indexed(column, test, sort, toKey(sent)), parameter });
  }
  if (query.has_external_id !== undefined) {
    const test = query.has_external_id ? 'IS NOT NULL' : 'IS NULL';
    conditions.push({ ...indexed('external_id_key', test, sort), parameter: 'has_external_id' });
  }
  if (query.authname !== undefined) {
    const cut = query.authname.indexOf(':');
    const identifier = authnameIdentifier(query.authname.slice(0, cut), query.authname.slice(cut + 1));
    const sql = 'u.uuid = (SELECT user_uuid FROM user_identifiers WHERE identifier = ?)';
    conditions.push({ ...always(sql, identifier), key: 'unique' });
  }
  if (query.role) conditions.push(roleCondition(query.role, roles));
  return conditions;
}

function roleCondition(names: readonly string[], roles: RoleCatalogue): Condition {
  const known = names.flatMap((name) => roles.find(name) ?? []);
  if (known.length < names.length) {
    throw new ProblemError('invalid_parameter', `role must be one of ${roles.names.join(', ')}.`);
  }
  if (known.length === 0) return NOBODY;
  const test = `role IN (${placeholders(known.length)})`;
  const sql = `u.uuid IN (SELECT user_uuid FROM user_roles WHERE ${test})`;
  // A number and not EXISTS, which MariaDB turns into the other form.
  const many = `(SELECT COUNT(*) FROM user_roles r WHERE r.user_uuid = u.uuid AND r.${test}) > 0`;
  return { ...always(sql, ...known), many, key: 'some', parameter: 'role' };
}

/** One join a word, so that every word must match. `nothing` for a term that holds no word at all. */
function wordJoins(
  term: string | undefined,
  weight: string,
): Pick<Filter, 'from' | 'words' | 'score'> & { nothing: boolean } {
  const none = { words: [], score: 'u.updated' };
  if (term === undefined) return { ...none, nothing: false };
  const asked = [...new Set(term.split(/\s+/u))];
  if (asked.some((word) => /^\*+$/.test(word))) {
    throw new ProblemError(
      'invalid_parameter',
      'fulltext_search takes * only behind the beginning of a word.',
    );
  }
  const parts = asked.flatMap((word) => {
    const folded = wordsIn(word.replace(/\*+$/, ''));
    return folded.map((part, index) => ({
      folded: part,
      prefix: word.endsWith('*') && index === folded.length - 1,
    }));
  });
  if (parts.length > MAX_WORDS) {
    throw new ProblemError('invalid_parameter', `fulltext_search takes at most ${MAX_WORDS} words.`);
  }
  const short = parts.find(({ folded, prefix }) => prefix && characters(folded) < MIN_PREFIX);
  if (short) {
    throw new ProblemError(
      'invalid_parameter',
      `fulltext_search takes * behind at least ${MIN_PREFIX} characters, not ${short.folded}*.`,
    );
  }
  if (parts.length === 0) return { ...none, nothing: true };
  const words = parts.map(({ folded, prefix }) => wordMatches(folded, prefix));
  const joins = words.map(({ sql }, index) => wordJoin(`w${index}`, sql, weight));
  return {
    from: { sql: `users u ${joins.join(' ')}`, params: words.flatMap(({ params }) => params) },
    words,
    score: words.map((_, index) => `w${index}.weight`).join(' + '),
    nothing: false,
  };
}

/** The rows of `user_words` that match. */
function wordMatches(word: string, prefix: boolean): Word {
  return prefix
    ? {
        text: `${word}*`,
        sql: 'user_words WHERE word >= ? AND word < ?',
        params: [word, `${word}${LAST}`],
      }
    : { text: word, sql: 'user_words WHERE word = ?', params: [word] };
}

function wordJoin(alias: string, words: string, weight: string): string {
  const matches = `SELECT user_uuid, MAX(${weight}) AS weight FROM ${words} AND ${weight} > 0 GROUP BY user_uuid`;
  return `JOIN (${matches}) ${alias} ON ${alias}.user_uuid = u.uuid`;
}
