import { hash } from '@node-rs/argon2';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ADMIN_PASSWORD, API_KEY, TestApp } from '../support/app/app.js';
import { cookieOf, databaseOf, sha256 } from '../support/app/people.js';

const ADMIN = { username: 'admin', password: ADMIN_PASSWORD };

let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

const login = (headers: Record<string, string> = {}) => app.nobody.post('/sessions/login', ADMIN, headers);
const me = async (cookie: string) => (await app.nobody.get('/users/me', { cookie })).status;

test('the cookie is kept from scripts and other sites, and ends with the browser', async () => {
  const { name, value, attributes } = cookieOf(await login());
  expect(name).toBe('rollcall_session');
  expect(Buffer.from(value, 'base64url')).toHaveLength(32);
  expect(attributes).toEqual(['HttpOnly', 'Path=/', 'SameSite=Lax']);
});

test('the cookie is found among others', async () => {
  const { cookie } = await login();
  expect(await me(`theme=dark; ${cookie}; other="a b"`)).toBe(200);
});

test.each(['', 'x', 'A'.repeat(43), '%', '%00', '"', 'é', 'x'.repeat(4000)])(
  'the cookie value %j is nobody',
  async (value) => {
    expect(await me(`rollcall_session=${value}`)).toBe(401);
  },
);

test('an id sent by the client is never adopted', async () => {
  const chosen = `rollcall_session=${'A'.repeat(43)}`;
  const { cookie } = await login({ cookie: chosen });
  expect(cookie).not.toBe(chosen);
  expect(await me(chosen)).toBe(401);
  expect(await me(cookie)).toBe(200);
});

test('every login creates a new id, also with a live session', async () => {
  const first = (await login()).cookie;
  const second = (await login({ cookie: first })).cookie;
  const third = (await login()).cookie;
  expect(new Set([first, second, third]).size).toBe(3);
  expect([await me(second), await me(third)]).toEqual([200, 200]);
});

test('only a login sets a cookie', async () => {
  const { cookie } = await login();
  const answer = await app.nobody.get('/users/me', { cookie });
  expect([answer.status, answer.headers['set-cookie']]).toEqual([200, undefined]);
});

test('the logout removes the cookie from the browser', async () => {
  const { cookie } = await login();
  const answer = await app.nobody.send('POST', '/sessions/logout', undefined, { cookie });
  const { name, value, attributes } = cookieOf(answer);
  expect({ name, value }).toEqual({ name: 'rollcall_session', value: '' });
  expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'Expires=Thu, 01 Jan 1970 00:00:00 GMT']));
});

test('the database has hashes of secrets and no secret', async () => {
  const token = (await login()).cookie.split('=')[1] ?? '';
  const database = databaseOf(app);
  const tables = [
    'users',
    'user_identifiers',
    'user_words',
    'sessions',
    'api_keys',
    'audit_events',
    'login_failures',
  ];
  const rows = await Promise.all(tables.map((table) => database.query(`SELECT * FROM ${table}`)));
  const dump = JSON.stringify(rows);
  expect(dump).toContain(sha256(token));
  expect(dump).toContain(sha256(API_KEY));
  for (const secret of [token, API_KEY, ADMIN_PASSWORD]) expect(dump).not.toContain(secret);
});

test('a password is stored as argon2id with its parameters, and rehashed at login when they are outdated', async () => {
  const database = databaseOf(app);
  const stored = async () => {
    const [row] = await database.query<{ password_hash: string }>(
      "SELECT password_hash FROM users WHERE username = 'admin'",
    );
    return row?.password_hash;
  };
  const current = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/;
  expect(await stored()).toMatch(current);
  const old = await hash(ADMIN_PASSWORD, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  await database.execute("UPDATE users SET password_hash = ? WHERE username = 'admin'", [old]);
  expect((await login()).status).toBe(200);
  expect(await stored()).toMatch(current);
  expect((await login()).status).toBe(200);
});
