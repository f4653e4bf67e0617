import { describe, expect, test } from '@jest/globals';
import { ADMIN_PASSWORD, setUpApp } from '../support/app/app.js';
import { cookieOf } from '../support/app/people.js';

/** With an https BASE_URL, the cookie is sent over HTTPS only. */
describe.each<[string, string, Record<string, string>]>([
  ['with the default name', '__Host-rollcall_session', {}],
  ['with a configured name', 'intranet.sid', { SESSION_COOKIE_NAME: 'intranet.sid' }],
])('the HTTPS session cookie %s', (_, cookieName, settings) => {
  const app = setUpApp({ BASE_URL: 'https://people.example.org/', ...settings });

  test('is Secure', async () => {
    const login = await app.guest.post('/sessions/login', { username: 'admin', password: ADMIN_PASSWORD });
    const { name, value, attributes } = cookieOf(login);
    expect([name, attributes]).toEqual([cookieName, ['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure']]);
    const check = async (cookie: string) => (await app.guest.get('/users/me', { cookie })).status;
    expect(await check(`${name}=${value}`)).toBe(200);
    expect(await check(`rollcall_session=${value}`)).toBe(401);
  });

  test('is removed at logout', async () => {
    const admin = await app.login();
    // The origin of BASE_URL is allowed, whatever address the service listens on.
    const own = { origin: 'https://people.example.org' };
    const logout = await admin.send('POST', '/sessions/logout', undefined, own);
    expect(logout.status).toBe(200);
    const { name, value, attributes } = cookieOf(logout);
    expect({ name, value }).toEqual({ name: cookieName, value: '' });
    expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'Secure']));
    expect(attributes.join()).not.toContain('Domain');
  });
});
