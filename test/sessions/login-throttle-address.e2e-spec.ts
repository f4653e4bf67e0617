import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { errorCodeOf } from '../../src/platform/common/errors.js';
import { LoginThrottle } from '../../src/sessions/login-throttle.service.js';
import { TestApp } from '../support/app/app.js';
import { stopClock } from '../support/app/clock.js';
import { create } from '../support/data/factories.js';
import { PASSWORD, aPerson, databaseOf, inSeconds, problemOf } from '../support/app/people.js';

/** Limits on failed logins of an address, and of a user from all addresses. A proxy reports the client address. */
const OFFICE = '203.0.113.7';
let app: TestApp;
beforeEach(async () => {
  stopClock();
  app = await TestApp.start({ LOGIN_FAILURES_PER_IP: '7', LOGIN_FAILURES_PER_USER: '9', TRUST_PROXY: '1' });
});
afterEach(async () => {
  jest.useRealTimers();
  await app.end();
});

const login = (username: string, password = 'wrong password', from = OFFICE) =>
  app.guest.post('/sessions/login', { username, password }, { 'x-forwarded-for': from });
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

  test('still refuses usernames with failed logins after 15 minutes', async () => {
    await exhaustOffice();
    jest.setSystemTime(Date.now() + 16 * 60 * 1000);
    expect(problemOf(await login('name-0', PASSWORD))).toEqual([429, 'login_throttled']);
  });

  test('delays only users without a previous login there', async () => {
    const [regular, newcomer] = [
      await create(app.key, { password: PASSWORD }),
      await create(app.key, { password: PASSWORD }),
    ];
    expect((await login(regular.username, PASSWORD)).status).toBe(200);
    await exhaustOffice();
    // The regular user can log in even after a failed login.
    expect(problemOf(await login(regular.username))).toEqual([401, 'login_failed']);
    expect((await login(regular.username, PASSWORD)).status).toBe(200);
    const began = performance.now();
    expect((await login(newcomer.username, PASSWORD)).status).toBe(200);
    expect(performance.now() - began).toBeGreaterThan(990);
  });

  test('allows a user without previous logins only one attempt', async () => {
    const { username } = await create(app.key, { password: PASSWORD });
    await exhaustOffice();
    expect(problemOf(await login(username))).toEqual([401, 'login_failed']);
    expect(problemOf(await login(username, PASSWORD))).toEqual([429, 'login_throttled']);
  });

  test('admits one new username per second', async () => {
    await exhaustOffice();
    const throttle = app.app.get(LoginThrottle);
    const client = new AbortController();
    const admit = (name: string) =>
      throttle.delayOrReject({ name, uuid: undefined, ip: OFFICE }, client.signal);
    const began = performance.now();
    let admitted = 0;
    const logins = Array.from({ length: 12 }, (_, index) =>
      admit(`new-${index}`).then(
        () => {
          if (++admitted === 2) client.abort(); // the others stop waiting
          return 'admitted';
        },
        (error: unknown) => errorCodeOf(error),
      ),
    );
    const outcomes = await Promise.all(logins); // a database may admit them in another order
    expect(performance.now() - began).toBeGreaterThan(1900);
    const counts = Map.groupBy(outcomes, (outcome) => outcome);
    expect(counts.get('admitted')).toHaveLength(2);
    expect(counts.get('login_throttled')).toHaveLength(2);
    expect(counts.get('unavailable')).toHaveLength(8);
  });
});

test('nine failed logins from different IP addresses throttle a username', async () => {
  for (const name of [(await create(app.key, { password: PASSWORD })).username, 'no such person']) {
    for (let time = 0; time < 9; time++) {
      expect(problemOf(await login(name, `wrong ${time}`, ipOf(time)))).toEqual([401, 'login_failed']);
    }
    const answer = await login(name, PASSWORD, ipOf(10));
    expect(problemOf(answer)).toEqual([429, 'login_throttled']);
    expect(answer.headers['retry-after']).toBe(String(60 * 60));
  }
});

test('failed logins elsewhere do not throttle the usual IP address of a user', async () => {
  const { username } = await create(app.key, { password: PASSWORD });
  expect((await login(username, PASSWORD)).status).toBe(200);
  for (let time = 0; time < 9; time++) await login(username, `wrong ${time}`, ipOf(time));
  expect((await login(username, PASSWORD, ipOf(10))).status).toBe(429);
  expect((await login(username, PASSWORD)).status).toBe(200);
  // The limit of one user at one address also applies at this address.
  for (let time = 0; time < 5; time++) expect((await login(username)).status).toBe(401);
  expect((await login(username, PASSWORD)).status).toBe(429);
});

test('all addresses of an IPv6 network share one limit of failed logins', async () => {
  for (let time = 0; time < 5; time++) await login('somebody', 'wrong', `2001:db8:1:2::${time + 1}`);
  expect((await login('somebody', 'wrong', '2001:db8:1:2:ffff::9')).status).toBe(429);
  expect((await login('somebody', 'wrong', '2001:db8:1:3::1')).status).toBe(401);
});

test('a successful login keeps the failed logins of the IP address', async () => {
  const { username } = await create(app.key, { password: PASSWORD });
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

test('at most 20 IP addresses of logins are stored for each user', async () => {
  const { username, uuid } = await create(app.key, { password: PASSWORD });
  const readRows = () =>
    databaseOf(app).query<{ network: string }>(
      'SELECT network FROM login_addresses WHERE user_uuid = ? ORDER BY network',
      [uuid],
    );
  const begin = Date.now();
  for (let time = 0; time < 23; time++) {
    jest.setSystemTime(begin + time * 1000);
    expect((await login(username, PASSWORD, `198.51.100.${100 + time}`)).status).toBe(200);
  }
  const networks = (await readRows()).map(({ network }) => network);
  expect(networks).toHaveLength(20);
  expect(networks[0]).toBe('198.51.100.103');
  expect(networks.at(-1)).toBe('198.51.100.122');
  jest.setSystemTime(begin + 91 * 24 * 3600 * 1000);
  await app.app.get(LoginThrottle).purge();
  expect(await readRows()).toEqual([]);
});
