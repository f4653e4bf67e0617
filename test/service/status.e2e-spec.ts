import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DATABASE, type Database } from '../../src/platform/database/engine/database.js';
import { TestApp } from '../support/app/app.js';

let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

test('the status is OK with the time in seconds and as a date, for everybody', async () => {
  const before = Date.now();
  const { status, body, headers } = await app.nobody.get('/status');
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

test.each([
  ['a bad key', { 'x-api-key': 'wrong' }],
  ['a bad cookie', { cookie: 'rollcall_session=wrong' }],
])('%s does not matter where nobody needs credentials', async (_, headers) => {
  expect((await app.nobody.get('/status', headers)).status).toBe(200);
});

test('HEAD answers like GET, without a body', async () => {
  const { status, text } = await app.nobody.raw('HEAD', '/api/0.3/status');
  expect([status, text]).toEqual([200, '']);
});

test('a failing database is reported as 503 with Retry-After', async () => {
  const database = app.app.get<Database>(DATABASE);
  await database.execute('ALTER TABLE users RENAME TO users_gone');
  const failed = await app.nobody.get('/status');
  await database.execute('ALTER TABLE users_gone RENAME TO users');
  expect([failed.status, failed.body.code]).toEqual([503, 'unavailable']);
  expect(failed.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect((await app.nobody.get('/status')).status).toBe(200);
});
