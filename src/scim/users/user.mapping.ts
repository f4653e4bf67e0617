import type { JsonObject } from '../../platform/common/json.js';
import { toIso } from '../../platform/common/time.js';
import type { Attributes } from '../../users/model/formats.js';
import type { User } from '../../users/model/user.js';
import { etagOf } from '../../platform/http/request-headers.js';
import { type ScimObject, type ScimValue, elementsOf, isScimObject, member } from '../protocol/attribute.js';
import { ENTERPRISE_SCHEMA, ROLLCALL_USER_SCHEMA, USER_SCHEMA } from '../protocol/urns.js';
import { joined, taken } from './contact-lists.js';

/** Attributes of the user that are kept as they were sent; those of the enterprise extension have names of their own. */
const KEPT = [
  'displayName',
  'title',
  'userType',
  'preferredLanguage',
  'locale',
  'timezone',
  'profileUrl',
  'addresses',
  'ims',
  'entitlements',
  'x509Certificates',
] as const;
const KEPT_NAMES = ['formatted', 'honorificPrefix', 'honorificSuffix'] as const;
const KEPT_ENTERPRISE = ['employeeNumber', 'costCenter', 'organization', 'division', 'department'] as const;

const LISTS = ['emails', 'phoneNumbers', 'photos'] as const;

/** Names of SCIM for the fields of a user, for errors. */
const SCIM_NAMES: Readonly<Record<string, string>> = {
  username: 'userName',
  email: 'emails',
  external_id: 'externalId',
  firstname: 'name.givenName',
  middle_name: 'name.middleName',
  surname: 'name.familyName',
  known_as: 'nickName',
  status: 'active',
  phone: 'phoneNumbers',
  mobile: 'phoneNumbers',
  user_avatar: 'photos',
  manager_uuid: `${ENTERPRISE_SCHEMA}:manager`,
  authname: `${ROLLCALL_USER_SCHEMA}:authname`,
  about_me: `${ROLLCALL_USER_SCHEMA}:aboutMe`,
  social_media: `${ROLLCALL_USER_SCHEMA}:socialMedia`,
  hide_email: `${ROLLCALL_USER_SCHEMA}:hideEmail`,
  hide_phone_numbers: `${ROLLCALL_USER_SCHEMA}:hidePhoneNumbers`,
};

/** What SCIM calls a field of a user. */
export const scimNameOf = (field: string): string => SCIM_NAMES[field] ?? field;

/** A group of a user. */
export interface Membership {
  uuid: string;
  display_name: string;
}

/**
 * A user as a resource, with all that it may hold but its groups, where they are not given. Nothing in it is empty.
 * @param base the absolute URL of `/scim/v2`.
 */
export function toResource(user: User, base: string, groups: readonly Membership[] = []): ScimObject {
  const { attributes } = user;
  const enterprise = enterpriseOf(user, base);
  const rollcall = rollcallOf(user);
  const schemas = [USER_SCHEMA];
  if (enterprise) schemas.push(ENTERPRISE_SCHEMA);
  if (rollcall) schemas.push(ROLLCALL_USER_SCHEMA);
  const resource: Draft = { schemas, id: user.uuid };
  put(resource, 'externalId', user.external_id);
  put(resource, 'userName', user.username);
  put(resource, 'name', nameOf(user));
  put(resource, 'nickName', user.known_as);
  for (const name of KEPT) put(resource, name, valueOf(attributes, name));
  resource['active'] = user.status === 'Active';
  for (const list of LISTS) put(resource, list, joined(list, attributes[list], user));
  put(resource, 'roles', user.roles.map(toValue));
  put(
    resource,
    'groups',
    groups.map(({ uuid, display_name }) => ({
      value: uuid,
      $ref: `${base}/Groups/${uuid}`,
      display: display_name,
    })),
  );
  put(resource, ENTERPRISE_SCHEMA, enterprise);
  put(resource, ROLLCALL_USER_SCHEMA, rollcall);
  resource['meta'] = {
    resourceType: 'User',
    created: toIso(user.created),
    lastModified: toIso(user.updated),
    location: locationOf(user, base),
    version: etagOf(user),
  };
  return resource;
}

export const locationOf = ({ uuid }: Pick<User, 'uuid'>, base: string): string => `${base}/Users/${uuid}`;

const toValue = (value: string): ScimObject => ({ value });

function nameOf({ firstname, middle_name, surname, attributes }: User): ScimObject | undefined {
  const name: Draft = {};
  put(name, 'givenName', firstname);
  put(name, 'middleName', middle_name);
  put(name, 'familyName', surname);
  for (const part of KEPT_NAMES) put(name, part, valueOf(attributes, `name.${part}`));
  return held(name);
}

function enterpriseOf(user: User, base: string): ScimObject | undefined {
  const enterprise: Draft = {};
  for (const name of KEPT_ENTERPRISE) put(enterprise, name, valueOf(user.attributes, name));
  put(enterprise, 'manager', managerOf(user, base));
  return held(enterprise);
}

