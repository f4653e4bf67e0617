import type { KeyProfile } from '../../access/actor.js';
import {
  ENTERPRISE_SCHEMA,
  GROUP_SCHEMA,
  PATCH_MESSAGE,
  SEARCH_MESSAGE,
  USER_SCHEMA,
} from '../../scim/protocol/urns.js';

/**
 * JSON with placeholders. `{name}` is a name that is new in each replay. `{user}` and `{group}` are the ids of resources
 * that earlier steps created.
 */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Request of an identity provider, with the expected response. */
export interface Step {
  title: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path relative to `/scim/v2`. A filter in the path is not yet URL-encoded. */
  path: string;
  body?: Json;
  status: number;
  /**
   * Expected response. The actual objects may have further members, but lists must have the same length. An expected
   * null means that the member must be absent.
   */
  answer?: Json;
  /** Placeholder that gets the id of the resource that this step creates. */
  creates?: 'user' | 'group';
}

const MAIL = '{name}@example.org';
const USER = '/Users/{user}';
const GROUP = '/Groups/{group}';
const MEMBERS = [{ value: '{user}' }];
const NEW_USER = {
  schemas: [USER_SCHEMA],
  externalId: '{name}',
  userName: MAIL,
  active: true,
  displayName: 'Provisioning Test',
  name: { familyName: 'Test', givenName: 'Provisioning' },
  emails: [{ primary: true, type: 'work', value: MAIL }],
};
const NEW_GROUP = { schemas: [GROUP_SCHEMA], displayName: '{name}' };
const NONE_FOUND = { totalResults: 0 };
const USER_FOUND = { totalResults: 1, Resources: [{ id: '{user}' }] };
const GROUP_FOUND = { totalResults: 1, Resources: [{ id: '{group}' }] };

function buildReadStep(title: string, path: string, answer: Json): Step {
  return { title, method: 'GET', path, status: 200, answer };
}

function buildCreateStep(creates: 'user' | 'group', body: Json, answer: Json): Step {
  const path = creates === 'user' ? '/Users' : '/Groups';
  return { title: `create a ${creates}`, method: 'POST', path, creates, status: 201, body, answer };
}

function buildPutStep(title: string, path: string, body: Json, answer: Json): Step {
  return { title, method: 'PUT', path, body, status: 200, answer };
}

/** @param answer the expected response, or undefined if the response is empty. */
function buildPatchStep(title: string, path: string, operations: Json[], answer?: Json): Step {
  const body = { schemas: [PATCH_MESSAGE], Operations: operations };
  const step = { title, method: 'PATCH', path, body } as const;
  return answer === undefined ? { ...step, status: 204 } : { ...step, status: 200, answer };
}

const DELETE_GROUP: Step = { title: 'delete the group', method: 'DELETE', path: GROUP, status: 204 };
const DELETE_USER: Step = { title: 'delete the user', method: 'DELETE', path: USER, status: 204 };

/**
 * Requests as Microsoft Entra ID sends them: operations are capitalised, booleans are text, and paths select elements by
 * filters. A PATCH has an empty response, so the resource is read afterwards.
 */
