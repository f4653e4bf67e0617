import type { RoleCatalogue } from '../../access/roles.js';
import { toDbTime } from '../../platform/common/time.js';
import { isUuid } from '../../platform/common/uuid.js';
import { type Clause, toClause, joinClauses, buildWhere } from '../../platform/database/engine/sql.js';
import type { UserStatus } from '../../users/model/formats.js';
import { toExactKey, toLoginKey, toNameSortKey, toAttributeKey } from '../../users/model/comparison-keys.js';
import type { CompareFilter, CompareOperator, Filter } from '../protocol/filter.js';
import { ENTERPRISE_SCHEMA } from '../protocol/urns.js';

/**
 * The number of users that a condition may select: at most one, some, or so many that reading all users in the order of
 * the page is cheaper.
 */
type Breadth = 'one' | 'some' | 'many';

/**
 * A condition on the table `users u`. `inOrder` is an equivalent condition for a page that is sorted by the column
 * `key`. It lets the database read only a part of the index on this column.
 */
export interface UserTest extends Clause {
  inOrder?: { key: string; sql: string };
}

/** A condition that can use an index, in two forms: a query that finds the matching users, and a test of one user. */
interface Match {
  source: Clause;
  /**
   * Test of one row of `users u`. It avoids the index, because `source` or the order of the page already uses an index.
   */
  test: UserTest;
  breadth: Breadth;
  /** True if every user that meets the condition also matches the filter. Otherwise each user must also be checked. */
  isExact: boolean;
}

/** The part of a filter that the database evaluates. */
export interface FilterPlan {
  /** Query for the uuids of all users that can match the filter. Undefined if any user can match. */
  source: Clause | undefined;
  breadth: Breadth;
  tests: readonly UserTest[];
  /** True if every user that meets all `tests` matches the filter. Otherwise each user must also be checked. */
  isExact: boolean;
  /**
   * The status, if the filter is only a condition on the status. The total number of matches then comes from counters.
   */
  status?: UserStatus;
}

export function planFilter(filter: Filter | undefined, roles: RoleCatalogue): FilterPlan {
  const parts = filter ? flattenAnd(filter) : [];
  const limits = parts.map((part) => planPart(part, roles)).filter((part) => part !== ALL_USERS);
  const { found, best, source, isExact } = combineConditions(limits);
  const status = filter && parts.length === 1 ? findStatus(filter) : undefined;
  const tests = found.map(({ test }) => test);
  return { source, breadth: best?.breadth ?? 'many', tests, isExact, ...(status && { status }) };
}

/** Combines conditions that must all hold. The query starts from the condition that selects the fewest users. */
function combineConditions(parts: readonly (Match | undefined)[]) {
  const found = parts.filter((part) => part !== undefined);
  const [best] = found.toSorted((a, b) => RANK[a.breadth] - RANK[b.breadth]);
  const isExact = found.length === parts.length && found.every((part) => part.isExact);
  return { found, best, source: best && buildSource(best, found), isExact };
}

/**
 * Returns the query `source`. If `parts` contains several conditions on the same column, returns one query with all of
 * them, so that the database reads only the index range between a lower and an upper bound.
 */
function buildSource({ source, test: { inOrder } }: Match, parts: readonly Match[]): Clause {
  const ofColumn = parts.flatMap(({ test }) =>
    inOrder && test.inOrder?.key === inOrder.key ? [{ sql: test.inOrder.sql, params: test.params }] : [],
  );
  if (ofColumn.length < 2) return source;
  const { sql, params } = buildWhere(ofColumn);
  return toClause(`SELECT u.uuid FROM users u WHERE ${sql}`, ...params);
}

const RANK: Readonly<Record<Breadth, number>> = { one: 0, some: 1, many: 2 };

function flattenAnd(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? filter.filters.flatMap(flattenAnd) : [filter];
}

function planPart(filter: Filter, roles: RoleCatalogue): Match | undefined {
  switch (filter.kind) {
    case 'compare':
      return findMatch(filter, roles);
    case 'none':
      return NO_USERS;
    case 'or': {
      const branches = filter.filters.map((branch) => planPart(branch, roles));
      const found = branches.filter((branch) => branch !== undefined);
      return found.length === branches.length ? joinOr(found) : undefined;
    }
    case 'and': {
      const { found, best, source, isExact } = combineConditions(
        filter.filters.map((part) => planPart(part, roles)),
      );
      if (!best || !source) return undefined;
      const { sql, params } = buildWhere(found.map(({ test }) => test));
      const all = `SELECT u.uuid FROM (${source.sql}) AS k JOIN users u ON u.uuid = k.uuid WHERE ${sql}`;
      const test = toClause(`(${sql})`, ...params);
      return { source: toClause(all, ...source.params, ...params), test, breadth: best.breadth, isExact };
    }
    case 'element': {
      // The conditions that use an index can each match a different element. Every user that is found must therefore be
      // checked against the whole filter.
      const inside = planPart(filter.filter, roles);
      return inside && { ...inside, isExact: false };
    }
    case 'not':
    case 'present':
      return undefined;
  }
}

