import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ADMIN_PASSWORD, TestApp } from '../support/app/app.js';

/** The request sequences of the interface document, as a client would send them. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

test('login, read the own profile with the cookie, log out', async () => {
  const login = await app.nobody.post('/sessions/login', { username: 'admin', password: ADMIN_PASSWORD });
  expect(login.status).toBe(200);
  expect(login.headers['set-cookie']).toMatch(
    /^rollcall_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
  );

  const me = await app.nobody.get('/users/me', { cookie: login.cookie });
  expect(me.status).toBe(200);
  expect(me.body).toMatchObject({
    uuid: login.body.uuid,
    username: 'admin',
    roles: ['Webmaster'],
    status: 'Active',
  });

  const logout = await app.nobody.send('POST', '/sessions/logout', undefined, { cookie: login.cookie });
  expect([logout.status, logout.body]).toEqual([200, {}]);
  expect((await app.nobody.get('/users/me', { cookie: login.cookie })).status).toBe(401);
});

test('create with a key, follow Location, change one field, search', async () => {
  const created = await app.key.post('/users', {
    username: 'jane doe',
    email: 'jane.doe@example.org',
    firstname: 'Jane',
    external_id: 'HR-1',
  });
  expect(created.status).toBe(201);
  const location = created.headers['location'] ?? '';
  expect(location).toBe(`/api/0.3/users/${created.body.uuid}`);

  const read = await app.key.raw('GET', location);
  expect(read.body).toMatchObject({ uuid: created.body.uuid, username: 'jane doe', firstname: 'Jane' });

  const changed = await app.key.put(`/users/${created.body.uuid}`, { surname: 'Doe' });
  expect(changed.status).toBe(200);
  expect(changed.body).toMatchObject({ firstname: 'Jane', surname: 'Doe', external_id: 'HR-1' });

  const found = await app.key.get('/users/search?offset=0&limit=1&sort=firstname&order=desc');
  expect(found.body).toEqual({ Count: 2, Results: [changed.body] });
});
