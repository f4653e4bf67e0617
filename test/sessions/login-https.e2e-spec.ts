import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ADMIN_PASSWORD, TestApp } from '../support/app/app.js';
import { cookieOf } from '../support/app/people.js';

/** An https BASE_URL: the cookie is sent over HTTPS only. */
describe.each<[string, string, Record<string, string>]>([
  ['by default, which browsers take from this host only', '__Host-rollcall_session', {}],
  ['with a configured name', 'intranet.sid', { SESSION_COOKIE_NAME: 'intranet.sid' }],
])('the cookie of an https service %s', (_, cookieName, settings) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ BASE_URL: 'https://people.example.org/', ...settings });
  });
  afterAll(() => app.end());

  test('is Secure, and a cookie of another name, which another host of the domain could plant, is ignored', async () => {
    const login = await app.nobody.post('/sessions/login', { username: 'admin', password: ADMIN_PASSWORD });
    const { name, value, attributes } = cookieOf(login);
    expect([name, attributes]).toEqual([cookieName, ['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure']]);
    const me = async (cookie: string) => (await app.nobody.get('/users/me', { cookie })).status;
    expect([await me(`${name}=${value}`), await me(`rollcall_session=${value}`)]).toEqual([200, 401]);
  });

  test('is removed at logout with the same attributes, which browsers require', async () => {
    const admin = await app.login();
    // The public address is no foreign origin, whatever address the service listens on.
    const own = { origin: 'https://people.example.org' };
    const logout = await admin.send('POST', '/sessions/logout', undefined, own);
    expect(logout.status).toBe(200);
    const { name, value, attributes } = cookieOf(logout);
    expect([name, value]).toEqual([cookieName, '']);
    expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'Secure']));
    expect(attributes.join()).not.toContain('Domain');
  });
});
