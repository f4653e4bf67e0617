import type { RoleCatalogue } from '../../access/roles.js';
import { type DbTime, toDbTime } from '../../platform/common/time.js';
import { isUuid } from '../../platform/common/uuid.js';
import { type Clause, clause, joinClauses, where } from '../../platform/database/engine/sql.js';
import type { Status } from '../../users/model/formats.js';
import { exactKey, loginKey, sortKey, valueKey } from '../../users/model/comparison-keys.js';
import type { CompareFilter, CompareOperator, Filter } from '../protocol/filter.js';
import { ENTERPRISE_SCHEMA } from '../protocol/urns.js';

/** How many users a condition may lead to: one at most, some, or so many that the order of a page is the better way. */
type Breadth = 'one' | 'some' | 'many';

/** A condition over `users u`. A page in the order of its column reads that range of the index alone. */
export interface Test extends Clause {
  inOrder?: { key: string; sql: string };
}

/** A comparison that an index answers. */
interface Keyed {
  /** Selects the `uuid` of the users. */
  source: Clause;
  /** The same over `users u`, in a form that no index answers: `source` or the order of the page leads to the users. */
  test: Test;
  breadth: Breadth;
  /** Whether it finds exactly the users that match, and not perhaps some others beside them. */
  isExact: boolean;
}

/** What a filter asks of the database, and what is left to be decided user by user. */
export interface FilterPlan {
  /** Selects the `uuid` of all users that may match; undefined: any user may. */
  source: Clause | undefined;
  breadth: Breadth;
  /** Over `users u`: all of them hold for every user that matches. */
  tests: readonly Test[];
  /** Whether they hold for no other user. */
  isExact: boolean;
  /** The status that is asked for and nothing else: then counters know how many there are. */
  status?: Status;
}

/** The keyed parts of a filter as conditions of the search. */
export function planOf(filter: Filter | undefined, roles: RoleCatalogue): FilterPlan {
  const parts = filter ? partsOf(filter) : [];
  const limits = parts.map((part) => keyedPart(part, roles)).filter((part) => part !== EVERYBODY);
  const { found, best, source, isExact } = combine(limits);
  const status = filter && parts.length === 1 ? statusIn(filter) : undefined;
  const tests = found.map(({ test }) => test);
  return { source, breadth: best?.breadth ?? 'many', tests, isExact, ...(status && { status }) };
}

/** What all must hold: the part that leads to the fewest users, and the others as tests. */
function combine(parts: readonly (Keyed | undefined)[]) {
  const found = parts.filter((part) => part !== undefined);
  const [best] = found.toSorted((a, b) => RANK[a.breadth] - RANK[b.breadth]);
  const isExact = found.length === parts.length && found.every((part) => part.isExact);
  return { found, best, source: best && sourceOf(best, found), isExact };
}

/** All tests of the column of the best part lead to the users: both ends of a range. */
function sourceOf({ source, test: { inOrder } }: Keyed, parts: readonly Keyed[]): Clause {
  const ofColumn = parts.flatMap(({ test }) =>
    inOrder && test.inOrder?.key === inOrder.key ? [{ sql: test.inOrder.sql, params: test.params }] : [],
  );
  if (ofColumn.length < 2) return source;
  const { sql, params } = where(ofColumn);
  return clause(`SELECT u.uuid FROM users u WHERE ${sql}`, ...params);
}

const RANK: Readonly<Record<Breadth, number>> = { one: 0, some: 1, many: 2 };

/** What all must hold. */
function partsOf(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? filter.filters.flatMap(partsOf) : [filter];
}

function keyedPart(filter: Filter, roles: RoleCatalogue): Keyed | undefined {
  switch (filter.kind) {
    case 'compare':
      return keyedBy(filter, roles);
    case 'none':
      return NOBODY;
    case 'or': {
      const branches = filter.filters.map((branch) => keyedPart(branch, roles));
      const found = branches.filter((branch) => branch !== undefined);
      return found.length === branches.length ? anyOf(found) : undefined;
    }
    case 'and': {
      const { found, best, source, isExact } = combine(filter.filters.map((part) => keyedPart(part, roles)));
      if (!best || !source) return undefined;
      const { sql, params } = where(found.map(({ test }) => test));
      const all = `SELECT u.uuid FROM (${source.sql}) AS k JOIN users u ON u.uuid = k.uuid WHERE ${sql}`;
      const test = clause(`(${sql})`, ...params);
      return { source: clause(all, ...source.params, ...params), test, breadth: best.breadth, isExact };
    }
    case 'element': {
      // An element that matches is one whose keyed parts match; which element it is must be decided afterwards.
      const inside = keyedPart(filter.filter, roles);
      return inside && { ...inside, isExact: false };
    }
    case 'not':
    case 'present':
      return undefined;
  }
}

