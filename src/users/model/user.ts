import { Changes, type FieldChange, setName } from '../../platform/common/field-changes.js';
import { type JsonText, fromJson, isObject, toJson } from '../../platform/common/json.js';
import { fold, truncated } from '../../platform/common/text.js';
import { type Attributes, type Authname, type SocialMedia, localPart } from './formats.js';
import { exactKey, loginKey, sortKey, valueKey } from './comparison-keys.js';
import { UserEntity } from './user.entity.js';
import type { UserValueEntity, UserWordEntity } from './user-lookups.entity.js';

const COMPUTED = ['username_key', 'email_key', 'external_id_key', 'firstname_sort', 'surname_sort'] as const;

/** The columns of a row that hold a user; the rest is computed from them. */
export type UserRow = Omit<UserEntity, (typeof COMPUTED)[number]>;

/** The columns that a user holds in another type than its row. */
interface Opened {
  roles: readonly string[];
  authname: Readonly<Authname>;
  social_media: Readonly<SocialMedia>;
  attributes: Attributes;
  group_roles: readonly string[];
  hide_email: boolean;
  hide_phone_numbers: boolean;
}

/** A user as the rules see it: the row with its documents parsed and without its computed columns. */
export interface User extends Omit<UserRow, keyof Opened>, Opened {}

const FIXED = ['uuid', 'created', 'updated', 'last_access', 'version'] as const;
type Changeable = Exclude<keyof User, (typeof FIXED)[number]>;

// Shared, so that comparing the users without them ends at the first look.
const NO_ATTRIBUTES: Attributes = Object.freeze({});
const NO_ROLES: readonly string[] = Object.freeze([]);

const EMPTY_ROW: UserRow = new UserEntity();
for (const computed of COMPUTED) Reflect.deleteProperty(EMPTY_ROW, computed);
/** A user with no field set. */
export const EMPTY: Readonly<User> = toUser(EMPTY_ROW);

/** The fields that a change may touch, in the order in which audit rows list them. */
const CHANGEABLE: readonly Changeable[] = Object.keys(EMPTY).filter(
  (field): field is Changeable => !FIXED.some((fixed) => fixed === field),
);

const SET_NAMES = CHANGEABLE.map((field) => [field, setName(field)] as const);

export const USER_COLUMNS: readonly (keyof UserRow)[] = ['uuid', ...CHANGEABLE, ...FIXED.slice(1)];

export function toUser(row: UserRow): User {
  return {
    ...row,
    roles: fromJson(row.roles),
    authname: row.authname === null ? {} : fromJson(row.authname),
    social_media: row.social_media === null ? {} : fromJson(row.social_media),
    attributes: row.attributes === null ? NO_ATTRIBUTES : fromJson(row.attributes),
    group_roles: row.group_roles === null ? NO_ROLES : fromJson(row.group_roles),
    hide_email: row.hide_email === 1,
    hide_phone_numbers: row.hide_phone_numbers === 1,
  };
}

/** The user of a row that was kept as JSON; columns that came later are empty. */
export function storedUser(document: JsonText<UserRow>): User {
  return toUser({ ...EMPTY_ROW, ...fromJson(document) });
}

/** The row of a user: its documents as JSON, its key and sort columns computed. */
export function toRow(user: User): UserEntity {
  return {
    ...user,
    username_key: loginKey(user.username),
    email_key: loginKey(user.email),
    external_id_key: user.external_id === '' ? null : exactKey(user.external_id),
    roles: toJson(user.roles),
    firstname_sort: sortKey(user.firstname),
    surname_sort: sortKey(user.surname),
    authname: document(user.authname),
    social_media: document(user.social_media),
    attributes: document(user.attributes),
    group_roles: user.group_roles.length === 0 ? null : toJson(user.group_roles),
    hide_email: Number(user.hide_email),
    hide_phone_numbers: Number(user.hide_phone_numbers),
  };
}

function document<T extends object>(value: T): JsonText<T> | null {
  return Object.keys(value).length === 0 ? null : toJson(value);
}

/**
 * The roles that a user has: its own, and those that its groups give. Permissions, filters, counts and every rule about roles
 * go by these; only who writes or shows the own roles looks at `roles`.
 */
export function rolesOf({ roles, group_roles }: Pick<User, 'roles' | 'group_roles'>): readonly string[] {
  return group_roles.length === 0 ? roles : [...new Set([...roles, ...group_roles])];
}

/** The fields that a new user has, for its audit row; for one without a password. */
export function fieldsSet(user: User): Changes {
  const set: Record<string, unknown> = {};
  for (const [field, name] of SET_NAMES) {
    const value = user[field];
    if (same(empty(value), value)) continue;
    if (field !== 'attributes') set[name] = value;
    else for (const [attribute, one] of Object.entries(user.attributes)) set[`${name}.${attribute}`] = one;
  }
  return Changes.ofNew(set);
}

