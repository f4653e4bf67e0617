import { describe, expect, test, beforeAll } from '@jest/globals';
import { RoleCatalogue } from '../../src/access/roles.js';
import { setUpApp } from '../support/app/app.js';
import { aUser, create } from '../support/data/factories.js';
import { refusalOf } from '../support/app/problems.js';
import type { Json } from '../support/app/client.js';

/** The names of roles are tested in `unit/roles`. */
const EXTRA = ['Gärtner', 'Night shift'];
const ROLES = new RoleCatalogue(EXTRA).names;
const app = setUpApp({ EXTRA_ROLES: EXTRA.join(', ') });

test('GET /roles lists the built-in roles and the roles of EXTRA_ROLES', async () => {
  const { Count, Results } = (await app.key.get('/roles')).body;
  expect([Count, Results]).toEqual([ROLES.length, ROLES.map((name) => ({ name }))]);
});

test('the roles of EXTRA_ROLES are accepted in upper or lower case', async () => {
  expect((await create(app.key, { roles: [' gÄRTNER ', 'NIGHT shift'] })).roles).toEqual(EXTRA);
});

test('a PUT replaces the roles of a user', async () => {
  const { uuid } = await create(app.key, { roles: ['Editor'] });
  const put = async (roles: unknown) =>
    (await app.key.put(`/users/${uuid}`, { roles })).body.roles as string[];
  expect(await put(['Author', 'Blogger'])).toEqual(['Author', 'Blogger']);
  expect(await put(['External user'])).toEqual(['External user']);
  expect(await put([])).toEqual(['Organisational user']);
});

describe('the role External user', () => {
  test.each([
    [['External user', 'Organisational user']],
    [['webmaster', 'external user']],
    [['Author', 'External user', 'Organisational user', 'Webmaster']],
  ])('cannot be combined with Organisational user or Webmaster: %j', async (roles) => {
    expect(refusalOf(await app.key.post('/users', aUser({ roles })))).toEqual([422, 'roles exclusive_roles']);
    const { uuid } = await create(app.key);
    expect(refusalOf(await app.key.put(`/users/${uuid}`, { roles }))).toEqual([422, 'roles exclusive_roles']);
  });

  test('can be combined with all other roles', async () => {
    const others = ROLES.filter((role) => !['Organisational user', 'Webmaster'].includes(role));
    expect((await create(app.key, { roles: others })).roles).toEqual(others);
  });
});

/** The end of the sessions of blocked users is tested in `sessions/session-end`. */
let last: Json;
beforeAll(async () => void (last = (await (await app.login()).get('/users/me')).body));

const change = (user: Json, body: object, client = app.key) => client.put(`/users/${user.uuid}`, body);

describe('the last active Webmaster', () => {
  test.each([
    ['blocked', { status: 'Blocked' }],
    ['given other roles', { roles: ['Editor'] }],
    ['given the default roles', { roles: [] }],
  ])('cannot be %s', async (_, body) => {
    await create(app.key, { roles: ['Webmaster'], status: 'Blocked' });
    expect(refusalOf(await change(last, body))).toEqual([409, 'last_webmaster']);
    await app.login();
  });

  test('can be blocked after another user becomes a Webmaster', async () => {
    const other = await create(app.key);
    await change(other, { roles: ['Webmaster'] });
    expect((await change(last, { status: 'Blocked' })).status).toBe(200);
    expect(refusalOf(await change(other, { roles: ['Editor'] }))).toEqual([409, 'last_webmaster']);
    expect((await change(last, { roles: ['Editor'] })).status).toBe(200);
    expect((await change(last, { roles: ['Webmaster'], status: 'Active' })).status).toBe(200);
    expect((await change(other, { status: 'Blocked' })).status).toBe(200);
    expect((await change(other, { roles: [] })).status).toBe(200);
  });
});