function statusIn(filter: Filter): Status | undefined {
  if (filter.kind !== 'compare' || filter.op !== 'eq' || filter.path.attribute.name !== 'active')
    return undefined;
  return filter.value === true ? 'Active' : 'Blocked';
}

function keyed(source: Clause, test: Test, breadth: Breadth, isExact = true): Keyed {
  return { source, test, breadth, isExact };
}

/** Sorts behind every character. */
const LAST = '\u{10FFFF}';
const SIGNS = { eq: '=', gt: '>', ge: '>=', lt: '<', le: '<=' } as const;
const isSign = (op: CompareOperator): op is keyof typeof SIGNS => op in SIGNS;

/** A condition on a column. */
interface Bound {
  text: (column: string) => string;
  params: readonly (string | null)[];
  breadth: Breadth;
}

/** Returns the condition of a comparison with a key, undefined for an operator that no index answers. */
export function boundOf(op: CompareOperator, key: string, isUnique: boolean, last = LAST): Bound | undefined {
  const within = (column: string) => `${column} >= ? AND ${column} < ?`;
  if (op === 'sw') return { text: within, params: [key, key + last], breadth: 'some' };
  if (!isSign(op)) return undefined;
  const breadth = op !== 'eq' ? 'many' : isUnique ? 'one' : 'some';
  return { text: (column) => `${column} ${SIGNS[op]} ?`, params: [key], breadth };
}

function byColumn(column: string, bound: Bound | undefined, isExact = true): Keyed | undefined {
  if (!bound) return undefined;
  const { text, params, breadth } = bound;
  const key = `u.${column}`;
  const test = { sql: `(${text(`+${key}`)})`, params, inOrder: { key, sql: `(${text(key)})` } };
  return keyed(clause(`SELECT uuid FROM users WHERE ${text(column)}`, ...params), test, breadth, isExact);
}

function byValue(attribute: string, { op, value }: CompareFilter, isExact: boolean): Keyed | undefined {
  if (typeof value !== 'string' || (op !== 'eq' && op !== 'sw' && attribute !== 'emails')) return undefined;
  const key = valueKey(value);
  const bound = boundOf(op, key, false);
  if (!bound || key === '') return undefined;
  const { text, breadth } = bound;
  const where = `FROM user_values WHERE attribute = ? AND ${text('value_key')}`;
  const params = [attribute, ...bound.params];
  const test = clause(`EXISTS (SELECT 1 ${where} AND user_uuid = u.uuid)`, ...params);
  const isWhole = isExact && op === 'eq' && key.length < 255;
  return keyed(clause(`SELECT user_uuid AS uuid ${where}`, ...params), test, breadth, isWhole);
}

/** The users who meet one of these conditions. */
function anyOf(branches: readonly Keyed[]): Keyed {
  const [first] = branches;
  if (first && branches.length === 1)
    return { ...first, test: clause(`(${first.test.sql})`, ...first.test.params) };
  const sources = branches.map(({ source }) => source);
  const { sql, params } = joinClauses(
    branches.map(({ test }) => test),
    ' OR ',
  );
  const breadth = branches.some((branch) => branch.breadth === 'many') ? 'many' : 'some';
  const isExact = branches.every((branch) => branch.isExact);
  return keyed(joinClauses(sources, ' UNION '), clause(`(${sql})`, ...params), breadth, isExact);
}

function byEmail(filter: CompareFilter): Keyed | undefined {
  const key = loginKey(String(filter.value));
  const column = byColumn('email_key', key === '' ? undefined : boundOf(filter.op, key, true));
  const others = byValue('emails', filter, true);
  return column && others && anyOf([column, others]);
}

function byRole({ op, value }: CompareFilter, roles: RoleCatalogue): Keyed | undefined {
  if (op !== 'eq') return undefined;
  const role = roles.find(String(value));
  if (role === undefined) return NOBODY;
  // The look-up has the roles of groups too, which are no values of `roles`.
  const own = clause('INSTR(u.roles, ?) > 0', JSON.stringify(role));
  const source = `SELECT r.user_uuid AS uuid FROM user_roles r JOIN users u ON u.uuid = r.user_uuid WHERE r.role = ? AND ${own.sql}`;
  return keyed(clause(source, role, ...own.params), own, 'many');
}

