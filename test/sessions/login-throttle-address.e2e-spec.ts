import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { PurgeService } from '../../src/operations/start/purge.service.js';
import { LoginThrottle } from '../../src/sessions/login-throttle.service.js';
import { setUpFreshApp } from '../support/app/app.js';
import { stopClock } from '../support/app/clock.js';
import { deletion, writeUsers } from '../support/app/deletion.js';
import { create } from '../support/data/factories.js';
import type { Json } from '../support/app/client.js';
import { PASSWORD, aPerson, databaseOf, inSeconds, problemOf, sha256 } from '../support/app/people.js';

/** Limits on failed logins of an address, and of a user from all addresses. A proxy reports the client address. */
const OFFICE = '203.0.113.7';
beforeEach(() => void stopClock());
const app = setUpFreshApp({ LOGIN_FAILURES_PER_IP: '7', LOGIN_FAILURES_PER_USER: '9', TRUST_PROXY: '1' });
afterEach(() => void jest.useRealTimers());

const login = (username: string, password = 'wrong password', from = OFFICE, headers = {}) =>
  app.guest.post('/sessions/login', { username, password }, { 'x-forwarded-for': from, ...headers });
const DEVICE = /rollcall_session_device=[^;]*/;
const DEVICE_SECONDS = 180 * 24 * 3600;
/** Logs in like a browser, which keeps the device cookie. */
const logInFrom = (cookie: string, username: string, password?: string) =>
  login(username, password, OFFICE, { cookie, 'sec-fetch-mode': 'cors' });
/** Signs in with a browser. @returns the device cookie. */
async function signIn(username: string, cookie = ''): Promise<string> {
  const { status, headers } = await logInFrom(cookie, username, PASSWORD);
  expect(status).toBe(200);
  return DEVICE.exec(headers['set-cookie'] ?? '')?.[0] ?? '';
}
const createUser = (): Promise<Json> => create(app.key, { password: PASSWORD });
const exhaustOffice = async () => {
  for (let time = 0; time < 7; time++) {
    expect(problemOf(await login(`name-${time}`))).toEqual([401, 'login_failed']);
  }
};
/** Returns an address of a different network for each number. */
const ipOf = (time: number) => `198.51.100.${time}`;

describe('a throttled IP address', () => {
  test('refuses usernames with failed logins', async () => {
    await exhaustOffice();
    const answer = await login('name-0', PASSWORD);
    expect(problemOf(answer)).toEqual([429, 'login_throttled']);
    expect(answer.headers['retry-after']).toBe(String(60 * 60));
    expect(problemOf(await login('name-0', PASSWORD, ipOf(1)))).toEqual([401, 'login_failed']);
    await databaseOf(app).execute('UPDATE login_failures SET window_ends = ?', [inSeconds(-1)]);
    expect(problemOf(await login('name-0'))).toEqual([401, 'login_failed']);
  });

  test('delays every username without a failed login', async () => {
    const { username } = await createUser();
    expect((await login(username, PASSWORD)).status).toBe(200);
    await exhaustOffice();
    for (const name of [username, 'no such person']) {
      const began = performance.now();
      expect((await login(name, PASSWORD)).status).toBe(name === username ? 200 : 401);
      expect(performance.now() - began).toBeGreaterThan(990);
    }
  });

  test('admits one new username per second', async () => {
    await exhaustOffice();
    const throttle = app.app.get(LoginThrottle);
    const client = new AbortController();
    const login = { entered: '', uuid: undefined, ip: OFFICE, device: undefined };
    const began = performance.now();
    let admitted = 0;
    const logins = Array.from({ length: 12 }, (_, index) =>
      throttle.delayOrReject({ ...login, name: `new-${index}` }, client.signal).then(
        () => {
          if (++admitted === 2) client.abort(); // the others stop waiting
          return 'admitted';
        },
        (error: unknown) => (error as Error).message,
      ),
    );
    const outcomes = await Promise.all(logins); // a database may admit them in another order
    expect(performance.now() - began).toBeGreaterThan(1900);
    const counts = Map.groupBy(outcomes, (outcome) => outcome);
    expect(counts.get('admitted')).toHaveLength(2);
    expect(counts.get('Too many logins are waiting.')).toHaveLength(2);
    expect(counts.get('The client disconnected.')).toHaveLength(8);
  });
});

test('nine failed logins from different IP addresses throttle a username', async () => {
  for (const name of [(await createUser()).username, 'no such person']) {
    for (let time = 0; time < 9; time++) {
      expect(problemOf(await login(name, `wrong ${time}`, ipOf(time)))).toEqual([401, 'login_failed']);
    }
    const answer = await login(name, PASSWORD, ipOf(10));
    expect(problemOf(answer)).toEqual([429, 'login_throttled']);
    expect(answer.headers['retry-after']).toBe(String(60 * 60));
  }
});

test('all addresses of an IPv6 network share one limit of failed logins', async () => {
  for (let time = 0; time < 5; time++) await login('somebody', 'wrong', `2001:db8:1:2::${time + 1}`);
  expect((await login('somebody', 'wrong', '2001:db8:1:2:ffff::9')).status).toBe(429);
  expect((await login('somebody', 'wrong', '2001:db8:1:3::1')).status).toBe(401);
});

test('a successful login keeps the failed logins of the IP address', async () => {
  const { username } = await createUser();
  for (let time = 0; time < 7; time++) {
    expect((await login(`name-${time}`)).status).toBe(401);
    expect((await login(username, PASSWORD)).status).toBe(200);
  }
  expect((await login('name-0')).status).toBe(429);
});

