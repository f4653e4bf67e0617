import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, isEmptyValue, isObject } from '../../platform/common/json.js';
import { toIso } from '../../platform/common/time.js';
import type { NamedGroup } from '../../groups/group.js';
import type { User } from '../../users/model/user.js';
import { COMMON, ENTERPRISE, ROLLCALL_USER, describeUser } from '../discovery/schemas.js';
import {
  type AttributeDefinition,
  type ScimObject,
  type ScimValue,
  elementsOf,
  isScimObject,
  getMember,
  objectsOf,
} from '../protocol/attribute.js';
import { ENTERPRISE_SCHEMA, ROLLCALL_USER_SCHEMA, USER_SCHEMA } from '../protocol/urns.js';

/** The attributes of a user resource, split into fields of the API and attributes that are stored unchanged. */
interface Fields {
  /** The fields of the API, before they are validated. null clears a field. */
  input: JsonObject;
  /** The attributes that are stored unchanged. null removes an attribute. */
  attributes: Record<string, ScimValue | null>;
}

export interface Edit extends Fields {
  /** The manager in the request, which may be any text. null removes the manager, and undefined changes nothing. */
  manager: string | null | undefined;
}

interface Mapping {
  /** Name of the object in the resource that contains the attribute, if any. */
  parent: string | undefined;
  name: string;
  path: string;
  /** The field of the user that stores the value. If undefined, `attributes` stores the value under `key`. */
  field: keyof User | undefined;
  key: string;
  list: ContactList | undefined;
  converter: Converter | undefined;
}

interface Converter {
  show: (user: User, base: string) => ScimValue | undefined;
  /** Converts a value of the attribute to the form that the API accepts. */
  toInput: (value: ScimValue | undefined) => unknown;
}

/** Converters for the fields whose values differ between SCIM and the API. */
const CONVERTERS: Partial<Record<keyof User, Converter>> = {
  status: {
    show: ({ status }) => status === 'Active',
    toInput: (active) => (active === undefined ? null : active === true ? 'Active' : 'Blocked'),
  },
  roles: {
    show: ({ roles }) => roles.map(toElement),
    toInput: (list) => {
      const values = elementsOf(list).flatMap((each) => (isScimObject(each) ? (each['value'] ?? []) : each));
      return values.length === 0 ? null : values;
    },
  },
  manager_uuid: {
    show: ({ manager_uuid, attributes: { manager } }, base) => {
      if (manager_uuid !== null) return { value: manager_uuid, $ref: `${base}/Users/${manager_uuid}` };
      return isDefined(manager) ? { value: manager } : undefined;
    },
    toInput: (manager) => (isScimObject(manager) ? (manager['value'] ?? null) : null),
  },
  authname: {
    show: ({ authname }) =>
      Object.entries(authname).flatMap(([method, values]) => values.map((value) => ({ method, value }))),
    toInput: (list) => {
      const methods = new Map<string, ScimValue[]>(); // a Map can also store the authentication method `__proto__`, so that the rules can reject it
      for (const { method, value } of objectsOf(list)) {
        if (typeof method !== 'string' || value === undefined) continue;
        methods.set(method, [...(methods.get(method) ?? []), value]);
      }
      return methods.size === 0 ? null : Object.fromEntries(methods);
    },
  },
  social_media: {
    show: ({ social_media }) => social_media,
    toInput: (links) => links ?? null,
  },
  hide_email: { show: ({ hide_email }) => hide_email || undefined, toInput: (flag) => flag ?? false },
  hide_phone_numbers: {
    show: ({ hide_phone_numbers }) => hide_phone_numbers || undefined,
    toInput: (flag) => flag ?? false,
  },
};

/**
 * Narrows a value from `attributes` to ScimValue. Only `addValue` writes these values, so every defined value has this
 * type.
 */
const isDefined = (value: unknown): value is ScimValue => value !== undefined;

/**
 * The lists whose elements can be stored in columns of the user. `attributes` stores the order, the qualifiers and all
 * values without a column. Values with a column are read from it, so that changes through the API are visible at once.
 */
type ContactList = 'emails' | 'phoneNumbers' | 'photos';

/**
 * A column of the user that stores the value of one element. If `attributes` does not store this element, for example
 * for an imported user, the element consists of the value and the `qualifiers`.
 */
interface Column {
  field: 'email' | 'phone' | 'mobile' | 'user_avatar';
  /** Returns true if the column can store the value of the element. */
  owns: (element: ScimObject) => boolean;
  /**
   * Returns the index of the element whose value the column stores, or -1. By default, this is the first element that
   * the column `owns`.
   */
  find?: (elements: readonly ScimObject[]) => number;
  qualifiers: ScimObject;
}

const buildTypeTest =
  (...types: readonly string[]) =>
  ({ type = '' }: ScimObject): boolean =>
    types.includes(typeof type === 'string' ? type.toLowerCase() : '');

