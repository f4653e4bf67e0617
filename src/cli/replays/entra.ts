import { ENTERPRISE_SCHEMA as EXTENSION, GROUP_SCHEMA, USER_SCHEMA } from '../../scim/protocol/urns.js';
import {
  DELETE_GROUP,
  DELETE_USER,
  GROUP_FOUND,
  NONE_FOUND,
  USER_FOUND,
  type Step,
  type Json,
  buildCreateStep,
  group,
  buildPatchStep,
  buildReadStep,
  user,
} from './replay.js';

const MAIL = '{name}@example.org';
const MANAGER = `${EXTENSION}:manager`;
const buildSearchStep = (filter: string, answer: Json, title: string): Step =>
  buildReadStep(title, `/Users?filter=${filter}`, answer);
/**
 * Creates a step that sends a PATCH as Entra does. The response is empty, so the resource is read afterwards and
 * compared with `after`.
 */
const buildChangeStep = (title: string, operations: Json[], after: Json, path = user): Step =>
  buildPatchStep(title, path, operations, { status: 204, after });
/** Creates a step that changes the members of the group. The path of the operation is `members` by default. */
const buildMembersStep = (title: string, operation: { readonly [key: string]: Json }, after: Json): Step =>
  buildChangeStep(title, [{ path: 'members', ...operation }], { members: after }, group);
const MEMBER = { value: '{user}' };
const RENAMED = { displayName: '{name}.b' };

/**
 * Requests as Microsoft Entra ID sends them: operations are capitalised, booleans are text, paths select elements by
 * filters, and members have a `$ref` and a value.
 */
export const ENTRA: readonly Step[] = [
  buildSearchStep('userName eq "{name}.nobody"', NONE_FOUND, 'Test connection: a user that does not exist'),
  buildSearchStep('externalId eq "{name}"', NONE_FOUND, 'match by externalId, no user yet'),
  buildCreateStep(
    'create a user',
    'user',
    {
      schemas: [USER_SCHEMA, EXTENSION],
      externalId: '{name}',
      userName: MAIL,
      active: true,
      displayName: 'Provisioning Test',
      emails: [{ primary: true, type: 'work', value: MAIL }],
      meta: { resourceType: 'User' },
      name: { formatted: 'Provisioning Test', familyName: 'Test', givenName: 'Provisioning' },
      title: 'Tester',
      [EXTENSION]: { employeeNumber: '4711', department: 'Quality' },
    },
    { userName: MAIL, active: true, externalId: '{name}', [EXTENSION]: { department: 'Quality' } },
  ),
  buildCreateStep(
    'create a user without an enterprise extension',
    'colleague',
    {
      schemas: [USER_SCHEMA, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/User'],
      externalId: '{name}.2',
      userName: '{name}.2@example.org',
      active: 'True',
    },
    { active: true },
  ),
  buildSearchStep('externalId eq "{name}"', USER_FOUND, 'match by externalId'),
  buildSearchStep(`userName eq "${MAIL}"`, USER_FOUND, 'match by userName'),
  buildSearchStep(`emails[type eq "work"].value eq "${MAIL}"`, USER_FOUND, 'match by work e-mail'),
  buildChangeStep(
    'update: Replace and Add with paths',
    [
      { op: 'Replace', path: 'emails[type eq "work"].value', value: '{name}.new@example.org' },
      { op: 'Replace', path: 'name.familyName', value: 'Tested' },
      { op: 'Add', path: 'title', value: 'Senior tester' },
    ],
    {
      emails: [{ value: '{name}.new@example.org', type: 'work', primary: true }],
      name: { familyName: 'Tested', givenName: 'Provisioning' },
      title: 'Senior tester',
    },
  ),
  buildChangeStep(
    'update: Add elements that are missing',
    [
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+44 7700 900123' },
      { op: 'Add', path: 'addresses[type eq "work"].formatted', value: 'Columbus' },
    ],
    {
      phoneNumbers: [{ type: 'mobile', value: '+44 7700 900123' }],
      addresses: [{ type: 'work', formatted: 'Columbus' }],
    },
  ),
  buildChangeStep(
    'update: paths with the URN of an extension',
    [
      { op: 'Replace', path: `${EXTENSION}:department`, value: 'Research' },
      { op: 'Add', path: MANAGER, value: '{colleague}' },
    ],
    { [EXTENSION]: { department: 'Research', employeeNumber: '4711', manager: { value: '{colleague}' } } },
  ),
  buildChangeStep('update: remove the manager', [{ op: 'Remove', path: MANAGER }], {
    [EXTENSION]: { manager: null },
  }),
  buildChangeStep(
    'update: send the manager as a list',
    [{ op: 'Add', path: MANAGER, value: [{ $ref: '../Users/{colleague}', value: '{colleague}' }] }],
    { [EXTENSION]: { manager: { value: '{colleague}' } } },
  ),
  buildChangeStep(
    'update without a path, with dotted names and URNs as keys',
    [
      {
        op: 'replace',
        value: { displayName: 'Renamed', 'name.givenName': 'Pro', [`${EXTENSION}:employeeNumber`]: '4712' },
      },
    ],
    {
      displayName: 'Renamed',
      name: { givenName: 'Pro', familyName: 'Tested' },
      [EXTENSION]: { employeeNumber: '4712' },
    },
  ),
  buildChangeStep(
    'update: an attribute of a custom extension is ignored',
    [{ op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:custom:2.0:User:worksiteId', value: '180' }],
    { displayName: 'Renamed' },
  ),
  buildChangeStep('disable: "False"', [{ op: 'Replace', path: 'active', value: 'False' }], { active: false }),
  buildChangeStep('enable: "True"', [{ op: 'Replace', path: 'active', value: 'True' }], { active: true }),
  buildReadStep(
    'match a group by displayName',
    '/Groups?excludedAttributes=members&filter=displayName eq "{name}"',
    NONE_FOUND,
  ),
  buildCreateStep(
    'create a group',
    'group',
    {
      schemas: [GROUP_SCHEMA, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId: '{name}',
      displayName: '{name}',
      meta: { resourceType: 'Group' },
    },
    { displayName: '{name}', members: null },
  ),
  buildMembersStep('group: Add a member', { op: 'Add', value: [{ $ref: null, ...MEMBER }] }, [MEMBER]),
  buildReadStep(
    'group: check that a user is a member',
    '/Groups?attributes=id&filter=id eq "{group}" and members eq "{user}"',
    GROUP_FOUND,
  ),
  buildMembersStep('group: Remove a member by value', { op: 'Remove', value: [MEMBER] }, null),
  buildMembersStep('group: add a member again', { op: 'add', value: [MEMBER] }, [MEMBER]),
  buildMembersStep(
    'group: remove a member by filter',
    { op: 'remove', path: 'members[value eq "{user}"]' },
    null,
  ),
  buildChangeStep(
    'group: rename',
    [{ op: 'Replace', path: 'displayName', value: '{name}.b' }],
    RENAMED,
    group,
  ),
  buildReadStep('read a group without members', `${group}?excludedAttributes=members`, {
    ...RENAMED,
    members: null,
  }),
  DELETE_GROUP,
  ...DELETE_USER,
];
