import { expect, jest, test } from '@jest/globals';
import { Log } from '../../src/platform/telemetry/log.js';
import { setUpApp } from '../support/app/app.js';
import { aUser } from '../support/data/factories.js';
import { databaseOf } from '../support/app/people.js';

const GENERATED = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const app = setUpApp();

const sendWithId = (id: string) => app.key.get('/users/search', { 'x-request-id': id });

test.each(['a', 'x'.repeat(64), 'A-z_0.9', '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10'])(
  'the X-Request-Id %s is returned unchanged',
  async (id) => {
    expect((await sendWithId(id)).headers['x-request-id']).toBe(id);
  },
);

test.each(['', 'x'.repeat(65), 'a b', 'a/b', 'a,b', 'é', '<script>', 'a"b', '{}', 'a, a'])(
  'the invalid X-Request-Id %j is replaced by a generated id',
  async (id) => {
    expect((await sendWithId(id)).headers['x-request-id']).toMatch(GENERATED);
  },
);

test('every request without X-Request-Id gets a different generated id', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => app.guest.get('/status')));
  const ids = answers.map(({ headers }) => headers['x-request-id']);
  for (const id of ids) expect(id).toMatch(GENERATED);
  expect(new Set(ids).size).toBe(20);
});

test.each([
  ['an unknown path', '/api/0.3/nothing', 404],
  ['an unknown API version', '/api/0.2/users/search', 404],
  ['a path in capitals', '/API/0.3/users/search', 404],
  ['missing credentials', '/api/0.3/users/me', 401],
  ['invalid percent-encoding', '/api/0.3/users/%zz', undefined],
  ['a problem page', '/problems/internal', 200],
  ['the OpenAPI file', '/docs/openapi.json', 200],
])('the response for %s contains the X-Request-Id', async (_, path, expected) => {
  const { status, headers, body } = await app.guest.fetch('GET', path, undefined, {
    'x-request-id': 'my-id',
  });
  expect(headers['x-request-id']).toBe('my-id');
  if (expected !== undefined) expect(status).toBe(expected);
  if (status >= 400) expect(body.request_id).toBe('my-id');
});

test('the X-Request-Id is in error bodies, log lines and audit events', async () => {
  const logged = jest.spyOn(app.app.get(Log), 'logRequest');
  const id = 'traced.request_1';
  const created = await app.key.post('/users', aUser(), { 'x-request-id': id });
  const refused = await app.key.post('/users', {}, { 'x-request-id': id });
  expect(created.status).toBe(201);
  expect([refused.status, refused.body.request_id]).toEqual([422, id]);
  await app.guest.get('/status'); // the log line of the previous request is written by now
  const lines = logged.mock.calls.map(([fields]) => fields).filter((fields) => fields.request_id === id);
  const line = {
    ...{ request_id: id, method: 'POST', path: '/api/0.3/users', ms: expect.any(Number) },
    ...{ ip: '127.0.0.1', actor_kind: 'key', actor_id: expect.any(String) },
  };
  expect(lines).toEqual([
    { ...line, status: 201 },
    { ...line, status: 422 },
  ]);
  const rows = await databaseOf(app).query<{ action: string }>(
    'SELECT * FROM audit_events WHERE request_id = ?',
    [id],
  );
  expect(rows.map(({ action }) => action)).toEqual(['user.created']);
});
