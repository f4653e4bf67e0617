import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { TestApp } from '../support/app.js';
import { stopClock } from '../support/clock.js';
import { create } from '../support/factories.js';
import { PASSWORD, aPerson, databaseOf, inSeconds, problemOf } from '../support/people.js';

let app: TestApp;
beforeEach(async () => {
  stopClock();
  app = await TestApp.start({ LOGIN_FAILURES_PER_IP: '7' });
});
afterEach(async () => {
  jest.useRealTimers();
  await app.end();
});

const login = (username: string, password = 'wrong password') =>
  app.nobody.post('/sessions/login', { username, password });

test('an address with too many failures is refused for every name, for up to an hour', async () => {
  const { username } = await create(app.key, { password: PASSWORD });
  for (let time = 0; time < 7; time++) {
    expect(problemOf(await login(`name-${time}`))).toEqual([401, 'login_failed']);
  }
  const answer = await login(username, PASSWORD);
  expect(problemOf(answer)).toEqual([429, 'login_throttled']);
  expect(answer.headers['retry-after']).toBe(String(60 * 60));

  await databaseOf(app).execute('UPDATE login_failures SET window_ends = ?', [inSeconds(-1)]);
  expect((await login(username, PASSWORD)).status).toBe(200);
});

test('a login that succeeds does not clear the failures of its address', async () => {
  const { username } = await create(app.key, { password: PASSWORD });
  for (let time = 0; time < 7; time++) {
    expect((await login(`name-${time}`)).status).toBe(401);
    if (time < 6) expect((await login(username, PASSWORD)).status).toBe(200);
  }
  expect((await login(username, PASSWORD)).status).toBe(429);
});

test('neither keys nor live sessions are slowed down', async () => {
  const { client } = await aPerson(app);
  for (let time = 0; time < 7; time++) await login(`name-${time}`);
  expect((await login('another')).status).toBe(429);
  expect((await client.get('/users/me')).status).toBe(200);
  expect((await app.key.get('/users/search')).status).toBe(200);
});