/**
 * Returns the index of the primary e-mail address, otherwise of the first address of type work, otherwise of the first
 * address.
 */
function findEmailIndex(elements: readonly ScimObject[]): number {
  const primary = elements.findIndex((element) => element['primary'] === true);
  if (primary !== -1 || elements.length === 0) return primary;
  return Math.max(0, elements.findIndex(buildTypeTest('work')));
}

const COLUMNS: Readonly<Record<ContactList, readonly Column[]>> = {
  emails: [
    { field: 'email', owns: () => true, find: findEmailIndex, qualifiers: { type: 'work', primary: true } },
  ],
  phoneNumbers: [
    { field: 'phone', owns: buildTypeTest('work'), qualifiers: { type: 'work' } },
    { field: 'mobile', owns: buildTypeTest('mobile'), qualifiers: { type: 'mobile' } },
  ],
  photos: [{ field: 'user_avatar', owns: buildTypeTest('photo', ''), qualifiers: { type: 'photo' } }],
};

function isContactList(name: string): name is ContactList {
  return Object.hasOwn(COLUMNS, name);
}

function buildContacts(listName: ContactList, user: User): ScimObject[] {
  const stored = user.attributes[listName];
  const left = COLUMNS[listName].filter(({ field }) => user[field] !== '');
  const elements = isDefined(stored) ? restoreContacts(objectsOf(stored), left, user) : [];
  for (const { field, qualifiers } of left) elements.push({ value: user[field], ...qualifiers });
  return elements;
}

/**
 * Returns the stored elements. An element without a value gets the value of an unused column that owns it, or is
 * omitted if there is no such column.
 * @param unusedColumns columns whose value is not yet in an element. This function removes each column that it uses.
 */
function restoreContacts(stored: readonly ScimObject[], unusedColumns: Column[], user: User): ScimObject[] {
  return stored.flatMap((element): ScimObject[] => {
    if ('value' in element) return [element];
    const at = unusedColumns.findIndex(({ owns }) => owns(element));
    const [column] = at === -1 ? [] : unusedColumns.splice(at, 1);
    return column ? [{ value: user[column.field], ...element }] : [];
  });
}

/**
 * Splits a list into values for columns and a list for `attributes`. Omits this list if the columns alone are enough to
 * rebuild it.
 */
function splitContacts(
  listName: ContactList,
  sent: readonly ScimObject[],
  { input, attributes }: Fields,
): void {
  const stored = [...sent];
  const standard: ScimObject[] = [];
  for (const { field, owns, find, qualifiers } of COLUMNS[listName]) {
    const at = find ? find(sent) : sent.findIndex(owns);
    const { value = null, ...rest } = sent[at] ?? {};
    input[field] = value;
    if (at === -1) continue;
    stored[at] = rest;
    standard.push(qualifiers);
  }
  attributes[listName] = isDeepStrictEqual(stored, standard) ? null : stored;
}

/**
 * Returns the mappings of the attributes of a schema.
 * @param parent name of the object that contains the attributes
 * @param path prefix of their paths
 * @param key prefix of their keys in `attributes`
 */
const mapAttributes = (
  attributes: readonly AttributeDefinition[],
  parent?: string,
  path = '',
  key = '',
): Mapping[] =>
  attributes
    .filter(({ name, mutability = 'readWrite' }) => mutability === 'readWrite' && name !== 'name')
    .map(({ name, field }) => ({
      parent,
      name,
      path: `${path}${name}`,
      field,
      key: field ?? `${key}${name}`,
      list: isContactList(name) ? name : undefined,
      converter: field && CONVERTERS[field],
    }));

const CORE = [...COMMON, ...describeUser([]).attributes];
const NAME_PARTS = CORE.find(({ name }) => name === 'name')?.subAttributes ?? [];
const IN_USER = mapAttributes(CORE);
const IN_NAME = mapAttributes(NAME_PARTS, 'name', 'name.', 'name.');
const IN_ENTERPRISE = mapAttributes(ENTERPRISE.attributes, ENTERPRISE_SCHEMA, `${ENTERPRISE_SCHEMA}:`);
const IN_ROLLCALL = mapAttributes(ROLLCALL_USER.attributes, ROLLCALL_USER_SCHEMA, `${ROLLCALL_USER_SCHEMA}:`);
const MAPPINGS = [...IN_USER, ...IN_NAME, ...IN_ENTERPRISE, ...IN_ROLLCALL];

const SCIM_NAMES = new Map<string, string>();
for (const { field, list, path } of MAPPINGS) {
  if (field) SCIM_NAMES.set(field, path);
  for (const column of list ? COLUMNS[list] : []) SCIM_NAMES.set(column.field, path);
}

export const scimNameOf = (field: string): string => SCIM_NAMES.get(field) ?? field;

const EXTENSIONS = [ENTERPRISE_SCHEMA, ROLLCALL_USER_SCHEMA];

