import type { Range } from '../../users/search/search-plan.js';
import type { AttributePath } from '../protocol/attribute.js';
import { ENTERPRISE_SCHEMA } from '../protocol/urns.js';

/** The order of a list in the database: ranges one after another, each sorted by its key and then by id. */
export interface ListOrder {
  /** For the cursor. */
  name: string;
  order: 'asc' | 'desc';
  ranges: readonly ListRange[];
  /** Whether a look-up of attributes sorts: the few users that a filter finds are sorted when they have been read. */
  byLookUp?: true;
}

/** An attribute of users that is looked up in `user_values s`. */
export interface Within {
  /** Of which they have a value, which leads to them. */
  lookUp?: string;
  /** Of which they have none. */
  without?: string;
}

/** A range with what selects its users, beside the scope of the list. */
export interface ListRange extends Range {
  within?: Within;
}

/** Columns with an index by which lists are sorted, with the value of users who have none. */
const COLUMNS: Readonly<Record<string, { column: string; unique?: true; empty?: null | '' }>> = {
  id: { column: 'uuid', unique: true },
  userName: { column: 'username_key', unique: true },
  externalId: { column: 'external_id_key', unique: true, empty: null },
  emails: { column: 'email_key', unique: true },
  'meta.created': { column: 'created' },
  'meta.lastModified': { column: 'updated' },
  'name.givenName': { column: 'firstname_sort', empty: '' },
  'name.familyName': { column: 'surname_sort', empty: '' },
};

/** Attributes with a look-up, in the order of which users are read. */
const LOOK_UPS: Readonly<Record<string, string>> = {
  displayName: 'displayName',
  [`${ENTERPRISE_SCHEMA}:employeeNumber`]: 'employeeNumber',
  [`${ENTERPRISE_SCHEMA}:department`]: 'department',
};

/** The order of creation: stable for any `startIndex`. */
export const BY_CREATION: ListOrder = { name: 'created', order: 'asc', ranges: [rangeOf('created', false)] };

/** What an index sorts; undefined for any other attribute. Who has no value is last, and first when descending. */
export function indexOrder(sortBy: AttributePath, descending: boolean): ListOrder | undefined {
  const { attribute, sub } = sortBy;
  const path = sub && sub.name !== 'value' ? sub.path : attribute.path;
  const order = descending ? 'desc' : 'asc';
  const lookUp = LOOK_UPS[path];
  if (lookUp !== undefined)
    return { name: path, order, ranges: lookUpRanges(lookUp, descending), byLookUp: true };
  const found = COLUMNS[path];
  if (!found) return undefined;
  const { column, unique = false, empty } = found;
  const range = rangeOf(column, unique);
  if (empty === undefined) return { name: path, order, ranges: [range] };
  const set = { ...range, test: empty === null ? 'IS NOT NULL' : "> ''" };
  const unset = { ...range, only: empty };
  return { name: path, order, ranges: descending ? [unset, set] : [set, unset] };
}

/** The key of those who have none: they are sorted by their ids alone. */
export const NO_KEY = 'NULL';

function lookUpRanges(attribute: string, descending: boolean): ListRange[] {
  const set = { key: 's.value_key', tie: 's.user_uuid', unique: false, within: { lookUp: attribute } };
  const unset = { key: NO_KEY, only: null, unique: false, within: { without: attribute } };
  return descending ? [unset, set] : [set, unset];
}

function rangeOf(column: string, unique: boolean): Range {
  return { key: `u.${column}`, unique };
}

/** A range of few users needs no index: a plus sign keeps SQLite from using it, and MariaDB ignores the sign. */
export const ofFew = (range: Range): Range => ({ ...range, key: `+${range.key}`, tie: '+u.uuid' });
