import type { FieldChange } from '../../platform/common/field-changes.js';
import { type JsonText, fromJson, isEmptyValue, isObject, toJson } from '../../platform/common/json.js';
import { addSeconds, now } from '../../platform/common/time.js';
import {
  type FieldWords,
  splitWords,
  splitWordsAndParts,
  toPhoneKey,
  weighWords,
} from '../../platform/common/search-words.js';
import { type Attributes, type Authname, type SocialMedia, localPartOf } from './formats.js';
import { toExactKey, toLoginKey, toNameSortKey, toAttributeKey } from './comparison-keys.js';
import { UserEntity } from './user.entity.js';
import type { UserValueEntity, UserWordEntity } from './user-lookups.entity.js';

const COMPUTED = ['username_key', 'email_key', 'external_id_key', 'firstname_sort', 'surname_sort'] as const;

export type UserRow = Omit<UserEntity, (typeof COMPUTED)[number]>;

interface ParsedFields {
  roles: readonly string[];
  authname: Readonly<Authname>;
  social_media: Readonly<SocialMedia>;
  attributes: Attributes;
  group_roles: readonly string[];
  hide_email: boolean;
  hide_phone_numbers: boolean;
  password_change_required: boolean;
}

/** A user in memory: the row with parsed JSON, without the computed columns. */
export interface User extends Omit<UserRow, keyof ParsedFields>, ParsedFields {}

const FIXED = ['uuid', 'created', 'updated', 'last_access', 'version'] as const;
type Changeable = Exclude<keyof User, (typeof FIXED)[number]>;

// All users without attributes share `NO_ATTRIBUTES`, and all users without group roles share `NO_ROLES`, so that these
// values can be compared by identity.
const NO_ATTRIBUTES: Attributes = Object.freeze({});
const NO_ROLES: readonly string[] = Object.freeze([]);

const EMPTY_ROW: UserRow = new UserEntity();
for (const computed of COMPUTED) Reflect.deleteProperty(EMPTY_ROW, computed);
/** The user from which new users are created, with the initial value of every field. */
export const EMPTY_USER: Readonly<User> = toUser(EMPTY_ROW);

/** Fields that a change can set, in their order in audit events. */
const CHANGEABLE: readonly Changeable[] = Object.keys(EMPTY_USER).filter(
  (field): field is Changeable => !FIXED.some((fixed) => fixed === field),
);

export const USER_COLUMNS: readonly (keyof UserRow)[] = ['uuid', ...CHANGEABLE, ...FIXED.slice(1)];

export function toUser(row: UserRow): User {
  const { roles, group_roles } = parseRoles(row);
  return {
    ...row,
    roles,
    authname: row.authname === null ? {} : fromJson(row.authname),
    social_media: row.social_media === null ? {} : fromJson(row.social_media),
    attributes: row.attributes === null ? NO_ATTRIBUTES : fromJson(row.attributes),
    group_roles,
    hide_email: row.hide_email === 1,
    hide_phone_numbers: row.hide_phone_numbers === 1,
    password_change_required: row.password_change_required === 1,
  };
}

export function parseRoles({ roles, group_roles }: Pick<UserRow, 'roles' | 'group_roles'>) {
  return {
    roles: fromJson(roles),
    group_roles: group_roles === null ? NO_ROLES : fromJson(group_roles),
  };
}

/** Parses a user that was stored as JSON. Columns that the table has gained since then get their initial value. */
export function parseStoredUser(document: JsonText<UserRow>): User {
  return toUser({ ...EMPTY_ROW, ...fromJson(document) });
}

export function toUserRow(user: User): UserEntity {
  return {
    ...user,
    username_key: toLoginKey(user.username),
    email_key: toLoginKey(user.email),
    external_id_key: user.external_id === '' ? null : toExactKey(user.external_id),
    roles: toJson(user.roles),
    firstname_sort: toNameSortKey(user.firstname),
    surname_sort: toNameSortKey(user.surname),
    authname: toJsonOrNull(user.authname),
    social_media: toJsonOrNull(user.social_media),
    attributes: toJsonOrNull(user.attributes),
    group_roles: toJsonOrNull(user.group_roles),
    hide_email: Number(user.hide_email),
    hide_phone_numbers: Number(user.hide_phone_numbers),
    password_change_required: Number(user.password_change_required),
  };
}

function toJsonOrNull<T extends object>(value: T): JsonText<T> | null {
  return isEmptyValue(value) ? null : toJson(value);
}

/**
 * Returns all roles of a user, including roles from groups. Use the field `roles` only to show or change the user's own
 * roles.
 */
export function rolesOf({ roles, group_roles }: Pick<User, 'roles' | 'group_roles'>): readonly string[] {
  return group_roles.length === 0 ? roles : [...new Set([...roles, ...group_roles])];
}

/** Lists the changed fields for the audit. For a new user, these are the fields with a value. */
export function diffUsers(before: User | undefined, after: User): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const field of CHANGEABLE) {
    const value = after[field];
    if (before ? isEqual(before[field], value) : value === false || isEmptyValue(value)) continue;
    if (field === 'password_hash') changes.push({ field: 'password' });
    else if (field === 'attributes')
      changes.push(...diffAttributes(before?.attributes ?? {}, after.attributes));
    else changes.push({ field, old: before?.[field] ?? null, new: value });
  }
  return changes;
}