/** The fields in which two states of a user differ, as an audit row keeps them; from nothing, the fields that are set. */
export function differences(before: User | undefined, after: User): FieldChange[] {
  const old = (field: Changeable) => (before ? before[field] : empty(after[field]));
  return CHANGEABLE.filter((field) => !same(old(field), after[field])).flatMap((field) => {
    if (field === 'password_hash') return { field: 'password' };
    if (field === 'attributes') return differingAttributes(before?.attributes ?? {}, after.attributes);
    return { field, old: before?.[field] ?? null, new: after[field] };
  });
}

/** The fields that a user had who is deleted. */
export function fieldsGone(before: User): FieldChange[] {
  return differences(undefined, before).map((change) =>
    'new' in change ? { field: change.field, old: change.new, new: null } : change,
  );
}

/** Each attribute on its own, as `attributes.title`. */
function differingAttributes(before: Attributes, after: Attributes): FieldChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !same(before[name], after[name]))
    .map((name) => ({ field: `attributes.${name}`, old: before[name] ?? null, new: after[name] ?? null }));
}

/** The order of an object's keys says nothing, that of a list does. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  return JSON.stringify(ordered(a)) === JSON.stringify(ordered(b));
}

function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ordered);
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, ordered(member)]);
}

function empty(value: unknown): unknown {
  if (typeof value === 'string') return '';
  if (typeof value === 'boolean') return false;
  if (Array.isArray(value)) return [];
  return typeof value === 'object' && value !== null ? {} : null;
}

/** Attributes by which identity providers look for users, beside the columns. */
const LOOKED_UP = ['displayName', 'employeeNumber', 'department', 'manager'] as const;

/** The name to display, as it was sent; empty for none. */
function displayNameOf({ displayName }: Attributes): string {
  return typeof displayName === 'string' ? displayName : '';
}

/**
 * The rows by which a user is found by its attributes, one a value: those of `LOOKED_UP`, and as `emails` the addresses
 * that have no column. Without attributes there are none.
 */
export function valueRows({ uuid, attributes }: Pick<User, 'uuid' | 'attributes'>): UserValueEntity[] {
  const rows = new Map<string, UserValueEntity>();
  const add = (attribute: string, value: unknown): void => {
    const key = typeof value === 'string' ? valueKey(value) : '';
    if (key !== '') rows.set(`${attribute} ${key}`, { attribute, value_key: key, user_uuid: uuid });
  };
  for (const attribute of LOOKED_UP) add(attribute, attributes[attribute]);
  const { emails } = attributes;
  if (Array.isArray(emails)) for (const email of emails) if (isObject(email)) add('emails', email['value']);
  return [...rows.values()];
}

const MAX_WORD = 255;
const PUNCTUATION_AT_ENDS = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
const PUNCTUATION = /[^\p{L}\p{N}]+/u;

/** Weight of a match: a name counts more than a login name, and that more than an id. */
const NAME = 4;
const LOGIN = 2;
const ID = 1;

/** Attributes come as they were sent: no column holds what is left out here. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', ' ');

/** The words of a search term or of a field: folded, split at white space, without punctuation at their ends. */
export function wordsIn(text: string): string[] {
  return fold(text)
    .split(/\s+/u)
    .map((word) => truncated(word.replace(PUNCTUATION_AT_ENDS, ''), MAX_WORD))
    .filter((word) => word !== '');
}

/** As `wordsIn`, with the parts of compound words: `smith-jones` is found by `jones` too. */
function wordsAndParts(text: string): string[] {
  return wordsIn(text).flatMap((word) => [word, ...word.split(PUNCTUATION).filter((part) => part !== '')]);
}

/** The fields that words are made of, beside the name to display. */
const WORDED = [
  'firstname',
  'middle_name',
  'surname',
  'known_as',
  'username',
  'email',
  'hide_email',
  'external_id',
] as const satisfies (keyof User)[];

/** Whether two states of a user have the same words. */
export function hasSameWords(before: User, after: User): boolean {
  return (
    WORDED.every((field) => before[field] === after[field]) &&
    displayNameOf(before.attributes) === displayNameOf(after.attributes)
  );
}

/**
 * The rows by which a user is found, one a word. A word has no public weight in an e-mail that is hidden, nor in the name to
 * display: other users see no attributes.
 */
export function wordRows(
  user: Pick<User, 'uuid' | 'attributes' | (typeof WORDED)[number]>,
): UserWordEntity[] {
  const rows = new Map<string, UserWordEntity>();
  const add = (words: string[], weight: number, hidden = false): void => {
    for (const word of words) {
      const row = rows.get(word) ?? { word, user_uuid: user.uuid, weight: 0, public_weight: 0 };
      row.weight = Math.max(row.weight, weight);
      row.public_weight = Math.max(row.public_weight, hidden ? 0 : weight);
      rows.set(word, row);
    }
  };
  for (const name of [user.firstname, user.middle_name, user.surname, user.known_as])
    add(wordsAndParts(name), NAME);
  add(wordsAndParts(user.username), LOGIN);
  add([...wordsIn(user.email), ...wordsIn(localPart(user.email))], LOGIN, user.hide_email);
  add(wordsIn(user.external_id), ID);
  const displayName = displayNameOf(user.attributes);
  if (displayName !== '') add(wordsAndParts(storable(displayName)), NAME, true);
  return [...rows.values()];
}
