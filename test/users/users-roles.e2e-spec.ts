import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { aUser, create } from '../support/data/factories.js';
import { refusal } from '../support/app/problems.js';

let app: TestApp;
beforeAll(async () => void (app = await TestApp.start({ EXTRA_ROLES: 'Gärtner, Night shift' })));
afterAll(() => app.end());

const ROLES = [
  'Author',
  'Badge manager',
  'Blogger',
  'Brand manager',
  'Content layout manager',
  'Content reviewer',
  'Editor',
  'External user',
  'Groups manager',
  'Ideas administrator',
  'Location admin',
  'Moderator',
  'Organisational user',
  'Previewer',
  'Publisher',
  'Queries administrator',
  'Section manager',
  'Webmaster',
  'Gärtner',
  'Night shift',
];

test.each(ROLES)('%s is a role, in any case', async (role) => {
  for (const spelling of [role, role.toLowerCase(), role.toUpperCase(), ` ${role} `]) {
    expect((await create(app.key, { roles: [spelling] })).roles).toEqual([role]);
  }
});

test('all of them are listed, and nothing else', async () => {
  const { Count, Results } = (await app.key.get('/roles')).body;
  expect([Count, Results]).toEqual([ROLES.length, ROLES.map((name) => ({ name }))]);
});

test('roles replace the roles that were there; without any the default comes back', async () => {
  const { uuid } = await create(app.key, { roles: ['Editor'] });
  const put = async (roles: unknown) =>
    (await app.key.put(`/users/${uuid}`, { roles })).body.roles as string[];
  expect(await put(['Author', 'Blogger'])).toEqual(['Author', 'Blogger']);
  expect(await put(['External user'])).toEqual(['External user']);
  expect(await put([])).toEqual(['Organisational user']);
});

test.each([
  [['Gardener']],
  [['Editor', 'nobody']],
  [['']],
  [['Editors']],
  [['Organisational  user x']],
  [['*']],
])('an unknown role is refused: %j', async (roles) => {
  expect(refusal(await app.key.post('/users', aUser({ roles })))).toEqual([422, 'roles unknown_role']);
  const user = await create(app.key, { roles: ['Editor'] });
  expect(refusal(await app.key.put(`/users/${user.uuid}`, { roles }))).toEqual([422, 'roles unknown_role']);
  expect((await app.key.get(`/users/${user.uuid}`)).body).toEqual(user);
});

test.each([[['Editor', 'Editor']], [['Editor', 'EDITOR']], [['Editor', ' editor ']], [['nobody', 'nobody']]])(
  'a role may be listed only once: %j',
  async (roles) => {
    expect(refusal(await app.key.post('/users', aUser({ roles })))).toEqual([422, 'roles invalid_value']);
  },
);

describe('External user', () => {
  test.each([
    [['External user', 'Organisational user']],
    [['webmaster', 'external user']],
    [['Author', 'External user', 'Organisational user', 'Webmaster']],
  ])('excludes: %j', async (roles) => {
    expect(refusal(await app.key.post('/users', aUser({ roles })))).toEqual([422, 'roles exclusive_roles']);
    const { uuid } = await create(app.key);
    expect(refusal(await app.key.put(`/users/${uuid}`, { roles }))).toEqual([422, 'roles exclusive_roles']);
  });

  test('goes with any other role', async () => {
    const others = ROLES.filter((role) => !['Organisational user', 'Webmaster'].includes(role));
    expect((await create(app.key, { roles: others })).roles.sort()).toEqual([...others].sort());
  });
});
