import { type Clause, type Sql, toClause, orderedJoinOf } from '../../platform/database/engine/sql.js';
import { type PageOrder, type KeyRange, splitByEmptyKey } from '../../platform/database/keyset-pages.js';
import { NO_KEY } from '../../users/search/user-pages.service.js';
import type { AttributePath } from '../protocol/attribute.js';
import { ENTERPRISE_SCHEMA } from '../protocol/urns.js';

/** An order of a list that the database can produce. */
export interface ListOrder extends PageOrder<ListRange> {
  /**
   * True if the order uses a look-up table. If a filter selects only a few users, they are sorted in memory instead.
   */
  byLookUp?: boolean;
}

/** A range of an order, with the conditions that select its users in addition to the filter. */
export interface ListRange extends KeyRange {
  from?: Clause;
  tests?: readonly Clause[];
  /** Set for users without a value of this attribute, which has a look-up table. */
  without?: string;
}

/** Sortable columns with an index. Users without a value form a separate range. */
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

/** Attributes that are sorted by a look-up table. */
const LOOK_UPS: Readonly<Record<string, string>> = {
  displayName: 'displayName',
  [`${ENTERPRISE_SCHEMA}:employeeNumber`]: 'employeeNumber',
  [`${ENTERPRISE_SCHEMA}:department`]: 'department',
};

/** Creation order, which keeps pages by `startIndex` stable. */
export const BY_CREATION: ListOrder = { order: 'asc', ranges: [{ key: 'u.created', unique: false }] };

/**
 * Returns the order for an attribute, or undefined if the attribute lacks an index. Users without a value come
 * last, or first in descending order.
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
 * Builds the range of users with a value of an attribute, in the order of `user_values s`, and the range of users
 * without a value.
 */
const buildLookUpRanges = (attribute: string, sql: Pick<Sql, 'dialect'>): ListRange[] => [
  {
    key: 's.value_key',
    tie: 's.user_uuid',
    unique: false,
    from: toClause(`user_values s ${orderedJoinOf(sql)} users u ON u.uuid = s.user_uuid`),
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
 * Returns an order that does not use an index, to sort a few users. SQLite does not use an index for an expression with
 * a plus sign, and MariaDB ignores the sign.
 */
export const disableIndex = ({ order, ranges }: ListOrder): ListOrder => ({
  order,
  ranges: ranges.map((range) => ({ ...range, key: `+${range.key}`, tie: '+u.uuid' })),
});