function findStatus(filter: Filter): UserStatus | undefined {
  if (filter.kind !== 'compare' || filter.path.attribute.name !== 'active') return undefined;
  return filter.value === true ? 'Active' : 'Blocked';
}

function toMatch(source: Clause, test: UserTest, breadth: Breadth, isExact = true): Match {
  return { source, test, breadth, isExact };
}

/** A character that sorts after every other character. */
const LAST = '\u{10FFFF}';
const SIGNS = { eq: '=', gt: '>', ge: '>=', lt: '<', le: '<=' } as const;
const hasSqlOperator = (op: CompareOperator): op is keyof typeof SIGNS => op in SIGNS;

/** A comparison without its column, which the caller adds. */
interface Bound {
  text: (column: string) => string;
  params: readonly (string | null)[];
  breadth: Breadth;
}

/**
 * Returns the condition that compares a column with a key, or undefined if the operator cannot use an index.
 * @param isUnique true if at most one user can have the key
 * @param last the character to append to `key` for the upper limit of `sw`
 */
export function toBound(op: CompareOperator, key: string, isUnique: boolean, last = LAST): Bound | undefined {
  const toRangeSql = (column: string) => `${column} >= ? AND ${column} < ?`;
  if (op === 'sw') return { text: toRangeSql, params: [key, key + last], breadth: 'some' };
  if (!hasSqlOperator(op)) return undefined;
  const breadth = op !== 'eq' ? 'many' : isUnique ? 'one' : 'some';
  return { text: (column) => `${column} ${SIGNS[op]} ?`, params: [key], breadth };
}

function buildColumnMatch(column: string, bound: Bound | undefined, isExact = true): Match | undefined {
  if (!bound) return undefined;
  const { text, params, breadth } = bound;
  const key = `u.${column}`;
  const test = { sql: `(${text(`+${key}`)})`, params, inOrder: { key, sql: `(${text(key)})` } };
  return toMatch(toClause(`SELECT uuid FROM users WHERE ${text(column)}`, ...params), test, breadth, isExact);
}

function buildValueMatch(
  attribute: string,
  { op, value }: CompareFilter,
  isExact: boolean,
): Match | undefined {
  if (op !== 'eq' && op !== 'sw' && attribute !== 'emails') return undefined;
  const key = toAttributeKey(String(value));
  const bound = toBound(op, key, false);
  if (!bound || key === '') return undefined;
  const { text, breadth } = bound;
  const where = `FROM user_values WHERE attribute = ? AND ${text('value_key')}`;
  const params = [attribute, ...bound.params];
  const test = toClause(`EXISTS (SELECT 1 ${where} AND user_uuid = u.uuid)`, ...params);
  const isWhole = isExact && op === 'eq' && key.length < 255;
  return toMatch(toClause(`SELECT user_uuid AS uuid ${where}`, ...params), test, breadth, isWhole);
}

function joinOr(branches: readonly Match[]): Match {
  const sources = branches.map(({ source }) => source);
  const tests = branches.map(({ test }) => test);
  const { sql, params } = joinClauses(tests, ' OR ');
  const breadth = branches.some((branch) => branch.breadth === 'many') ? 'many' : 'some';
  const isExact = branches.every((branch) => branch.isExact);
  return toMatch(joinClauses(sources, ' UNION '), toClause(`(${sql})`, ...params), breadth, isExact);
}

function buildEmailMatch(filter: CompareFilter): Match | undefined {
  const key = toLoginKey(String(filter.value));
  const column = buildColumnMatch('email_key', key === '' ? undefined : toBound(filter.op, key, true));
  const others = buildValueMatch('emails', filter, true);
  return column && others && joinOr([column, others]);
}

function buildRoleMatch({ op, value }: CompareFilter, roles: RoleCatalogue): Match | undefined {
  if (op !== 'eq') return undefined;
  const role = roles.find(String(value));
  if (role === undefined) return NO_USERS;
  // The look-up table also contains roles from groups, but the attribute `roles` contains only the users' own roles.
  const own = toClause('INSTR(u.roles, ?) > 0', JSON.stringify(role));
  const source = `SELECT r.user_uuid AS uuid FROM user_roles r JOIN users u ON u.uuid = r.user_uuid WHERE r.role = ? AND ${own.sql}`;
  return toMatch(toClause(source, role, ...own.params), own, 'many');
}

