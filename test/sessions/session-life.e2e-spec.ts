import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { TestApp, setUpApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { stopClock } from '../support/app/clock.js';
import { aPerson, databaseOf, inSeconds, problemOf, sha256 } from '../support/app/people.js';

interface Session {
  created: string;
  expires: string;
  absolute_expires: string;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

const app = setUpApp();
beforeEach(() => void stopClock());
afterEach(() => void jest.useRealTimers());

const hashToken = ({ headers }: Client) => sha256(headers['cookie']?.split('=')[1] ?? '');

async function readSession(client: Client, of: TestApp = app): Promise<Session> {
  const sql = 'SELECT created, expires, absolute_expires FROM sessions WHERE token_hash = ?';
  const [session] = await databaseOf(of).query<Session>(sql, [hashToken(client)]);
  if (!session) throw new Error('the session is not there');
  return session;
}

/** Sets both expiry times of a session, in seconds from now. */
async function setEnds(client: Client, expires: number, absolute: number): Promise<Session> {
  const sql = 'UPDATE sessions SET expires = ?, absolute_expires = ? WHERE token_hash = ?';
  await databaseOf(app).execute(sql, [inSeconds(expires), inSeconds(absolute), hashToken(client)]);
  return readSession(client);
}

const toMillis = (time: string) => Date.parse(`${time.replace(' ', 'T')}Z`);
const secondsBetween = (from: string, to: string) => (toMillis(to) - toMillis(from)) / 1000;

test('a session expires after two idle hours or twelve total hours', async () => {
  const { client } = await aPerson(app);
  const { created, expires, absolute_expires } = await readSession(client);
  expect(secondsBetween(created, expires)).toBe(2 * HOUR);
  expect(secondsBetween(created, absolute_expires)).toBe(12 * HOUR);
});

describe('a session', () => {
  test.each([
    ['the idle time', -1, 10 * HOUR],
    ['the maximum lifetime', HOUR, -1],
  ])('is refused with 401 after %s', async (_, expires, absolute) => {
    const { client } = await aPerson(app);
    expect((await client.get('/users/me')).status).toBe(200);
    await setEnds(client, expires, absolute);
    for (const attempt of [1, 2]) {
      const answer = await client.get('/users/me');
      expect([attempt, ...problemOf(answer)]).toEqual([attempt, 401, 'unauthenticated']);
      expect(answer.headers['www-authenticate']).toMatch(/^ApiKey /);
    }
  });

  test('is accepted until its time of expiry', async () => {
    const { client } = await aPerson(app);
    await setEnds(client, 1, 10 * HOUR);
    expect((await client.get('/users/me')).status).toBe(200);
  });
});

describe('a request', () => {
  test('writes nothing before half the session idle time has passed', async () => {
    const { user, client } = await aPerson(app);
    const before = await setEnds(client, HOUR + 1, 10 * HOUR);
    const readRow = () => databaseOf(app).query('SELECT * FROM users WHERE uuid = ?', [user.uuid]);
    const [userBefore] = await readRow();
    expect((await client.get('/users/me')).status).toBe(200);
    expect((await client.get(`/users/${user.uuid}`)).status).toBe(200);
    expect(await readSession(client)).toEqual(before);
    expect(await readRow()).toEqual([userBefore]);
  });

  test('extends the session after half the idle time', async () => {
    const { client } = await aPerson(app);
    const before = await setEnds(client, HOUR - 1, 10 * HOUR);
    expect((await client.get('/users/me')).status).toBe(200);
    const after = await readSession(client);
    expect(after.expires).toBe(inSeconds(2 * HOUR));
    expect(after.absolute_expires).toBe(before.absolute_expires);
  });

  test('never extends the session past its maximum lifetime', async () => {
    const { client } = await aPerson(app);
    const before = await setEnds(client, 10 * MINUTE, 30 * MINUTE);
    expect((await client.get('/users/me')).status).toBe(200);
    expect(await readSession(client)).toEqual({ ...before, expires: before.absolute_expires });
  });
});

// This test must be the last one, because each application replaces the global strategies of Passport.
test('SESSION_IDLE_MINUTES and SESSION_ABSOLUTE_MINUTES set the lifetime of a session', async () => {
  const other = await TestApp.start({ SESSION_IDLE_MINUTES: '10', SESSION_ABSOLUTE_MINUTES: '15' });
  const { created, expires, absolute_expires } = await readSession(await other.login(), other);
  expect(secondsBetween(created, expires)).toBe(10 * MINUTE);
  expect(secondsBetween(created, absolute_expires)).toBe(15 * MINUTE);
  await other.end();
});
