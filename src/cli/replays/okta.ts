import { GROUP, NONE_FOUND, type Step, type Template, USER, oneFound, patchOf, read } from './replay.js';

const MAIL = '{name}@example.org';
const user = '/Users/{user}';
const group = '/Groups/{group}';
const patch = (what: string, path: string, operations: Template[], after: Template): Step => ({
  what,
  method: 'PATCH',
  path,
  body: patchOf(...operations),
  status: 200,
  answer: after,
  after,
});
/** The whole user, as Okta knows it. */
const profile = (active: boolean, givenName: string): { readonly [key: string]: Template } => ({
  schemas: [USER],
  userName: MAIL,
  name: { givenName, familyName: 'Test' },
  emails: [{ primary: true, value: MAIL, type: 'work' }],
  displayName: `${givenName} Test`,
  locale: 'en-US',
  externalId: '{name}',
  active,
});
const put = (what: string, active: boolean, givenName: string): Step => ({
  what,
  method: 'PUT',
  path: user,
  body: { ...profile(active, givenName), id: '{user}', groups: [], meta: { resourceType: 'User' } },
  status: 200,
  answer: { id: '{user}', active, name: { givenName, familyName: 'Test' }, externalId: '{name}' },
});

/** What Okta sends: the whole user by PUT, `active` by PATCH without a path, a placeholder as password. */
export const OKTA: readonly Step[] = [
  read('page of users', '/Users?startIndex=1&count=100', { startIndex: 1 }),
  read('page of groups', '/Groups?startIndex=1&count=100', { startIndex: 1 }),
  read('match by userName, before', `/Users?filter=userName eq "${MAIL}"&startIndex=1&count=100`, NONE_FOUND),
  {
    what: 'create a user, with a placeholder as password',
    method: 'POST',
    path: '/Users',
    makes: 'user',
    status: 201,
    body: { ...profile(true, 'Provisioning'), groups: [], password: '1mz050nq' },
    answer: { userName: MAIL, active: true, displayName: 'Provisioning Test', password: null },
  },
  {
    what: 'create another user',
    method: 'POST',
    path: '/Users',
    makes: 'colleague',
    status: 201,
    body: { schemas: [USER], userName: '{name}.2@example.org', active: true },
    answer: { active: true },
  },
  {
    what: 'the same userName again is a conflict',
    method: 'POST',
    path: '/Users',
    status: 409,
    body: { ...profile(true, 'Provisioning'), externalId: '{name}.3' },
    answer: { scimType: 'uniqueness', status: '409' },
  },
  read(
    'match by userName',
    `/Users?filter=userName eq "${MAIL}"&startIndex=1&count=100`,
    oneFound({ id: '{user}' }),
  ),
  { what: 'read a user', method: 'GET', path: user, status: 200, answer: { id: '{user}', userName: MAIL } },
  put('update: PUT of the whole user', true, 'Pro'),
  patch('change the password: a placeholder', user, [{ op: 'replace', value: { password: 'x9' } }], {
    active: true,
  }),
  patch('disable: PATCH without a path', user, [{ op: 'replace', value: { active: false } }], {
    active: false,
  }),
  patch('enable: PATCH without a path', user, [{ op: 'replace', value: { active: true } }], { active: true }),
  put('disable: PUT', false, 'Pro'),
  put('enable: PUT', true, 'Pro'),
  read(
    'match a group by displayName',
    '/Groups?filter=displayName eq "{name}"&startIndex=1&count=100',
    NONE_FOUND,
  ),
  {
    what: 'push a group with a member',
    method: 'POST',
    path: '/Groups',
    makes: 'group',
    status: 201,
    body: { schemas: [GROUP], displayName: '{name}', members: [{ value: '{user}', display: MAIL }] },
    answer: { displayName: '{name}', members: [{ value: '{user}' }] },
  },
  patch(
    'group: another name, with its id in the value',
    group,
    [{ op: 'replace', value: { id: '{group}', displayName: '{name}.b' } }],
    { displayName: '{name}.b', members: [{ value: '{user}' }] },
  ),
  patch(
    'group: remove by filter and add',
    group,
    [
      { op: 'remove', path: 'members[value eq "{user}"]' },
      { op: 'add', path: 'members', value: [{ value: '{colleague}', display: '{name}.2@example.org' }] },
    ],
    { members: [{ value: '{colleague}' }] },
  ),
  patch(
    'group: replace all members',
    group,
    [{ op: 'replace', path: 'members', value: [{ value: '{user}', display: MAIL }] }],
    { members: [{ value: '{user}' }] },
  ),
  {
    what: 'group: PUT',
    method: 'PUT',
    path: group,
    body: { schemas: [GROUP], id: '{group}', displayName: '{name}', members: [{ value: '{colleague}' }] },
    status: 200,
    answer: { displayName: '{name}', members: [{ value: '{colleague}' }] },
  },
  { what: 'delete a group', method: 'DELETE', path: group, status: 204 },
];
