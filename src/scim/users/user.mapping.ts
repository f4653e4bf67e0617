import type { JsonObject } from '../../common/json.js';
import { toIso } from '../../common/time.js';
import type { Attributes } from '../../users/model/formats.js';
import type { User } from '../../users/model/user.js';
import { etagOf } from '../http/etag.js';
import { type ScimObject, type ScimValue, elementsOf, isScimObject, member } from '../protocol/json.js';
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
  const enterprise = full({ ...pick(attributes, KEPT_ENTERPRISE), manager: managerOf(user, base) });
  const rollcall = rollcallOf(user);
  return (
    full({
      schemas: [
        USER_SCHEMA,
        ...(enterprise === undefined ? [] : [ENTERPRISE_SCHEMA]),
        ...(rollcall === undefined ? [] : [ROLLCALL_USER_SCHEMA]),
      ],
      id: user.uuid,
      externalId: user.external_id,
      userName: user.username,
      name: full({
        givenName: user.firstname,
        middleName: user.middle_name,
        familyName: user.surname,
        ...Object.fromEntries(KEPT_NAMES.map((name) => [name, valueOf(attributes, `name.${name}`)])),
      }),
      nickName: user.known_as,
      ...pick(attributes, KEPT),
      active: user.status === 'Active',
      ...Object.fromEntries(LISTS.map((list) => [list, joined(list, attributes[list], user)])),
      roles: user.roles.map((value) => ({ value })),
      groups: groups.map(({ uuid, display_name }) => ({
        value: uuid,
        $ref: `${base}/Groups/${uuid}`,
        display: display_name,
      })),
      [ENTERPRISE_SCHEMA]: enterprise,
      [ROLLCALL_USER_SCHEMA]: rollcall,
      meta: {
        resourceType: 'User',
        created: toIso(user.created),
        lastModified: toIso(user.updated),
        location: locationOf(user, base),
        version: etagOf(user),
      },
    }) ?? {}
  );
}

export const locationOf = ({ uuid }: Pick<User, 'uuid'>, base: string): string => `${base}/Users/${uuid}`;

function managerOf({ manager_uuid, attributes }: User, base: string): ScimObject | undefined {
  if (manager_uuid !== null) return { value: manager_uuid, $ref: `${base}/Users/${manager_uuid}` };
  return full({ value: valueOf(attributes, 'manager') });
}

function rollcallOf(user: User): ScimObject | undefined {
  return full({
    authname: Object.entries(user.authname).flatMap(([method, names]) =>
      names.map((value) => ({ method, value })),
    ),
    aboutMe: user.about_me,
    socialMedia: full(user.social_media),
    hideEmail: user.hide_email || undefined,
    hidePhoneNumbers: user.hide_phone_numbers || undefined,
    groupRoles: user.group_roles.map((value) => ({ value })),
    managedBy: user.managed_by ?? undefined,
    lastAccess: user.last_access === null ? undefined : toIso(user.last_access),
  });
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
  const lists = LISTS.map((list) => [list, taken(list, member(resource, list))] as const);
  const active = member(resource, 'active');
  const manager = member(objectIn(enterprise, 'manager'), 'value');
  return {
    input: {
      username: orNull(resource, 'userName'),
      external_id: orNull(resource, 'externalId'),
      firstname: orNull(name, 'givenName'),
      middle_name: orNull(name, 'middleName'),
      surname: orNull(name, 'familyName'),
      known_as: orNull(resource, 'nickName'),
      status: active === undefined ? null : active === true ? 'Active' : 'Blocked',
      ...Object.fromEntries(lists.flatMap(([, { values }]) => Object.entries(values))),
      roles: valuesIn(resource, 'roles'),
      authname: authnameIn(rollcall),
      about_me: orNull(rollcall, 'aboutMe'),
      social_media: orNull(rollcall, 'socialMedia'),
      hide_email: orNull(rollcall, 'hideEmail') ?? false,
      hide_phone_numbers: orNull(rollcall, 'hidePhoneNumbers') ?? false,
    },
    attributes: {
      ...Object.fromEntries(KEPT.map((each) => [each, orNull(resource, each)])),
      ...Object.fromEntries(KEPT_NAMES.map((each) => [`name.${each}`, orNull(name, each)])),
      ...Object.fromEntries(KEPT_ENTERPRISE.map((each) => [each, orNull(enterprise, each)])),
      ...Object.fromEntries(lists.map(([list, { kept }]) => [list, kept])),
    },
    manager: typeof manager === 'string' ? manager : null,
  };
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

const pick = (attributes: Attributes, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, valueOf(attributes, name)]));

/** The object without what is empty; undefined where nothing is left. */
function full(object: Readonly<Record<string, ScimValue | undefined>>): ScimObject | undefined {
  const members = Object.entries(object).filter(
    (each): each is [string, ScimValue] =>
      each[1] !== undefined && each[1] !== '' && !(Array.isArray(each[1]) && each[1].length === 0),
  );
  return members.length === 0 ? undefined : Object.fromEntries(members);
}