/**
 * Converts a user to a resource, without attributes whose value is empty.
 * @param tag the entity tag of the user
 * @param groups groups to include in the resource
 */
export function toResource(user: User, base: string, tag: string, groups: readonly NamedGroup[] = []) {
  const { uuid, created, updated, group_roles, managed_by, last_access } = user;
  const resource = buildDraft(IN_USER, user, base);
  const rollcall = buildDraft(IN_ROLLCALL, user, base);
  setUnlessEmpty(rollcall, 'groupRoles', group_roles.map(toElement));
  setUnlessEmpty(rollcall, 'managedBy', managed_by ?? undefined);
  setUnlessEmpty(rollcall, 'lastAccess', last_access === null ? undefined : toIso(last_access));
  setUnlessEmpty(resource, 'name', buildDraft(IN_NAME, user, base));
  setUnlessEmpty(resource, ENTERPRISE_SCHEMA, buildDraft(IN_ENTERPRISE, user, base));
  setUnlessEmpty(resource, ROLLCALL_USER_SCHEMA, rollcall);
  const elements = groups.map((group) => {
    return { value: group.uuid, $ref: `${base}/Groups/${group.uuid}`, display: group.display_name };
  });
  setUnlessEmpty(resource, 'groups', elements);
  resource['schemas'] = [USER_SCHEMA, ...EXTENSIONS.filter((urn) => urn in resource)];
  resource['id'] = uuid;
  resource['meta'] = {
    resourceType: 'User',
    created: toIso(created),
    lastModified: toIso(updated),
    location: locationOf(user, base),
    version: tag,
  };
  return resource;
}

export const locationOf = ({ uuid }: Pick<User, 'uuid'>, base: string): string => `${base}/Users/${uuid}`;

const toElement = (value: string): ScimObject => ({ value });

/**
 * Returns the changes that turn the current user into the requested user. Omits equal values. Unsets attributes that
 * `requested` lacks.
 */
export function computeEdit(current: ScimObject, requested: ScimObject): Edit {
  const before: Fields = { input: {}, attributes: {} };
  const after: Fields = { input: {}, attributes: {} };
  for (const mapping of MAPPINGS) {
    const was = getValue(current, mapping);
    const is = getValue(requested, mapping);
    if (was === is) continue;
    addValue(mapping, before, was);
    addValue(mapping, after, is);
  }
  const { manager_uuid: manager, ...input } = pickChangedValues(before.input, after.input);
  if (input['authname'] ?? input['social_media']) addRemovals(input, before.input);
  return {
    input,
    attributes: pickChangedValues(before.attributes, after.attributes),
    manager: typeof manager === 'string' || manager === null ? manager : undefined,
  };
}

/**
 * Adds an empty value for each removed member of `authname` or `social_media`, because the API does not change members
 * that the request omits.
 */
function addRemovals(input: JsonObject, before: JsonObject): void {
  for (const [field, empty] of Object.entries({ authname: [], social_media: '' })) {
    const value = input[field];
    if (!isObject(value)) continue;
    const old = Object.keys(before[field] ?? {}).map((name) => [name, empty]);
    input[field] = { ...Object.fromEntries(old), ...value };
  }
}

function pickChangedValues<T>(before: Readonly<Record<string, T>>, after: Readonly<Record<string, T>>) {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(before[name] ?? null, value ?? null)),
  );
}

function getValue(resource: ScimObject, { parent, name }: Mapping): ScimValue | undefined {
  const holder = parent === undefined ? resource : getMember(resource, parent);
  return isScimObject(holder) ? getMember(holder, name) : undefined;
}

/** Stores the value of an attribute in `fields`. This is the inverse of `valueOf`. */
function addValue({ field, key, list, converter }: Mapping, fields: Fields, value?: ScimValue): void {
  if (list) splitContacts(list, objectsOf(value), fields);
  else if (field === undefined) fields.attributes[key] = value ?? null;
  else fields.input[key] = converter ? converter.toInput(value) : (value ?? null);
}

function buildDraft(mappings: readonly Mapping[], user: User, base: string): Draft {
  const draft: Draft = {};
  for (const mapping of mappings) setUnlessEmpty(draft, mapping.name, valueOf(mapping, user, base));
  return draft;
}

function valueOf({ field, key, list, converter }: Mapping, user: User, base: string): ScimValue | undefined {
  if (converter) return converter.show(user, base);
  if (list) return buildContacts(list, user);
  const value: unknown = field ? user[field] : user.attributes[key];
  return isDefined(value) ? value : undefined;
}

/** A resource while it is built. Setting members one by one is faster than creating objects from entries. */
type Draft = Record<string, ScimValue>;

function setUnlessEmpty(draft: Draft, name: string, value: ScimValue | undefined): void {
  if (value !== undefined && !isEmptyValue(value)) draft[name] = value;
}