function byManager(filter: CompareFilter): Keyed | undefined {
  if (filter.op !== 'eq') return undefined;
  const text = byValue('manager', filter, false);
  const value = String(filter.value).toLowerCase();
  if (!text || !isUuid(value)) return text;
  const column = byColumn('manager_uuid', boundOf('eq', value, false));
  return column && anyOf([column, text]);
}

function byGroup({ op, value }: CompareFilter): Keyed | undefined {
  if (op !== 'eq' || !isAscii(String(value))) return undefined;
  const group = String(value).toLowerCase();
  const test = 'EXISTS (SELECT 1 FROM group_members m WHERE m.group_uuid = ? AND m.user_uuid = u.uuid)';
  const source = 'SELECT user_uuid AS uuid FROM group_members WHERE group_uuid = ?';
  return keyed(clause(source, group), clause(test, group), 'many');
}

const timeOf = (value: CompareFilter['value']): DbTime => toDbTime(String(value));

/** A condition that all users meet. */
const EVERYBODY = keyed(clause('SELECT uuid FROM users'), clause('1 = 1'), 'many');

/** A condition that no user meets. */
const NOBODY = keyed(clause('SELECT uuid FROM users WHERE 1 = 0'), clause('1 = 0'), 'one');

type ToKeyed = (filter: CompareFilter, roles: RoleCatalogue) => Keyed | undefined;
const text = ({ value }: CompareFilter): string => String(value);

const name =
  (column: string): ToKeyed =>
  (filter) => {
    const key = sortKey(text(filter));
    const isUsed = key !== '' && (filter.op === 'eq' || filter.op === 'sw');
    return isUsed ? byColumn(column, boundOf(filter.op, key, false), false) : undefined;
  };
const time =
  (column: string): ToKeyed =>
  (filter) =>
    filter.op === 'sw' ? undefined : byColumn(column, boundOf(filter.op, timeOf(filter.value), false));

/** The attributes that an index answers (scim.md, section 7), by the path of what is compared. */
const KEYED: Readonly<Record<string, ToKeyed>> = {
  id: (filter) =>
    isAscii(text(filter))
      ? byColumn('uuid', boundOf(filter.op, text(filter).toLowerCase(), true, '~'))
      : undefined,
  userName: (filter) => byColumn('username_key', boundOf(filter.op, loginKey(text(filter)), true)),
  externalId: (filter) => byColumn('external_id_key', boundOf(filter.op, exactKey(text(filter)), true)),
  'emails.value': byEmail,
  'meta.created': time('created'),
  'meta.lastModified': time('updated'),
  'meta.resourceType': (filter) =>
    filter.op === 'eq' ? (text(filter).toLowerCase() === 'user' ? EVERYBODY : NOBODY) : undefined,
  displayName: (filter) => byValue('displayName', filter, true),
  [`${ENTERPRISE_SCHEMA}:employeeNumber`]: (filter) => byValue('employeeNumber', filter, false),
  [`${ENTERPRISE_SCHEMA}:department`]: (filter) => byValue('department', filter, false),
  active: (filter) => (filter.op === 'eq' ? activeIs(filter.value === true) : undefined),
  'roles.value': byRole,
  [`${ENTERPRISE_SCHEMA}:manager.value`]: byManager,
  'groups.value': byGroup,
  'name.givenName': name('firstname_sort'),
  'name.familyName': name('surname_sort'),
};

/** Names of them, for a filter that has none. */
export const KEYED_NAMES = Object.keys(KEYED).map((path) => path.slice(path.lastIndexOf(':') + 1));

function activeIs(active: boolean): Keyed | undefined {
  const keyed = byColumn('status', boundOf('eq', active ? 'Active' : 'Blocked', false));
  return keyed && { ...keyed, breadth: 'many' };
}

/** What an index says of a comparison; undefined where none answers it, or no engine could be asked. */
function keyedBy(filter: CompareFilter, roles: RoleCatalogue): Keyed | undefined {
  const { value, path } = filter;
  if (typeof value === 'string' && !isBindable(value)) return undefined;
  return KEYED[(path.sub ?? path.attribute).path]?.(filter, roles);
}

/** Whether an engine takes a text. */
export const isBindable = (sent: string): boolean => sent.isWellFormed() && !sent.includes('\0');

/** Whether a column of identifiers can be compared with a text: MariaDB refuses any other. */
export const isAscii = (sent: string): boolean => /^[\x20-\x7e]*$/.test(sent);