function managerOf({ manager_uuid, attributes }: User, base: string): ScimObject | undefined {
  if (manager_uuid !== null) return { value: manager_uuid, $ref: `${base}/Users/${manager_uuid}` };
  const manager: Draft = {};
  put(manager, 'value', valueOf(attributes, 'manager'));
  return held(manager);
}

function rollcallOf(user: User): ScimObject | undefined {
  const rollcall: Draft = {};
  const names = Object.entries(user.authname);
  put(
    rollcall,
    'authname',
    names.flatMap(([method, values]) => values.map((value) => ({ method, value }))),
  );
  put(rollcall, 'aboutMe', user.about_me);
  const media: Draft = {};
  for (const [name, url] of Object.entries(user.social_media)) put(media, name, url);
  put(rollcall, 'socialMedia', held(media));
  if (user.hide_email) rollcall['hideEmail'] = true;
  if (user.hide_phone_numbers) rollcall['hidePhoneNumbers'] = true;
  put(rollcall, 'groupRoles', user.group_roles.map(toValue));
  put(rollcall, 'managedBy', user.managed_by ?? undefined);
  if (user.last_access !== null) rollcall['lastAccess'] = toIso(user.last_access);
  return held(rollcall);
}

/** A resource as the fields of a user, by the names and in the form of the API, and what is kept beside them. */
export interface Fields {
  /** For the rules of the API; null: not set. */
  input: JsonObject;
  /** null: not set. */
  attributes: Record<string, ScimValue | null>;
  /** The id of a user, or any text. */
  manager: string | null;
}

/** The opposite of `toResource`: whatever a resource lacks is not set. */
export function toFields(resource: ScimObject): Fields {
  const name = objectIn(resource, 'name');
  const enterprise = objectIn(resource, ENTERPRISE_SCHEMA);
  const rollcall = objectIn(resource, ROLLCALL_USER_SCHEMA);
  const active = member(resource, 'active');
  const manager = member(objectIn(enterprise, 'manager'), 'value');
  const input: JsonObject = {
    username: orNull(resource, 'userName'),
    external_id: orNull(resource, 'externalId'),
    firstname: orNull(name, 'givenName'),
    middle_name: orNull(name, 'middleName'),
    surname: orNull(name, 'familyName'),
    known_as: orNull(resource, 'nickName'),
    status: active === undefined ? null : active === true ? 'Active' : 'Blocked',
  };
  const attributes: Fields['attributes'] = {};
  for (const each of KEPT) attributes[each] = orNull(resource, each);
  for (const each of KEPT_NAMES) attributes[`name.${each}`] = orNull(name, each);
  for (const each of KEPT_ENTERPRISE) attributes[each] = orNull(enterprise, each);
  for (const list of LISTS) {
    const { values, kept } = taken(list, member(resource, list));
    Object.assign(input, values);
    attributes[list] = kept;
  }
  input['roles'] = valuesIn(resource, 'roles');
  input['authname'] = authnameIn(rollcall);
  input['about_me'] = orNull(rollcall, 'aboutMe');
  input['social_media'] = orNull(rollcall, 'socialMedia');
  input['hide_email'] = orNull(rollcall, 'hideEmail') ?? false;
  input['hide_phone_numbers'] = orNull(rollcall, 'hidePhoneNumbers') ?? false;
  return { input, attributes, manager: typeof manager === 'string' ? manager : null };
}

function authnameIn(rollcall: ScimObject): Record<string, ScimValue[]> | null {
  const methods = new Map<string, ScimValue[]>(); // a method may be named __proto__, for the rules to refuse
  for (const element of elementsOf(member(rollcall, 'authname'))) {
    if (!isScimObject(element)) continue;
    const [method, value] = [member(element, 'method'), member(element, 'value')];
    if (typeof method !== 'string' || value === undefined) continue;
    methods.set(method, [...(methods.get(method) ?? []), value]);
  }
  return methods.size === 0 ? null : Object.fromEntries(methods);
}

function valuesIn(resource: ScimObject, list: string): ScimValue[] | null {
  const values = elementsOf(member(resource, list)).flatMap((each) =>
    isScimObject(each) ? (member(each, 'value') ?? []) : each,
  );
  return values.length === 0 ? null : values;
}

function objectIn(resource: ScimObject, name: string): ScimObject {
  const value = member(resource, name);
  return isScimObject(value) ? value : {};
}

const orNull = (object: ScimObject, name: string): ScimValue | null => member(object, name) ?? null;

const valueOf = (attributes: Attributes, name: string): ScimValue | undefined =>
  attributes[name] as ScimValue | undefined; // `toFields` made it

/** A resource that is being made: members are set one by one, because entries of objects cost more than all the rest. */
type Draft = Record<string, ScimValue>;

/** Sets a member, unless it is empty. */
function put(draft: Draft, name: string, value: ScimValue | undefined): void {
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return;
  draft[name] = value;
}

/** undefined for an object without members. */
function held(object: ScimObject): ScimObject | undefined {
  for (const name in object) if (object[name] !== undefined) return object;
  return undefined;
}