function buildManagerMatch(filter: CompareFilter): Match | undefined {
  if (filter.op !== 'eq') return undefined;
  const text = buildValueMatch('manager', filter, false);
  const value = String(filter.value).toLowerCase();
  if (!text || !isUuid(value)) return text;
  const column = buildColumnMatch('manager_uuid', toBound('eq', value, false));
  return column && joinOr([column, text]);
}

function buildGroupMatch({ op, value }: CompareFilter): Match | undefined {
  if (op !== 'eq' || !isAscii(String(value))) return undefined;
  const group = String(value).toLowerCase();
  const test = 'EXISTS (SELECT 1 FROM group_members m WHERE m.group_uuid = ? AND m.user_uuid = u.uuid)';
  const source = 'SELECT user_uuid AS uuid FROM group_members WHERE group_uuid = ?';
  return toMatch(toClause(source, group), toClause(test, group), 'many');
}

const ALL_USERS = toMatch(toClause('SELECT uuid FROM users'), toClause('1 = 1'), 'many');

const NO_USERS = toMatch(toClause('SELECT uuid FROM users WHERE 1 = 0'), toClause('1 = 0'), 'one');

type BuildMatch = (filter: CompareFilter, roles: RoleCatalogue) => Match | undefined;
const textOf = ({ value }: CompareFilter): string => String(value);

const createNameMatchBuilder =
  (column: string): BuildMatch =>
  (filter) => {
    const key = toNameSortKey(textOf(filter));
    const isUsed = key !== '' && (filter.op === 'eq' || filter.op === 'sw');
    return isUsed ? buildColumnMatch(column, toBound(filter.op, key, false), false) : undefined;
  };
const createColumnMatchBuilder =
  (column: string, toKey: (text: string) => string, isUnique = false): BuildMatch =>
  (filter) =>
    buildColumnMatch(column, toBound(filter.op, toKey(textOf(filter)), isUnique));

/** Maps the path of each attribute with an index (scim.md, section 7) to the function that builds its condition. */
const INDEXED: Readonly<Record<string, BuildMatch>> = {
  id: (filter) =>
    isAscii(textOf(filter))
      ? buildColumnMatch('uuid', toBound(filter.op, textOf(filter).toLowerCase(), true, '~'))
      : undefined,
  userName: createColumnMatchBuilder('username_key', toLoginKey, true),
  externalId: createColumnMatchBuilder('external_id_key', toExactKey, true),
  'emails.value': buildEmailMatch,
  'meta.created': createColumnMatchBuilder('created', toDbTime),
  'meta.lastModified': createColumnMatchBuilder('updated', toDbTime),
  'meta.resourceType': (filter) =>
    filter.op === 'eq' ? (textOf(filter).toLowerCase() === 'user' ? ALL_USERS : NO_USERS) : undefined,
  displayName: (filter) => buildValueMatch('displayName', filter, true),
  [`${ENTERPRISE_SCHEMA}:employeeNumber`]: (filter) => buildValueMatch('employeeNumber', filter, false),
  [`${ENTERPRISE_SCHEMA}:department`]: (filter) => buildValueMatch('department', filter, false),
  active: ({ value }) => {
    const params = [value === true ? 'Active' : 'Blocked'];
    return buildColumnMatch('status', { text: (column) => `${column} = ?`, params, breadth: 'many' });
  },
  'roles.value': buildRoleMatch,
  [`${ENTERPRISE_SCHEMA}:manager.value`]: buildManagerMatch,
  'groups.value': buildGroupMatch,
  'name.givenName': createNameMatchBuilder('firstname_sort'),
  'name.familyName': createNameMatchBuilder('surname_sort'),
};

/** Paths of the attributes with an index, for the error message about a filter without one. */
export const INDEXED_PATHS = Object.keys(INDEXED);

/**
 * Returns the condition for a comparison, or undefined if no index applies or the database cannot process the value.
 */
function findMatch(filter: CompareFilter, roles: RoleCatalogue): Match | undefined {
  const { value, path } = filter;
  if (typeof value === 'string' && !isBindable(value)) return undefined;
  return INDEXED[(path.sub ?? path.attribute).path]?.(filter, roles);
}

/** Returns true if every database engine accepts the string as a parameter. */
export const isBindable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/**
 * Returns true if the string contains only printable ASCII characters. MariaDB rejects the comparison of an ASCII
 * column with other strings.
 */
export const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
