import type { RoleCatalogue } from '../../access/roles.js';
import { isUuid } from '../../platform/common/uuid.js';
import { type DbTime, toDbTime } from '../../platform/common/time.js';
import { exactKey, loginKey, sortKey, valueKey } from '../../users/model/keys.js';
import type { Clause } from '../../users/search/search-plan.js';
import type { CompareFilter, CompareOperator } from '../protocol/filter.js';
import { ENTERPRISE_SCHEMA } from '../protocol/urns.js';

/** How many users a condition may lead to: one at most, some, or so many that the order of a page is the better way. */
export type Breadth = 'one' | 'some' | 'many';

/** A condition over `users u`. A page in the order of its column reads that range of the index alone. */
export interface Test extends Clause {
  inOrder?: { key: string; sql: string };
}

/** A comparison that an index answers. */
export interface Keyed {
  /** Selects the `uuid` of the users. */
  source: Clause;
  /** The same over `users u`, in a form that no index answers: `source` or the order of the page leads to the users. */
  test: Test;
  breadth: Breadth;
  /** Whether it finds exactly the users that match, and not perhaps some others beside them. */
  isExact: boolean;
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

function boundOf(op: CompareOperator, key: string, isUnique: boolean, last = LAST): Bound | undefined {
  if (op === 'sw')
    return {
      text: (column) => `${column} >= ? AND ${column} < ?`,
      params: [key, key + last],
      breadth: 'some',
    };
  if (!isSign(op)) return undefined;
  const breadth = op !== 'eq' ? 'many' : isUnique ? 'one' : 'some';
  return { text: (column) => `${column} ${SIGNS[op]} ?`, params: [key], breadth };
}

function byColumn(column: string, bound: Bound | undefined, isExact = true): Keyed | undefined {
  if (!bound) return undefined;
  const { text, params, breadth } = bound;
  const key = `u.${column}`;
  return {
    source: { sql: `SELECT uuid FROM users WHERE ${text(column)}`, params },
    test: { sql: `(${text(`+${key}`)})`, params, inOrder: { key, sql: `(${text(key)})` } },
    breadth,
    isExact,
  };
}

function byValue(attribute: string, { op, value }: CompareFilter, isExact: boolean): Keyed | undefined {
  if (typeof value !== 'string' || (op !== 'eq' && op !== 'sw' && attribute !== 'emails')) return undefined;
  const key = valueKey(value);
  const bound = boundOf(op, key, false);
  if (!bound || key === '') return undefined;
  const { text, breadth } = bound;
  const where = `FROM user_values WHERE attribute = ? AND ${text('value_key')}`;
  const params = [attribute, ...bound.params];
  return {
    source: { sql: `SELECT user_uuid AS uuid ${where}`, params },
    test: { sql: `EXISTS (SELECT 1 ${where} AND user_uuid = u.uuid)`, params },
    breadth,
    isExact: isExact && op === 'eq' && key.length < 255,
  };
}

/** Whoever meets one of them. */
export function anyOf(branches: readonly Keyed[]): Keyed {
  const widest = branches.some(({ breadth }) => breadth === 'many') ? 'many' : 'some';
  return {
    source: {
      sql: branches.map(({ source }) => source.sql).join(' UNION '),
      params: branches.flatMap(({ source }) => source.params),
    },
    test: {
      sql: `(${branches.map(({ test }) => test.sql).join(' OR ')})`,
      params: branches.flatMap(({ test }) => test.params),
    },
    breadth: branches.length === 1 ? (branches[0]?.breadth ?? 'some') : widest,
    isExact: branches.every(({ isExact }) => isExact),
  };
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
  const own = { sql: 'INSTR(u.roles, ?) > 0', params: [JSON.stringify(role)] };
  return {
    source: {
      sql: `SELECT r.user_uuid AS uuid FROM user_roles r JOIN users u ON u.uuid = r.user_uuid WHERE r.role = ? AND ${own.sql}`,
      params: [role, ...own.params],
    },
    test: own,
    breadth: 'many',
    isExact: true,
  };
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
  const params = [String(value).toLowerCase()];
  return {
    source: { sql: 'SELECT user_uuid AS uuid FROM group_members WHERE group_uuid = ?', params },
    test: {
      sql: 'EXISTS (SELECT 1 FROM group_members m WHERE m.group_uuid = ? AND m.user_uuid = u.uuid)',
      params,
    },
    breadth: 'many',
    isExact: true,
  };
}

const timeOf = (value: CompareFilter['value']): DbTime => toDbTime(String(value));

/** Everybody has it. */
export const EVERYBODY: Keyed = {
  source: { sql: 'SELECT uuid FROM users', params: [] },
  test: { sql: '1 = 1', params: [] },
  breadth: 'many',
  isExact: true,
};

/** Nobody has it. */
export const NOBODY: Keyed = {
  source: { sql: 'SELECT uuid FROM users WHERE 1 = 0', params: [] },
  test: { sql: '1 = 0', params: [] },
  breadth: 'one',
  isExact: true,
};

type ToKeyed = (filter: CompareFilter, roles: RoleCatalogue) => Keyed | undefined;
const text = ({ value }: CompareFilter): string => String(value);

const name =
  (column: string): ToKeyed =>
  (filter) =>
    filter.op === 'eq' || filter.op === 'sw'
      ? byColumn(
          column,
          sortKey(text(filter)) === '' ? undefined : boundOf(filter.op, sortKey(text(filter)), false),
          false,
        )
      : undefined;
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
export function keyedBy(filter: CompareFilter, roles: RoleCatalogue): Keyed | undefined {
  const { value, path } = filter;
  if (typeof value === 'string' && !isBindable(value)) return undefined;
  return KEYED[(path.sub ?? path.attribute).path]?.(filter, roles);
}

const isBindable = (sent: string): boolean => sent.isWellFormed() && !sent.includes('\0');

/** What a column of identifiers can be compared with: MariaDB refuses any other text. */
const isAscii = (sent: string): boolean => /^[\x20-\x7e]*$/.test(sent);
