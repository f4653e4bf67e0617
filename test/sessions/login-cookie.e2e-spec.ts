import { hash } from '@node-rs/argon2';
import { expect, test } from '@jest/globals';
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
