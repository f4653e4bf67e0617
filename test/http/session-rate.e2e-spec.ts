import { afterEach, expect, jest, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { aPerson, problemOf } from '../support/app/people.js';
import type { Client } from '../support/app/client.js';

let app: TestApp;
afterEach(() => app.end().finally(() => void jest.restoreAllMocks()));

/** Sends `count` requests and one more, and returns the statuses of the last two. */
async function sendRequests(count: number, client: Client): Promise<number[]> {
  for (let sent = 1; sent < count; sent++) await client.get('/users/search?limit=1');
  return [
    (await client.get('/users/search?limit=1')).status,
    (await client.get('/users/search?limit=1')).status,
  ];
}

test('the sessions of one user share a rate limit', async () => {
  app = await TestApp.start({ SESSION_RATE_LIMIT_PER_MINUTE: '5' });
  const [one, other] = [await aPerson(app), await aPerson(app)];
  expect(await sendRequests(5, one.client)).toEqual([200, 429]);
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
  const refused = await (await app.login(one.user.username, 'open the window, please')).get('/users/me');
  expect(problemOf(refused)).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect((await other.client.get('/users/me')).status).toBe(200);
  expect(await sendRequests(20, app.key)).toEqual([200, 200]);
});

test.each([
  [{ SESSION_RATE_LIMIT_PER_MINUTE: '0' }, undefined],
  [{ SESSION_RATE_LIMIT_PER_MINUTE: '' }, '"default";q=600;w=60'],
  [{ SESSION_RATE_LIMIT_PER_MINUTE: '50', RATE_LIMIT_PER_MINUTE: '40' }, '"default";q=40;w=60'],
  [{ SESSION_RATE_LIMIT_PER_MINUTE: '50', RATE_LIMIT_PER_MINUTE: '60' }, '"default";q=50;w=60'],
])('with the settings %j, the RateLimit-Policy of a session is %s', async (settings, policy) => {
  app = await TestApp.start(settings);
  const client = await app.login();
  expect((await client.get('/users/me')).headers['ratelimit-policy']).toBe(policy);
});
