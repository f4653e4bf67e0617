import { hash } from '@node-rs/argon2';
import { expect, test, describe } from '@jest/globals';
import { ADMIN_PASSWORD, setUpApp } from '../support/app/app.js';
import { cookieOf, databaseOf } from '../support/app/people.js';

const ADMIN = { username: 'admin', password: ADMIN_PASSWORD };

const app = setUpApp();

const login = (headers: Record<string, string> = {}) => app.guest.post('/sessions/login', ADMIN, headers);
const readStatus = async (cookie: string) => (await app.guest.get('/users/me', { cookie })).status;

test('the session cookie is HttpOnly and SameSite=Lax and has no expiry', async () => {
  const { name, value, attributes } = cookieOf(await login());
  expect(name).toBe('rollcall_session');
  expect(Buffer.from(value, 'base64url')).toHaveLength(32);
  expect(attributes).toEqual(['HttpOnly', 'Path=/', 'SameSite=Lax']);
});

test('the session cookie is found among other cookies', async () => {
  const { cookie } = await login();
  expect(await readStatus(`theme=dark; ${cookie}; other="a b"`)).toBe(200);
});

test.each(['', 'x', 'A'.repeat(43), '%', '%00', '"', 'é', 'x'.repeat(4000)])(
  'a request with the invalid session cookie %j returns 401',
  async (value) => {
    expect(await readStatus(`rollcall_session=${value}`)).toBe(401);
  },
);

test('a login never adopts a session id that the client sent', async () => {
  const chosen = `rollcall_session=${'A'.repeat(43)}`;
  const { cookie } = await login({ cookie: chosen });
  expect(cookie).not.toBe(chosen);
  expect(await readStatus(chosen)).toBe(401);
  expect(await readStatus(cookie)).toBe(200);
});

test('every login creates a new session id', async () => {
  const first = (await login()).cookie;
  const second = (await login({ cookie: first })).cookie;
  const third = (await login()).cookie;
  expect(new Set([first, second, third]).size).toBe(3);
  expect(await readStatus(second)).toBe(200);
  expect(await readStatus(third)).toBe(200);
});

test('a request other than a login sets no cookie', async () => {
  const { cookie } = await login();
  const answer = await app.guest.get('/users/me', { cookie });
  expect([answer.status, answer.headers['set-cookie']]).toEqual([200, undefined]);
});

test('a logout removes the session cookie from the browser', async () => {
  const { cookie } = await login();
  const answer = await app.guest.send('POST', '/sessions/logout', undefined, { cookie });
  const { name, value, attributes } = cookieOf(answer);
  expect({ name, value }).toEqual({ name: 'rollcall_session', value: '' });
  expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'Expires=Thu, 01 Jan 1970 00:00:00 GMT']));
});

test('a login renews a password hash with outdated parameters', async () => {
  const database = databaseOf(app);
  const readHash = async () => {
    const [row] = await database.query<{ password_hash: string }>(
      "SELECT password_hash FROM users WHERE username = 'admin'",
    );
    return row?.password_hash;
  };
  const current = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/;
  expect(await readHash()).toMatch(current);
  const old = await hash(ADMIN_PASSWORD, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  await database.execute("UPDATE users SET password_hash = ? WHERE username = 'admin'", [old]);
  expect((await login()).status).toBe(200);
  expect(await readHash()).toMatch(current);
  expect((await login()).status).toBe(200);
});

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
