import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ADMIN_PASSWORD, TestApp } from '../support/app/app.js';
import { cookieOf } from '../support/app/people.js';

let app: TestApp;
beforeAll(async () => void (app = await TestApp.start({ BASE_URL: 'https://people.example.org' })));
afterAll(() => app.end());

test('by default browsers take the cookie of an https service from this host over HTTPS only', async () => {
  const login = await app.nobody.post('/sessions/login', { username: 'admin', password: ADMIN_PASSWORD });
  const { name, value, attributes } = cookieOf(login);
  expect([name, attributes]).toEqual([
    '__Host-rollcall_session',
    ['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure'],
  ]);
  const me = async (cookie: string) => (await app.nobody.get('/users/me', { cookie })).status;
  // What another host of the domain could plant is not read.
  expect([await me(`${name}=${value}`), await me(`rollcall_session=${value}`)]).toEqual([200, 401]);
});

test('the logout removes it under the same rules, or browsers would ignore that', async () => {
  const admin = await app.login();
  const { name, value, attributes } = cookieOf(await admin.send('POST', '/sessions/logout'));
  expect([name, value]).toEqual(['__Host-rollcall_session', '']);
  expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'Secure']));
  expect(attributes.join()).not.toContain('Domain');
});
