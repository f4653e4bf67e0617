import {
  DELETE_GROUP,
  DELETE_USER,
  EXTENSION,
  GROUP_URN,
  NONE_FOUND,
  type Json,
  type Step,
  USER_URN,
  create,
  group,
  expectOne,
  patch,
  put,
  read,
  user,
} from './replay.js';

const SEARCH = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';
const FILTER = 'userName eq "{name}"';
const setActive = (what: string, active: boolean, answer: Json): Step =>
  put(what, user, { schemas: [USER_URN], active }, answer);
const FEATURES = { patch: { supported: true }, filter: { supported: true } };
const RESOURCE_TYPES = { totalResults: 2, Resources: [{ name: 'User' }, { name: 'Group' }] };
const readPage = (what: string, startIndex: number): Step => {
  const path = `/Users?filter=userName sw "{name}"&startIndex=${startIndex}&count=1`;
  return read(what, path, { totalResults: 2, itemsPerPage: 1, startIndex });
};

/**
 * Requests as midPoint connectors send them: discovery first, PUT with partial resources, `/.search`, and pages by index.
 */
export const MIDPOINT: readonly Step[] = [
  read('discovery: features of the service', '/ServiceProviderConfig', FEATURES),
  read('discovery: resource types', '/ResourceTypes', RESOURCE_TYPES),
  read('discovery: the schema of users', `/Schemas/${USER_URN}`, { id: USER_URN }),
  read('page of users', '/Users?startIndex=1&count=20', { startIndex: 1 }),
  read('match by userName, no user yet', `/Users?filter=${FILTER}&startIndex=1&count=20`, NONE_FOUND),
  create(
    'create a user',
    'user',
    {
      schemas: [USER_URN, EXTENSION],
      userName: '{name}',
      externalId: '{name}',
      name: { givenName: 'Provisioning', familyName: 'Test' },
      emails: [{ value: '{name}@example.org', type: 'work', primary: true }],
      title: 'Tester',
      active: true,
      [EXTENSION]: { costCenter: '4130' },
    },
    { userName: '{name}', active: true },
  ),
  create(
    'create another user',
    'colleague',
    { schemas: [USER_URN], userName: '{name}.2', emails: [{ value: '{name}.2@example.org' }] },
    { active: true },
  ),
  {
    title: 'match by /.search',
    method: 'POST',
    path: '/Users/.search',
    status: 200,
    body: { schemas: [SEARCH], filter: FILTER, startIndex: 1, count: 20, attributes: ['userName'] },
    answer: expectOne({ id: '{user}', userName: '{name}', title: null }),
  },
  readPage('first page of a search', 1),
  readPage('second page of a search', 2),
  put(
    'update: PUT of a partial user',
    user,
    { schemas: [USER_URN], name: { givenName: 'Pro', familyName: 'Test' } },
    {
      userName: '{name}',
      title: 'Tester',
      name: { givenName: 'Pro', familyName: 'Test' },
      [EXTENSION]: { costCenter: '4130' },
    },
  ),
  setActive('disable: PUT with only active', false, { userName: '{name}', active: false }),
  setActive('enable: PUT with only active', true, { active: true }),
  patch(
    'update: PATCH with paths',
    user,
    [
      { op: 'replace', path: 'title', value: 'Senior tester' },
      { op: 'remove', path: `${EXTENSION}:costCenter` },
      { op: 'replace', path: 'active', value: false },
    ],
    { status: 200, answer: { title: 'Senior tester', active: false, [EXTENSION]: null } },
  ),
  create(
    'create a group',
    'group',
    { schemas: [GROUP_URN], displayName: '{name}' },
    { displayName: '{name}' },
  ),
  put(
    'group: PUT of members',
    group,
    { schemas: [GROUP_URN], members: [{ value: '{user}' }] },
    { displayName: '{name}', members: [{ value: '{user}' }] },
  ),
  patch(
    'group: PATCH that adds one member and removes another',
    group,
    [
      { op: 'add', path: 'members', value: [{ value: '{colleague}' }] },
      { op: 'remove', path: 'members[value eq "{user}"]' },
    ],
    { status: 200, after: { members: [{ value: '{colleague}' }] } },
  ),
  read(
    'groups of a member',
    '/Groups?filter=members.value eq "{colleague}"&startIndex=1&count=20',
    expectOne({ id: '{group}' }),
  ),
  DELETE_GROUP,
  ...DELETE_USER,
];
