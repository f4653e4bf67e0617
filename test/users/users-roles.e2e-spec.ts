import { describe, expect, test } from '@jest/globals';
import { RoleCatalogue } from '../../src/access/roles.js';
import { setUpApp } from '../support/app/app.js';
import { aUser, create } from '../support/data/factories.js';
import { refusalOf } from '../support/app/problems.js';

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