test('API keys and sessions still work at a throttled IP address', async () => {
  const { client } = await aPerson(app);
  await exhaustOffice();
  const there = { 'x-forwarded-for': OFFICE };
  expect((await login('name-0')).status).toBe(429);
  expect((await client.get('/users/me', there)).status).toBe(200);
  expect((await app.key.get('/users/search', there)).status).toBe(200);
});

describe('a device cookie', () => {
  const listDevices = (uuid: string) =>
    databaseOf(app).query<Json>('SELECT * FROM login_devices WHERE user_uuid = ? ORDER BY expires', [uuid]);
  const exhaustEverything = async (username: string) => {
    for (let time = 0; time < 5; time++) expect((await login(username)).status).toBe(401);
    for (let time = 0; time < 4; time++)
      expect((await login(username, 'wrong', ipOf(time))).status).toBe(401);
    for (let time = 0; time < 2; time++) await login(`name-${time}`);
  };

  test('is set for browsers after the session cookie', async () => {
    const { username, uuid } = await createUser();
    expect((await login(username, PASSWORD)).headers['set-cookie']).not.toMatch(DEVICE);
    const { headers } = await logInFrom('rollcall_session_device=%0d%0aX: 1', username, PASSWORD);
    const [, device = ''] =
      /^rollcall_session=.*,(rollcall_session_device=.*)$/.exec(headers['set-cookie'] ?? '') ?? [];
    const [, value = '', ...attributes] = device.split(/=(.{43}); |; /);
    expect(attributes.filter((text) => text && !text.startsWith('Expires'))).toEqual([
      `Max-Age=${DEVICE_SECONDS}`,
      'Path=/api/0.3/sessions',
      'HttpOnly',
      'SameSite=Lax',
    ]);
    const row = { token_hash: sha256(value), user_uuid: uuid, expires: inSeconds(DEVICE_SECONDS) };
    expect(await listDevices(uuid)).toEqual([row]);
  });

  test('protects its user from the failed logins of other clients', async () => {
    const [user, other] = [await createUser(), await createUser()];
    const device = await signIn(user.username);
    const foreign = await signIn(other.username);
    await exhaustEverything(user.username);
    for (const cookie of ['', foreign, `rollcall_session_device=${'A'.repeat(43)}`])
      expect(problemOf(await logInFrom(cookie, user.username, PASSWORD))).toEqual([429, 'login_throttled']);
    const delays = jest.spyOn(app.app.get(LoginThrottle), 'mustDelay');
    expect(problemOf(await logInFrom(device, user.email))).toEqual([401, 'login_failed']);
    expect(await signIn(user.username, device)).toBe(device);
    const results = await Promise.all(delays.mock.results.map(({ value }) => value));
    expect(new Set(results)).toEqual(new Set([false]));
  });

  test('has its own limit of five failed logins', async () => {
    const { username } = await createUser();
    const [first, second] = [await signIn(username), await signIn(username)];
    for (let time = 0; time < 5; time++) expect((await logInFrom(first, username)).status).toBe(401);
    const answer = await logInFrom(first, username, PASSWORD);
    expect([...problemOf(answer), answer.headers['retry-after']]).toEqual([429, 'login_throttled', '900']);
    await signIn(username, second);
    expect((await login(username, PASSWORD)).status).toBe(200);
    for (let time = 0; time < 4; time++) expect((await logInFrom(second, username)).status).toBe(401);
    // The limit of nine applies to all devices of the user together.
    expect((await logInFrom(second, username, PASSWORD)).headers['retry-after']).toBe('3600');
  });

  test('protects up to eight users of one browser', async () => {
    const users = [];
    for (let number = 0; number < 9; number++) users.push(await createUser());
    let cookie = '';
    for (const { username } of users) cookie = await signIn(username, cookie);
    for (const { username } of users.slice(0, 2)) for (let time = 0; time < 5; time++) await login(username);
    expect((await logInFrom(cookie, users[0].username, PASSWORD)).status).toBe(429);
    expect((await logInFrom(cookie, users[1].username, PASSWORD)).status).toBe(200);
  });

  const change = (body: object) => (uuid: string) => app.key.put(`/users/${uuid}`, body);
  const purge = async () => {
    jest.setSystemTime(Date.now() + 1000 * DEVICE_SECONDS);
    await app.app.get(PurgeService).purgeAll();
  };
  test.each<[string, number, (uuid: string) => Promise<unknown>]>([
    ['ends when its user gets a new password', 0, change({ password: 'another long password' })],
    ['ends when its user is deleted', 0, (uuid) => writeUsers(app, [deletion(uuid)])],
    ['is purged after 180 days', 0, purge],
    ['stays when its user is blocked', 1, change({ status: 'Blocked' })],
    ['stays when its session ends', 1, (uuid) => app.key.delete(`/users/${uuid}/sessions`)],
  ])('%s', async (_, left, end) => {
    const { username, uuid } = await createUser();
    await signIn(username);
    await end(uuid);
    expect(await listDevices(uuid)).toHaveLength(left);
  });

  test('replaces the oldest of 20 devices of its user', async () => {
    const { username, uuid } = await createUser();
    for (let number = 0; number < 21; number++) {
      await signIn(username);
      jest.setSystemTime(Date.now() + 1000);
    }
    expect((await listDevices(uuid)).map(({ expires }) => expires)).toEqual(
      Array.from({ length: 20 }, (_, number) => inSeconds(DEVICE_SECONDS + number - 20)),
    );
  });
});
