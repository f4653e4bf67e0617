import { toDbTime } from '../../platform/common/time.js';
import { isUuid } from '../../platform/common/uuid.js';
import { type Clause, type SqlValue, clause, joinClauses } from '../../platform/database/engine/sql.js';
import { exactKey, loginKey } from '../../users/model/keys.js';
import type { AttributePath } from '../protocol/attribute.js';
import type { CompareFilter, CompareOperator, Filter } from '../protocol/filter.js';
import { namedValues } from '../protocol/filter-match.js';

/** A filter as conditions that indexes answer, all of which must hold, and what is left to decide of each group. */
export interface GroupFilterPlan {
  conditions: readonly Clause[];
  rest: Filter | undefined;
}

/** Sorts behind every character: the end of the texts with one beginning. */
const LAST = '\u{10FFFF}';
const SIGNS: Readonly<Partial<Record<CompareOperator, string>>> = {
  eq: '=',
  gt: '>',
  ge: '>=',
  lt: '<',
  le: '<=',
};
const NONE = clause('1 = 0');
/** A value and not EXISTS, which MariaDB would answer by all memberships. */
const HAS_MEMBERS = clause(
  '(SELECT m.user_uuid FROM group_members m WHERE m.group_uuid = u.uuid LIMIT 1) IS NOT NULL',
);

/** @param hidden users whose membership is not told. */
export function planGroupFilter(
  filter: Filter | undefined,
  hidden: ReadonlySet<string> = new Set(),
): GroupFilterPlan {
  if (!filter) return { conditions: [], rest: undefined };
  const parts = filter.kind === 'and' ? filter.filters : [filter];
  const conditions: Clause[] = [];
  const others: Filter[] = [];
  for (const part of parts) {
    const condition = keyed(part, hidden);
    if (condition) conditions.push(condition);
    else others.push(part);
  }
  const [first, ...more] = others;
  return { conditions, rest: first && more.length > 0 ? { kind: 'and', filters: others } : first };
}

/** The condition that says the same as a filter; undefined where no index answers it. */
function keyed(filter: Filter, hidden: ReadonlySet<string>): Clause | undefined {
  if (filter.kind === 'none') return NONE;
  if (filter.kind === 'compare') return compared(filter, hidden);
  if (filter.kind === 'element')
    return filter.attribute.name === 'members' ? byMembers(filter.filter, hidden) : undefined;
  if (filter.kind === 'present') return present(filter.path);
  if (filter.kind === 'not') return undefined;
  const parts = filter.filters.map((part) => keyed(part, hidden));
  const all = parts.filter((part) => part !== undefined);
  return all.length < parts.length ? undefined : joined(all, filter.kind);
}

/** An `or` is a union of ids: one condition with OR would have no index. */
function joined(parts: readonly Clause[], kind: 'and' | 'or'): Clause {
  const { sql, params } = joinClauses(
    parts,
    kind === 'and' ? ' AND ' : ' UNION SELECT uuid FROM user_groups u WHERE ',
  );
  if (kind === 'and') return clause(`(${sql})`, ...params);
  return clause(
    `u.uuid IN (SELECT uuid FROM (SELECT uuid FROM user_groups u WHERE ${sql}) AS chosen)`,
    ...params,
  );
}

function present({ attribute, sub }: AttributePath): Clause | undefined {
  if (attribute.name === 'externalId') return clause('u.external_id IS NOT NULL');
  if (attribute.name === 'displayName' || attribute.name === 'id' || attribute.name === 'meta')
    return clause('1 = 1');
  const isMembers = attribute.name === 'members' && (!sub || sub.name === 'value' || sub.name === '$ref');
  return isMembers ? HAS_MEMBERS : undefined;
}

function compared(
  { path: { attribute, sub }, op, value }: CompareFilter,
  hidden: ReadonlySet<string>,
): Clause | undefined {
  const text = String(value);
  if (!text.isWellFormed() || text.includes('\0')) return undefined; // no engine could be asked
  switch (sub ? `${attribute.name}.${sub.name}` : attribute.name) {
    case 'id':
      // MariaDB compares a column of identifiers with ASCII alone.
      return /^[\x20-\x7e]*$/.test(text) ? ofText('u.uuid', op, text.toLowerCase(), '~') : undefined;
    case 'externalId':
      return ofText('u.external_id', op, exactKey(text));
    case 'displayName':
      return op === 'eq' || op === 'sw' ? ofText('u.display_name_key', op, loginKey(text)) : undefined;
    case 'meta.created':
      return ofTime('u.created', op, text);
    case 'meta.lastModified':
      return ofTime('u.updated', op, text);
    case 'members':
    case 'members.value':
      return op === 'eq' ? haveMember([text], hidden) : undefined;
    default:
      return undefined;
  }
}

function ofText(column: string, op: CompareOperator, key: string, last = LAST): Clause | undefined {
  if (op === 'sw') return clause(`(${column} >= ? AND ${column} < ?)`, key, `${key}${last}`);
  const sign = SIGNS[op];
  return sign === undefined ? undefined : clause(`${column} ${sign} ?`, key);
}

/** The times that every engine can compare with; no group is older or younger. */
const FIRST_MILLIS = Date.UTC(1900, 0);
const LAST_MILLIS = Date.UTC(9999, 0);

/** @param text ISO 8601 in UTC, as the parser has it. */
function ofTime(column: string, op: CompareOperator, text: string): Clause | undefined {
  const sign = SIGNS[op];
  const millis = Math.min(LAST_MILLIS, Math.max(FIRST_MILLIS, Date.parse(text)));
  return sign === undefined ? undefined : clause(`${column} ${sign} ?`, toDbTime(new Date(millis)));
}

/** @param filter of elements. */
function byMembers(filter: Filter, hidden: ReadonlySet<string>): Clause | undefined {
  const ids = namedValues(filter);
  return ids && haveMember(ids, hidden);
}

function haveMember(ids: readonly string[], hidden: ReadonlySet<string>): Clause {
  const named = ids.filter((id) => isUuid(id)).map((id) => id.toLowerCase());
  const users: SqlValue[] = named.filter((id) => !hidden.has(id));
  if (users.length === 0) return NONE;
  const list = users.map(() => '?').join(', ');
  return clause(`u.uuid IN (SELECT group_uuid FROM group_members WHERE user_uuid IN (${list}))`, ...users);
}
