import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { UNKNOWN, create } from '../support/data/factories.js';
import { problemOf } from '../support/app/people.js';
import { METHODS, ROUTES, type Route } from '../support/app/routes.js';

/** Unsupported paths, methods and queries. One guard checks them for all routes, so each route is tested briefly. */
const app = setUpApp();
let webmaster: Client;
let uuid: string;

beforeAll(async () => {
  webmaster = await app.login();
  uuid = (await create(app.key)).uuid;
});
afterEach(async () => {
  expect((await app.key.get('/users/search?limit=1')).body.Count).toBe(2);
  expect((await webmaster.get('/users/me')).status).toBe(200);
});

const fillPath = (path: string, id = uuid): string => path.replace(/\{[a-z_]+_id\}/, id);
const bodyOf = ({ hasBody, file }: Route): [string?, Record<string, string>?] => {
  if (file !== undefined) return ['ExternalId\n', { 'content-type': file }];
  return hasBody ? ['{}'] : [];
};

describe.each(ROUTES)('$method $path', (route) => {
  test('rejects an unknown query parameter', async () => {
    const path = `${fillPath(route.path)}?bogus=1`;
    const { status, body } = await webmaster.send(route.method, path, ...bodyOf(route));
    expect([status, body.code]).toEqual([400, 'invalid_parameter']);
    expect(body.detail).toContain('bogus');
    expect(body.instance).toBe(`/api/0.3${fillPath(route.path)}`);
  });

  test('returns 404 under another API version', async () => {
    const path = `/api/0.2${fillPath(route.path)}`;
    const answer = await webmaster.fetch(route.method, path, ...bodyOf(route));
    expect(problemOf(answer)).toEqual([404, 'not_found']);
  });
});

test.each(['bogus', '__proto__=1', 'constructor=1', '=1', 'Limit=1', 'limit[]=1', 'limit%00=1', 'api_key=1'])(
  'the error for GET /users/search?%s names the unknown parameter',
  async (query) => {
    const { status, body } = await app.key.get(`/users/search?${query}`);
    expect([status, body.code]).toEqual([400, 'invalid_parameter']);
    expect(body.detail).toContain(decodeURIComponent(query.split('=')[0] ?? ''));
  },
);

test.each(['0.30', '0x3', '1.0', '0.3.1', 'v0.3', ''])('the API version %j returns 404', async (version) => {
  const answer = await app.key.fetch('GET', `/api/${version}/users/search`);
  expect(problemOf(answer)).toEqual([404, 'not_found']);
});

describe.each(ROUTES.filter(({ path }) => path.includes('_id}')))('$method $path', (route) => {
  const send = (id: string) => app.key.send(route.method, fillPath(route.path, id), ...bodyOf(route));

  test('rejects a malformed id and an unknown id', async () => {
    for (const id of ['1', '%zz']) {
      const { status, body } = await send(id);
      expect([id, status, body.code]).toEqual([id, 400, 'malformed_uuid']);
    }
    const { status, body } = await send(UNKNOWN);
    expect([status, body.code]).toEqual([404, 'not_found']);
    expect(body.detail).toContain(UNKNOWN);
  });

  if (route.path.includes('{user_id}'))
    test('accepts an id in upper case', async () => {
      const { status, body } = await send(uuid.toUpperCase());
      if (route.method === 'DELETE') await app.key.post(`/users/${uuid}/restore`);
      if (body?.uuid) expect([status, body.uuid]).toEqual([200, uuid]);
      // A user who was not deleted cannot be restored.
      else expect(status).toBe(route.path.endsWith('/restore') ? 404 : route.method === 'DELETE' ? 204 : 200);
    });
});

test.each([
  UNKNOWN.slice(1),
  `{${UNKNOWN}}`,
  `urn:uuid:${UNKNOWN}`,
  '%00',
  `${UNKNOWN}%00`,
  `${UNKNOWN}%20`,
  '%E2%82',
  '%',
  '..%2f..%2fstatus',
  'x'.repeat(8000),
])('the malformed user id %s is rejected with 400', async (id) => {
  expect(problemOf(await app.key.get(`/users/${id}`))).toEqual([400, 'malformed_uuid']);
});

test.each(['me', 'search', 'export.csv'])(
  'the fixed path /users/%s never matches /users/{user_id}, whatever the method',
  async (name) => {
    for (const method of ['PUT', 'DELETE'])
      expect(problemOf(await app.key.send(method, `/users/${name}`, '{}'))).toEqual([
        405,
        'method_not_allowed',
      ]);
    expect(problemOf(await app.key.send('POST', `/users/${name}/restore`))).toEqual([400, 'malformed_uuid']);
  },
);

const ALL = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'PURGE'];
describe.each(METHODS)('%s', (path, methods) => {
  const allowed = methods.join(', ');
  const wrong = ALL.filter((method) => !methods.includes(method));
  test.each(wrong)(`%s returns 405 with Allow: ${allowed}`, async (method) => {
    const { status, body, headers } = await app.key.fetch(method, `/api/0.3${fillPath(path)}`);
    expect([status, body?.code, headers['allow']]).toEqual([405, 'method_not_allowed', allowed]);
    const worse = `/api/0.3${fillPath(path, '%zz')}?no_parameter=1`;
    const answer = await app.key.fetch(method, worse, '{', { 'content-type': 'text/plain' });
    expect([answer.status, answer.headers['allow']]).toEqual([405, allowed]);
  });

  test('OPTIONS returns the allowed methods in the Allow header', async () => {
    const { status, headers } = await app.guest.fetch('OPTIONS', `/api/0.3${fillPath(path)}`);
    expect([200, 204, 405]).toContain(status);
    expect(headers['allow']?.replace('OPTIONS, ', '')).toBe(allowed);
  });
});

/** Two forged cursors. `unit/cursor` tests all forms. */
test.each([
  ['updated', 'yesterday'],
  ['status', '😀'],
])('a forged cursor never causes a server error (sort %s, key %s)', async (sort, key) => {
  const after = Buffer.from(JSON.stringify([sort, 'desc', 0, key, UNKNOWN])).toString('base64url');
  const { status, body } = await app.key.get(`/users/search?sort=${sort}&order=desc&after=${after}`);
  expect([
    [200, undefined],
    [400, 'invalid_parameter'],
  ]).toContainEqual([status, body.code]);
});
