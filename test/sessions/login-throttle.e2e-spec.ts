import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { availableParallelism } from 'node:os';
import { TestApp, setUpApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { stopClock } from '../support/app/clock.js';
import { create } from '../support/data/factories.js';
import { PASSWORD, databaseOf, inSeconds, problemOf } from '../support/app/people.js';

const app = setUpApp({ LOGIN_FAILURES_PER_IP: '1000' });
beforeEach(() => void stopClock());
afterEach(() => void jest.useRealTimers());

const createUser = () => create(app.key, { password: PASSWORD });
const login = (username: string, password: string, headers: Record<string, string> = {}): Promise<Answer> =>
  app.guest.post('/sessions/login', { username, password }, headers);

async function fail(times: number, name: string): Promise<void> {
  for (let time = 0; time < times; time++) {
    expect(problemOf(await login(name, `wrong ${time}`))).toEqual([401, 'login_failed']);
  }
}

const endWindows = () =>
  databaseOf(app).execute('UPDATE login_failures SET window_ends = ?', [inSeconds(-1)]);

describe('five failed logins', () => {
  test('lead to 429 even for the correct password', async () => {
    const { username } = await createUser();
    await fail(5, username);
    const answer = await login(username, PASSWORD);
    expect(problemOf(answer)).toEqual([429, 'login_throttled']);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.headers['retry-after']).toBe(String(15 * 60));
  });

  test('lead to 429 even for a blocked user', async () => {
    const { username, uuid } = await createUser();
    await app.key.put(`/users/${uuid}`, { status: 'Blocked' });
    for (let time = 0; time < 5; time++)
      expect(problemOf(await login(username, PASSWORD))).toEqual([401, 'login_failed']);
    expect(problemOf(await login(username, PASSWORD))).toEqual([429, 'login_throttled']);
  });

  test('lead to 429 for every spelling of the username', async () => {
    const [user, other] = [await createUser(), await createUser()];
    await fail(3, user.username);
    await fail(2, ` ${user.username.toUpperCase()} `);
    expect((await login(user.username, PASSWORD)).status).toBe(429);
    expect((await login(other.username, PASSWORD)).status).toBe(200);
  });

  test('lead to 429 even if some logins use the email', async () => {
    const { username, email } = await createUser();
    await fail(3, username);
    await fail(2, email);
    expect(problemOf(await login(email, PASSWORD))).toEqual([429, 'login_throttled']);
    expect(problemOf(await login(username, PASSWORD))).toEqual([429, 'login_throttled']);
  });

  test('lead to 429 until the time window ends', async () => {
    const { username } = await createUser();
    await fail(5, username);
    expect((await login(username, PASSWORD)).status).toBe(429);
    await endWindows();
    await fail(5, username);
    expect((await login(username, PASSWORD)).status).toBe(429);
    await endWindows();
    expect((await login(username, PASSWORD)).status).toBe(200);
  });
});

test('a successful login clears the failed logins of its username', async () => {
  const { username } = await createUser();
  await fail(4, username);
  expect((await login(username, PASSWORD)).status).toBe(200);
  await fail(4, username);
  expect((await login(username, PASSWORD)).status).toBe(200);
});

test('concurrent failed logins are all counted', async () => {
  const names = Array.from({ length: 40 }, () => 'hammered');
  const answers = await Promise.all(names.map((name, index) => login(name, `wrong ${index}`)));
  const codes = answers.map(problemOf).map(String);
  const refused = codes.filter((code) => code === '401,login_failed').length;
  expect(new Set(codes)).toEqual(new Set(['401,login_failed', '429,login_throttled']));
  // Only logins that are hashed at the same time as the fifth failure may exceed the limit.
  expect(refused).toBeGreaterThanOrEqual(5);
  expect(refused).toBeLessThan(5 + availableParallelism());
});

test('concurrent failed logins of many usernames are all stored', async () => {
  await databaseOf(app).execute('DELETE FROM login_failures');
  const names = Array.from({ length: 20 }, (_, index) => `first-${index}`);
  const answers = await Promise.all(names.map((name) => login(name, PASSWORD)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  const rows = await databaseOf(app).query<{ failures: number }>('SELECT failures FROM login_failures');
  // Each name has a row for this address and a row for all addresses. The address itself has one row.
  const ones = [...names, ...names].map(() => 1);
  expect(rows.map(({ failures }) => failures).sort((a, b) => a - b)).toEqual([...ones, 20]);
});

test('failed logins are still counted after a restart', async () => {
  const { username } = await createUser();
  await fail(3, username);
  await app.stop();
  Object.assign(app, await TestApp.startOn(app.database));
  await fail(2, username);
  expect((await login(username, PASSWORD)).status).toBe(429);
});
