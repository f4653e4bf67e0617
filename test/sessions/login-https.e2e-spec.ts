import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ADMIN_PASSWORD, TestApp } from '../support/app/app.js';
import { cookieOf } from '../support/app/people.js';

let app: TestApp;
beforeAll(async () => {
  app = await TestApp.start({ BASE_URL: 'https://people.example.org/', SESSION_COOKIE_NAME: 'intranet.sid' });
});
afterAll(() => app.end());

test('with a public https address, the cookie is sent over HTTPS only, under the name from the settings', async () => {
  const login = await app.nobody.post('/sessions/login', { username: 'admin', password: ADMIN_PASSWORD });
  const { name, value, attributes } = cookieOf(login);
  expect([name, attributes]).toEqual(['intranet.sid', ['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure']]);
  const me = async (cookie: string) => (await app.nobody.get('/users/me', { cookie })).status;
  expect(await me(`intranet.sid=${value}`)).toBe(200);
  expect(await me(`rollcall_session=${value}`)).toBe(401);
});

test('the public address is not a foreign origin, whatever address the service listens on', async () => {
  const admin = await app.login();
  const own = { origin: 'https://people.example.org' };
  expect((await admin.send('POST', '/sessions/logout', undefined, own)).status).toBe(200);
});
