import {
  type Clause,
  type Sql,
  toClause,
  orderedJoinOperatorOf,
} from '../../platform/database/engine/sql.js';
import { type PageOrder, type KeyRange, splitByEmptyKey } from '../../platform/database/keyset-pages.js';
import { NO_KEY } from '../../users/search/user-pages.service.js';
import type { AttributePath } from '../protocol/attribute.js';
import { ENTERPRISE_SCHEMA } from '../protocol/urns.js';

/** An order in which the database can read a list. */
export interface ListOrder extends PageOrder<ListRange> {
  /** True if the order uses a look-up table. If only a few users match, they are sorted in memory instead. */
  byLookUp?: boolean;
}

/** A range of a sorted list. `tests` and the filter together select its users. */
export interface ListRange extends KeyRange {
  from?: Clause;
  tests?: readonly Clause[];
  /** Name, in the look-up table, of the attribute that all users in this range lack. Undefined for other ranges. */
  without?: string;
}

/**
 * Maps each attribute with an index to the ranges of its sort order. Users without a value can form a separate range.
 */
const RANGES: Readonly<Record<string, readonly KeyRange[]>> = {
  id: [{ key: 'u.uuid', unique: true }],
  userName: [{ key: 'u.username_key', unique: true }],
  externalId: splitByEmptyKey({ key: 'u.external_id_key', unique: true }, null),
  emails: [{ key: 'u.email_key', unique: true }],
  'meta.created': [{ key: 'u.created', unique: false }],
  'meta.lastModified': [{ key: 'u.updated', unique: false }],
  'name.givenName': splitByEmptyKey({ key: 'u.firstname_sort', unique: false }, ''),
  'name.familyName': splitByEmptyKey({ key: 'u.surname_sort', unique: false }, ''),
};

/**
 * Maps the path of each attribute that is sorted through a look-up table to the name of the attribute in this table.
 */
const LOOK_UPS: Readonly<Record<string, string>> = {
  displayName: 'displayName',
  [`${ENTERPRISE_SCHEMA}:employeeNumber`]: 'employeeNumber',
  [`${ENTERPRISE_SCHEMA}:department`]: 'department',
};

/** The order of creation. New users come last, so earlier pages stay the same. */
export const BY_CREATION: ListOrder = { order: 'asc', ranges: [{ key: 'u.created', unique: false }] };

/**
 * Returns the order by an attribute, or undefined if no index has this order. Users without a value come last in
 * ascending order and first in descending order.
 */
export function toIndexOrder(
  { attribute, sub }: AttributePath,
  descending: boolean,
  sql: Pick<Sql, 'dialect'>,
): ListOrder | undefined {
  const path = sub && sub.name !== 'value' ? sub.path : attribute.path;
  const lookUp = LOOK_UPS[path];
  const ranges = lookUp === undefined ? RANGES[path] : buildLookUpRanges(lookUp, sql);
  if (!ranges) return undefined;
  const byLookUp = lookUp !== undefined;
  return descending
    ? { order: 'desc', ranges: ranges.toReversed(), byLookUp }
    : { order: 'asc', ranges, byLookUp };
}

/**
 * Builds the two ranges of a list that is sorted through a look-up table: first users with a value, in the order of
 * `user_values s`, then users without a value.
 */
const buildLookUpRanges = (attribute: string, sql: Pick<Sql, 'dialect'>): ListRange[] => [
  {
    key: 's.value_key',
    tie: 's.user_uuid',
    unique: false,
    from: toClause(`user_values s ${orderedJoinOperatorOf(sql)} users u ON u.uuid = s.user_uuid`),
    tests: [toClause('s.attribute = ?', attribute)],
  },
  {
    key: NO_KEY,
    only: null,
    unique: false,
    tests: [toClause('JSON_EXTRACT(u.attributes, ?) IS NULL', `$.${attribute}`)],
    without: attribute,
  },
];

/**
 * Returns the same order without an index, for sorting a few users. The plus sign keeps SQLite from using the index,
 * and MariaDB ignores it.
 */
export const toUnindexedOrder = ({ order, ranges }: ListOrder): ListOrder => ({
  order,
  ranges: ranges.map((range) => ({ ...range, key: `+${range.key}`, tie: '+u.uuid' })),
});
