import { toDbTime } from '../../platform/common/time.js';
import { isUuid } from '../../platform/common/uuid.js';
import { type Clause, toClause, joinClauses, toPlaceholders } from '../../platform/database/engine/sql.js';
import { toExactKey, toLoginKey } from '../../users/model/comparison-keys.js';
import type { AttributePath } from '../protocol/attribute.js';
import {
  type CompareFilter,
  type CompareOperator,
  type Filter,
  getComparedValues,
} from '../protocol/filter.js';
import { toBound, isAscii, isBindable } from '../users/filter-plan.js';

const NO_GROUP = toClause('1 = 0');
/**
 * Matches groups that have at least one member. Does not use EXISTS, because MariaDB would then read all memberships.
 */
const HAS_MEMBERS = toClause(
  '(SELECT m.user_uuid FROM group_members m WHERE m.group_uuid = u.uuid LIMIT 1) IS NOT NULL',
);

/**
 * Splits a filter into SQL conditions and a remaining filter, `rest`. The remaining filter is evaluated for each group
 * that meets the conditions.
 * @param hidden users that the API key must not see
 */
export function planGroupFilter(filter: Filter | undefined, hidden: ReadonlySet<string>) {
  if (!filter) return { conditions: [], rest: undefined };
  const conditions: Clause[] = [];
  const others: Filter[] = [];
  for (const part of filter.kind === 'and' ? filter.filters : [filter]) {
    const condition = toCondition(part, hidden);
    if (condition) conditions.push(condition);
    else others.push(part);
  }
  const rest: Filter | undefined = others.length > 1 ? { kind: 'and', filters: others } : others[0];
  return { conditions, rest };
}

/** Converts a filter to an equivalent SQL condition, or returns undefined if the condition could not use an index. */
function toCondition(filter: Filter, hidden: ReadonlySet<string>): Clause | undefined {
  switch (filter.kind) {
    case 'none':
      return NO_GROUP;
    case 'not':
      return undefined;
    case 'present':
      return toPresenceCondition(filter.path);
    case 'compare':
      return toValueCondition(filter, hidden);
    case 'element': {
      const ids = filter.attribute.name === 'members' ? getComparedValues(filter.filter) : undefined;
      return ids && toMemberCondition(ids, hidden);
    }
    case 'and':
    case 'or': {
      const parts = filter.filters.map((part) => toCondition(part, hidden));
      return parts.every((part) => part !== undefined) ? joinConditions(parts, filter.kind) : undefined;
    }
  }
}

/** Joins SQL conditions. Uses UNION instead of OR, because a condition with OR would not use an index. */
function joinConditions(parts: readonly Clause[], kind: 'and' | 'or'): Clause {
  const select = 'SELECT uuid FROM user_groups u WHERE ';
  const { sql, params } = joinClauses(parts, kind === 'and' ? ' AND ' : ` UNION ${select}`);
  return kind === 'and'
    ? toClause(`(${sql})`, ...params)
    : toClause(`u.uuid IN (SELECT uuid FROM (${select}${sql}) AS chosen)`, ...params);
}

function toValueCondition(
  { path, op, value }: CompareFilter,
  hidden: ReadonlySet<string>,
): Clause | undefined {
  const text = String(value);
  return isBindable(text) ? INDEXED[(path.sub ?? path.attribute).path]?.(op, text, hidden) : undefined;
}

function toPresenceCondition({ attribute, sub }: AttributePath): Clause | undefined {
  if (attribute.name === 'externalId') return toClause('u.external_id IS NOT NULL');
  if (['displayName', 'id', 'meta'].includes(attribute.name)) return toClause('1 = 1');
  const isMembers = attribute.name === 'members' && (!sub || sub.name === 'value' || sub.name === '$ref');
  return isMembers ? HAS_MEMBERS : undefined;
}

type BuildCondition = (op: CompareOperator, text: string, hidden: ReadonlySet<string>) => Clause | undefined;

/** Maps the path of each attribute with an index (scim.md, section 7) to the function that builds its condition. */
const INDEXED: Readonly<Record<string, BuildCondition>> = {
  id: (op, text) => (isAscii(text) ? buildKeyComparison('u.uuid', op, text.toLowerCase(), '~') : undefined),
  externalId: (op, text) => buildKeyComparison('u.external_id', op, toExactKey(text)),
  displayName: (op, text) =>
    op === 'eq' || op === 'sw' ? buildKeyComparison('u.display_name_key', op, toLoginKey(text)) : undefined,
  'meta.created': (op, text) => buildKeyComparison('u.created', op, toDbTime(text)),
  'meta.lastModified': (op, text) => buildKeyComparison('u.updated', op, toDbTime(text)),
  'members.value': (op, text, hidden) => (op === 'eq' ? toMemberCondition([text], hidden) : undefined),
};

function buildKeyComparison(
  column: string,
  op: CompareOperator,
  key: string,
  last?: string,
): Clause | undefined {
  const bound = toBound(op, key, false, last);
  return bound && toClause(`(${bound.text(column)})`, ...bound.params);
}

function toMemberCondition(ids: readonly string[], hidden: ReadonlySet<string>): Clause {
  const known = ids.filter((id) => isUuid(id)).map((id) => id.toLowerCase());
  const users = known.filter((id) => !hidden.has(id));
  if (users.length === 0) return NO_GROUP;
  const list = toPlaceholders(users.length);
  return toClause(`u.uuid IN (SELECT group_uuid FROM group_members WHERE user_uuid IN (${list}))`, ...users);
}