const ENTRA: readonly Step[] = [
  buildReadStep(
    'Test connection: a user that does not exist',
    '/Users?filter=userName eq "{name}.nobody"',
    NONE_FOUND,
  ),
  buildCreateStep(
    'user',
    {
      ...NEW_USER,
      schemas: [USER_SCHEMA, ENTERPRISE_SCHEMA],
      [ENTERPRISE_SCHEMA]: { employeeNumber: '4711', department: 'Quality' },
    },
    { userName: MAIL, active: true, [ENTERPRISE_SCHEMA]: { department: 'Quality' } },
  ),
  buildReadStep('match by externalId', '/Users?filter=externalId eq "{name}"', USER_FOUND),
  buildReadStep(
    'match by work e-mail',
    `/Users?filter=emails[type eq "work"].value eq "${MAIL}"`,
    USER_FOUND,
  ),
  buildPatchStep('update, with an attribute of a custom extension', USER, [
    { op: 'Replace', path: 'emails[type eq "work"].value', value: '{name}.new@example.org' },
    { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+44 7700 900123' },
    { op: 'Add', path: `${ENTERPRISE_SCHEMA}:department`, value: 'Research' },
    { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:custom:2.0:User:site', value: '180' },
  ]),
  buildPatchStep('disable: "False"', USER, [{ op: 'Replace', path: 'active', value: 'False' }]),
  buildReadStep('read the disabled user', USER, {
    active: false,
    emails: [{ value: '{name}.new@example.org', type: 'work', primary: true }],
    phoneNumbers: [{ type: 'mobile', value: '+44 7700 900123' }],
    [ENTERPRISE_SCHEMA]: { department: 'Research', employeeNumber: '4711' },
  }),
  buildPatchStep('enable: "True"', USER, [{ op: 'Replace', path: 'active', value: 'True' }]),
  buildReadStep(
    'match a group by displayName',
    '/Groups?excludedAttributes=members&filter=displayName eq "{name}"',
    NONE_FOUND,
  ),
  buildCreateStep('group', { ...NEW_GROUP, externalId: '{name}' }, { displayName: '{name}', members: null }),
  buildPatchStep('group: add a member', GROUP, [
    { op: 'Add', path: 'members', value: [{ $ref: null, value: '{user}' }] },
  ]),
  buildReadStep(
    'group: check that the user is a member',
    '/Groups?attributes=id&filter=id eq "{group}" and members eq "{user}"',
    GROUP_FOUND,
  ),
  buildPatchStep('group: remove a member', GROUP, [{ op: 'Remove', path: 'members', value: MEMBERS }]),
  buildReadStep('read the group', GROUP, { displayName: '{name}', members: null }),
  DELETE_GROUP,
  DELETE_USER,
];

/**
 * Requests as Okta sends them: PUT with the complete user, PATCH of `active` without a path, and a placeholder as password.
 */
const OKTA: readonly Step[] = [
  buildReadStep('page of users', '/Users?startIndex=1&count=100', { startIndex: 1 }),
  buildReadStep(
    'match by userName, no user yet',
    `/Users?filter=userName eq "${MAIL}"&startIndex=1&count=100`,
    NONE_FOUND,
  ),
  buildCreateStep(
    'user',
    { ...NEW_USER, locale: 'en-US', groups: [], password: '1mz050nq' },
    { userName: MAIL, active: true, displayName: 'Provisioning Test', password: null },
  ),
  {
    title: 'create a user with a userName that is in use: conflict',
    method: 'POST',
    path: '/Users',
    status: 409,
    body: { ...NEW_USER, externalId: '{name}.2' },
    answer: { scimType: 'uniqueness', status: '409' },
  },
  buildPutStep(
    'update: PUT of the complete user',
    USER,
    { ...NEW_USER, id: '{user}', title: 'Tester', groups: [], meta: { resourceType: 'User' } },
    { id: '{user}', active: true, title: 'Tester' },
  ),
  buildPatchStep('disable: PATCH without a path', USER, [{ op: 'replace', value: { active: false } }], {
    active: false,
  }),
  buildPatchStep('enable: PATCH without a path', USER, [{ op: 'replace', value: { active: true } }], {
    active: true,
  }),
  buildReadStep(
    'match a group by displayName',
    '/Groups?filter=displayName eq "{name}"&startIndex=1&count=100',
    NONE_FOUND,
  ),
  buildCreateStep(
    'group',
    { ...NEW_GROUP, members: [{ value: '{user}', display: MAIL }] },
    { displayName: '{name}', members: MEMBERS },
  ),
  buildPatchStep(
    'group: rename, with the id in the value',
    GROUP,
    [{ op: 'replace', value: { id: '{group}', displayName: '{name}.b' } }],
    { displayName: '{name}.b', members: MEMBERS },
  ),
  buildPatchStep('group: remove a member', GROUP, [{ op: 'remove', path: 'members[value eq "{user}"]' }], {
    displayName: '{name}.b',
    members: null,
  }),
  DELETE_GROUP,
];

/**
 * Requests as midPoint connectors send them: discovery first, PUT with partial resources, `/.search`, and pages by index.
 */
const MIDPOINT: readonly Step[] = [
  buildReadStep('discovery: features of the service', '/ServiceProviderConfig', {
    patch: { supported: true },
    filter: { supported: true },
  }),
  buildReadStep('discovery: the schema of users', `/Schemas/${USER_SCHEMA}`, { id: USER_SCHEMA }),
  buildReadStep('page of users', '/Users?startIndex=1&count=20', { startIndex: 1 }),
  buildCreateStep(
    'user',
    {
      ...NEW_USER,
      schemas: [USER_SCHEMA, ENTERPRISE_SCHEMA],
      title: 'Tester',
      [ENTERPRISE_SCHEMA]: { costCenter: '4130' },
    },
    { userName: MAIL, active: true },
  ),
  {
    title: 'match by /.search',
    method: 'POST',
    path: '/Users/.search',
    status: 200,
    body: { schemas: [SEARCH_MESSAGE], filter: `userName eq "${MAIL}"`, startIndex: 1, count: 20 },
    answer: USER_FOUND,
  },
  buildPutStep(
    'disable: PUT with only some attributes',
    USER,
    { schemas: [USER_SCHEMA], active: false, name: { givenName: 'Pro', familyName: 'Test' } },
    { userName: MAIL, active: false, title: 'Tester', [ENTERPRISE_SCHEMA]: { costCenter: '4130' } },
  ),
  buildPatchStep(
    'update: PATCH with paths',
    USER,
    [
      { op: 'replace', path: 'active', value: true },
      { op: 'remove', path: `${ENTERPRISE_SCHEMA}:costCenter` },
    ],
    { active: true, [ENTERPRISE_SCHEMA]: null },
  ),
  buildCreateStep('group', NEW_GROUP, { displayName: '{name}' }),
  buildPutStep(
    'group: PUT of members',
    GROUP,
    { schemas: [GROUP_SCHEMA], members: MEMBERS },
    { displayName: '{name}', members: MEMBERS },
  ),
  buildReadStep(
    'groups of a member',
    '/Groups?filter=members.value eq "{user}"&startIndex=1&count=20',
    GROUP_FOUND,
  ),
  DELETE_GROUP,
  DELETE_USER,
];

/** The steps for each identity provider. The API key must have the profile of this provider. */
export const REPLAYS: Readonly<Record<Exclude<KeyProfile, 'standard'>, readonly Step[]>> = {
  entra: ENTRA,
  okta: OKTA,
  midpoint: MIDPOINT,
};
