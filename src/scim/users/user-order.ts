import { type Clause, type Sql, clause, joinInOrder } from '../../platform/database/engine/sql.js';
import { type PageOrder, type Range, splitEmpty } from '../../platform/database/keyset-pages.js';
import { NO_KEY } from '../../users/search/user-pages.service.js';
import type { AttributePath } from '../protocol/attribute.js';
import { ENTERPRISE_SCHEMA } from '../protocol/urns.js';

/** An order of a list in the database. */
export interface ListOrder extends PageOrder<ListRange> {
  /** True where a look-up of attributes sorts: the few users that a filter finds are sorted when they have been read. */
  byLookUp?: boolean;
}

/** A range with what selects its users, beside the filter of the list. */
export interface ListRange extends Range {
  from?: Clause;
  tests?: readonly Clause[];
  /** The attribute with a look-up of which its users have no value. */
  without?: string;
}

/** Columns with an index by which lists are sorted. Users without a value are a range of their own. */
const RANGES: Readonly<Record<string, readonly Range[]>> = {
  id: [{ key: 'u.uuid', unique: true }],
  userName: [{ key: 'u.username_key', unique: true }],
  externalId: splitEmpty({ key: 'u.external_id_key', unique: true }, null),
  emails: [{ key: 'u.email_key', unique: true }],
  'meta.created': [{ key: 'u.created', unique: false }],
  'meta.lastModified': [{ key: 'u.updated', unique: false }],
  'name.givenName': splitEmpty({ key: 'u.firstname_sort', unique: false }, ''),
  'name.familyName': splitEmpty({ key: 'u.surname_sort', unique: false }, ''),
};

/** Attributes with a look-up, in the order of which users are read. */
const LOOK_UPS: Readonly<Record<string, string>> = {
  displayName: 'displayName',
  [`${ENTERPRISE_SCHEMA}:employeeNumber`]: 'employeeNumber',
  [`${ENTERPRISE_SCHEMA}:department`]: 'department',
};

/** The order of creation: stable for any `startIndex`. */
export const BY_CREATION: ListOrder = { order: 'asc', ranges: [{ key: 'u.created', unique: false }] };

/** What an index sorts; undefined for any other attribute. Users without a value are last, and first when descending. */
export function indexOrder(
  { attribute, sub }: AttributePath,
  descending: boolean,
  sql: Pick<Sql, 'dialect'>,
): ListOrder | undefined {
  const path = sub && sub.name !== 'value' ? sub.path : attribute.path;
  const lookUp = LOOK_UPS[path];
  const ranges = lookUp === undefined ? RANGES[path] : lookUpRanges(lookUp, sql);
  if (!ranges) return undefined;
  const byLookUp = lookUp !== undefined;
  return descending
    ? { order: 'desc', ranges: ranges.toReversed(), byLookUp }
    : { order: 'asc', ranges, byLookUp };
}

/** The users with a value of an attribute in `user_values s`, in its order, and those without. */
const lookUpRanges = (attribute: string, sql: Pick<Sql, 'dialect'>): ListRange[] => [
  {
    key: 's.value_key',
    tie: 's.user_uuid',
    unique: false,
    from: clause(`user_values s ${joinInOrder(sql)} users u ON u.uuid = s.user_uuid`),
    tests: [clause('s.attribute = ?', attribute)],
  },
  {
    key: NO_KEY,
    only: null,
    unique: false,
    tests: [clause('JSON_EXTRACT(u.attributes, ?) IS NULL', `$.${attribute}`)],
    without: attribute,
  },
];

/** An order of few users needs no index: a plus sign keeps SQLite from using it, and MariaDB ignores the sign. */
export const ofFew = ({ order, ranges }: ListOrder): ListOrder => ({
  order,
  ranges: ranges.map((range) => ({ ...range, key: `+${range.key}`, tie: '+u.uuid' })),
});