/** Lists the non-empty fields of a deleted user for the audit, as field changes that contain only the old value. */
export function listRemovedFields(before: User): FieldChange[] {
  return diffUsers(undefined, before).map((change) =>
    'new' in change ? { field: change.field, old: change.new, new: null } : change,
  );
}

/** Lists each changed attribute as a separate field change, such as `attributes.title`. */
function diffAttributes(before: Attributes, after: Attributes): FieldChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !isEqual(before[name], after[name]))
    .map((name) => ({ field: `attributes.${name}`, old: before[name] ?? null, new: after[name] ?? null }));
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const { length } = Object.keys(a);
  if (length !== Object.keys(b).length) return false;
  return length === 0 || JSON.stringify(sortKeys(a)) === JSON.stringify(sortKeys(b));
}

function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, sortKeys(member)]);
}

/** Attributes by which identity providers search for users, stored in the look-up table `user_values`. */
const SEARCHED_ATTRIBUTES = ['displayName', 'employeeNumber', 'department', 'manager'] as const;

function displayNameOf({ displayName }: Attributes): string {
  return typeof displayName === 'string' ? displayName : '';
}

/** Fields that determine the rows of `user_values`. */
const VALUE_FIELDS = ['attributes', 'email', 'phone', 'mobile'] as const satisfies (keyof User)[];
type UserWithValues = Pick<User, 'uuid' | (typeof VALUE_FIELDS)[number]>;

/** Returns true if all fields that determine the rows of `user_values` are equal. */
export const hasSameValues = (before: User, after: User): boolean =>
  VALUE_FIELDS.every((field) => before[field] === after[field]);

/**
 * Returns the rows of `user_values` for a user: the searched attributes, the addresses in `attributes.emails`, the
 * domain of the e-mail address, and the reversed digits of the telephone numbers.
 */
export function toValueRows({ uuid, attributes, email, phone, mobile }: UserWithValues): UserValueEntity[] {
  const rows = new Map<string, UserValueEntity>();
  const add = (attribute: string, value: unknown): void => {
    const key = typeof value === 'string' ? toAttributeKey(value) : '';
    if (key !== '') rows.set(`${attribute} ${key}`, { attribute, value_key: key, user_uuid: uuid });
  };
  for (const attribute of SEARCHED_ATTRIBUTES) add(attribute, attributes[attribute]);
  for (const address of listAddresses(attributes)) add('emails', address);
  add('email_domain', email.slice(email.lastIndexOf('@') + 1));
  for (const number of [phone, mobile]) add('phone', toPhoneKey(number));
  return [...rows.values()];
}

/** Lists the addresses in `attributes.emails`, which omits the address in the column `email`. */
export const listAddresses = ({ emails }: Attributes): unknown[] =>
  Array.isArray(emails) ? emails.map((email) => (isObject(email) ? email['value'] : undefined)) : [];

const NAME_WEIGHT = 4;
const LOGIN_WEIGHT = 2;
const ID_WEIGHT = 1;

/** Replaces characters that a text column cannot store. Unvalidated attributes can contain them. */
const toStorable = (text: string): string => text.toWellFormed().replaceAll('\0', ' ');

/** Fields that determine the search words and their weights, in addition to the attribute `displayName`. */
const WORD_FIELDS = [
  'firstname',
  'middle_name',
  'surname',
  'known_as',
  'username',
  'email',
  'hide_email',
  'external_id',
] as const satisfies (keyof User)[];

/** Returns true if all fields that determine the search words are equal. */
export function hasSameWords(before: User, after: User): boolean {
  return (
    WORD_FIELDS.every((field) => before[field] === after[field]) &&
    displayNameOf(before.attributes) === displayNameOf(after.attributes)
  );
}

/**
 * Returns the rows of `user_words` for a user. `public_weight`, for searches by users who are not Webmasters, ignores
 * `displayName` and a hidden e-mail address.
 */
export function toWordRows(
  user: Pick<User, 'uuid' | 'attributes' | (typeof WORD_FIELDS)[number]>,
): UserWordEntity[] {
  const names = [user.firstname, user.middle_name, user.surname, user.known_as];
  const addresses = [...splitWords(user.email), ...splitWords(localPartOf(user.email))];
  return weighWords([
    ...names.map((name): FieldWords => [splitWordsAndParts(name), NAME_WEIGHT]),
    [splitWordsAndParts(user.username), LOGIN_WEIGHT],
    [addresses, LOGIN_WEIGHT, user.hide_email],
    [splitWords(user.external_id), ID_WEIGHT],
    [splitWordsAndParts(toStorable(displayNameOf(user.attributes))), NAME_WEIGHT, true],
  ]).map((row) => ({ ...row, user_uuid: user.uuid }));
}

/** Names that `rollcall doctor scim` creates (`ReplayRun.name`). */
const TEMPORARY = /^doctor-[0-9a-f]{12}(?!\w)/;

/**
 * Returns true for a user of `rollcall doctor scim`, who is deleted for good and does not count towards the fuse. The
 * user was created within the last hour, so renaming another user does not make that user temporary.
 */
export const isTemporary = ({ username, created }: User): boolean =>
  TEMPORARY.test(username) && created > addSeconds(now(), -3600);
