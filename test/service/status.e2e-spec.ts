import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { databaseOf } from '../support/app/people.js';

const app = setUpApp();

test('GET /status returns OK and the current time without credentials', async () => {
  const before = Date.now();
  const { status, body, headers } = await app.guest.get('/status');
  expect(status).toBe(200);
  expect(Object.keys(body).sort()).toEqual(['datetime', 'status', 'timestamp', 'version']);
  expect(body.status).toBe('OK');
  expect(body.datetime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const millis = Date.parse(body.datetime);
  expect(millis).toBeGreaterThanOrEqual(before);
  expect(millis).toBeLessThanOrEqual(Date.now());
  expect(body.timestamp).toBe(Math.floor(millis / 1000));
  expect(headers['set-cookie']).toBeUndefined();
  expect(headers['content-type']).toMatch(/^application\/json/);
});

test('GET /status returns 200 with an invalid cookie', async () => {
  expect((await app.guest.get('/status', { cookie: 'rollcall_session=wrong' })).status).toBe(200);
});

test('HEAD /status returns 200 without a body', async () => {
  const { status, text } = await app.guest.fetch('HEAD', '/api/0.3/status');
  expect([status, text]).toEqual([200, '']);
});

test('GET /status returns 503 with Retry-After if the database fails', async () => {
  const database = databaseOf(app);
  await database.execute('ALTER TABLE users RENAME TO users_gone');
  const failed = await app.guest.get('/status');
  await database.execute('ALTER TABLE users_gone RENAME TO users');
  expect([failed.status, failed.body.code]).toEqual([503, 'unavailable']);
  expect(failed.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect((await app.guest.get('/status')).status).toBe(200);
});
