import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { sendBytes } from '../support/app/raw.js';
import { METHODS, ROUTES, type Route } from '../support/app/routes.js';

const UNKNOWN = '00000000-0000-4000-8000-00000000dead';
let app: TestApp;
let webmaster: Client;
let uuid: string;

beforeAll(async () => {
  app = await TestApp.start();
  webmaster = await app.login();
  uuid = (await create(app.key)).uuid;
});
afterEach(async () => {
  expect((await app.key.get('/users/search?limit=1')).body.Count).toBe(2);
  expect((await webmaster.get('/users/me')).status).toBe(200);
});
afterAll(() => app.end());

const filled = (path: string, id = uuid): string => path.replace(/\{[a-z_]+_id\}/, id);
const bodyOf = ({ hasBody, file }: Route): [string?, Record<string, string>?] => {
  if (file !== undefined) return ['ExternalId\n', { 'content-type': file }];
  return hasBody ? ['{}'] : [];
};

describe.each(ROUTES)('$method $path', (route) => {
  test.each([
    'bogus=1',
    'bogus',
    '__proto__=1',
    'constructor=1',
    '=1',
    'Limit=1',
    'limit[]=1',
    'limit%00=1',
    'api_key=1',
  ])('names the unknown query parameter of ?%s', async (query) => {
    const path = `${filled(route.path)}?${query}`;
    const { status, body } = await webmaster.send(route.method, path, ...bodyOf(route));
    expect([status, body.code]).toEqual([400, 'invalid_parameter']);
    expect(body.detail).toContain(decodeURIComponent(query.split('=')[0] ?? ''));
    expect(body.instance).toBe(`/api/0.3${filled(route.path)}`);
  });

  test.each(['0.2', '0.30', '0x3', '1.0', '0.3.1', 'v0.3', ''])(
    'is not found under version %j',
    async (version) => {
      const path = `/api/${version}${filled(route.path)}`;
      const { status, body } = await webmaster.raw(route.method, path, ...bodyOf(route));
      expect([status, body?.code]).toEqual([404, 'not_found']);
    },
  );
});

describe.each(ROUTES.filter(({ path }) => path.includes('_id}')))('$method $path', (route) => {
  test.each([
    '1',
    'null',
    UNKNOWN.slice(1),
    `${UNKNOWN}0`,
    UNKNOWN.replaceAll('-', ''),
    `{${UNKNOWN}}`,
    `urn:uuid:${UNKNOWN}`,
    UNKNOWN.replace('d', 'g'),
    '%00',
    `${UNKNOWN}%00`,
    `${UNKNOWN}%20`,
    `${UNKNOWN}%0a`,
    '%E2%82',
    '%zz',
    '%',
    '..%2f..%2fstatus',
    "'%20OR%201=1--",
    'x'.repeat(8000),
  ])('refuses the identifier %s', async (id) => {
    const { status, body } = await app.key.send(route.method, filled(route.path, id), ...bodyOf(route));
    expect([status, body.code]).toEqual([400, 'malformed_uuid']);
  });

  test('does not find an unknown one', async () => {
    const { status, body } = await app.key.send(route.method, filled(route.path, UNKNOWN), ...bodyOf(route));
    expect([status, body.code]).toEqual([404, 'not_found']);
    expect(body.detail).toContain(UNKNOWN);
  });

  test('checks the credentials before the identifier', async () => {
    const { status } = await app.nobody.send(route.method, filled(route.path, '1'), ...bodyOf(route));
    expect(status).toBe(401);
  });
});

const ALL = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'PURGE'];
describe.each(METHODS)('%s', (path, methods) => {
  const wrong = ALL.filter((method) => !methods.includes(method));
  test.each(wrong)(`%s is not a method but ${methods.join(', ')}`, async (method) => {
    const { status, body, headers } = await app.key.raw(method, `/api/0.3${filled(path)}`);
    expect([status, body?.code, headers['allow']]).toEqual([405, 'method_not_allowed', methods.join(', ')]);
  });

  test.each(wrong)('%s is refused before body, parameters and query are looked at', async (method) => {
    for (const value of ['1', '%zz', UNKNOWN]) {
      const url = `/api/0.3${filled(path, value)}?no_parameter=1`;
      const { status, headers } = await app.key.raw(method, url, '{', { 'content-type': 'text/plain' });
      expect([status, headers['allow']]).toEqual([405, methods.join(', ')]);
    }
  });

  test('OPTIONS lists the methods', async () => {
    const { status, headers } = await app.nobody.raw('OPTIONS', `/api/0.3${filled(path)}`);
    expect([200, 204, 405]).toContain(status);
    expect(headers['allow']?.replace('OPTIONS, ', '')).toBe(methods.join(', '));
  });
});

test.each([
  ['limit', 'limit=1&limit=2'],
  ['offset', 'offset=0&offset=0'],
  ['sort', 'sort=email&sort=email'],
  ['order', 'order=asc&order=desc'],
  ['username', 'username=a&username=b'],
  ['has_external_id', 'has_external_id=true&has_external_id=true'],
  ['updated_since', 'updated_since=2026-01-01&updated_since=2026-01-02'],
  ['fulltext_search', 'fulltext_search=a&fulltext_search=b'],
  ['manager_uuid', `manager_uuid=${UNKNOWN}&manager_uuid=${UNKNOWN}`],
  ['after', 'after=a&after=b'],
])('%s may not be repeated', async (name, query) => {
  const { status, body } = await app.key.get(`/users/search?${query}`);
  expect([status, body.code]).toEqual([400, 'invalid_parameter']);
  expect(body.detail).toContain(name);
});

const QUERY = ROUTES.find(({ path }) => path === '/users/search')?.query ?? [];
describe.each(QUERY)('the query parameter %s', (name) => {
  test.each(['', '=', '=%20', '=%00', '=a%00b', `=${'x'.repeat(3000)}`, '=%0a'])(
    'is refused as %j',
    async (value) => {
      const { status, body } = await app.key.get(`/users/search?${name}${value}`);
      expect([status, body.code]).toEqual([400, 'invalid_parameter']);
    },
  );

  test.each([
    '%zz',
    '%E2%82',
    '%ED%A0%80',
    "'",
    '"',
    '\\',
    '%25',
    '_',
    '*',
    '(',
    ';--',
    '😀',
    'NULL',
    '-0',
    '%F0%9F%98%80',
  ])('never breaks on %s', async (value) => {
    const { status } = await app.key.get(`/users/search?${name}=${encodeURI(value).replaceAll('%25', '%')}`);
    expect([200, 400]).toContain(status);
  });
});

const forged = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
test.each([
  ['updated', forged('updated', 'desc', 0, 'yesterday', UNKNOWN)],
  ['updated', forged('updated', 'desc', 0, 7, UNKNOWN)],
  ['updated', forged('updated', 'desc', 1, null, UNKNOWN)],
  ['updated', forged('updated', 'desc', 0, '2026-01-01 00:00:00.000', `\0${UNKNOWN.slice(1)}`)],
  ['updated', forged('updated', 'desc', 0, '2026-01-01 00:00:00.000', `\ud800${UNKNOWN.slice(1)}`)],
  ['username', forged('username', 'desc', 0, 5, UNKNOWN)],
  ['username', forged('username', 'desc', 0, '\ud800', UNKNOWN)],
  ['username', forged('username', 'desc', 0, null, 'é'.repeat(36))],
  ['status', forged('status', 'desc', 0, '😀', UNKNOWN)],
])('a forged cursor of %s never breaks the search (%#)', async (sort, after) => {
  const { status, body } = await app.key.get(`/users/search?sort=${sort}&order=desc&after=${after}`);
  expect([
    [200, undefined],
    [400, 'invalid_parameter'],
  ]).toContainEqual([status, body.code]);
});

test('a URL that is too long is refused, and the server continues', async () => {
  const { status } = await app.key.raw('GET', `/api/0.3/users/search?username=${'x'.repeat(100_000)}`);
  expect(status).toBe(431);
});

test.each([
  ['no HTTP', 'HELLO\r\n\r\n', 400],
  [
    'two lengths',
    'POST /api/0.3/users HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    400,
  ],
  [
    'length and chunks',
    'POST /api/0.3/users HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['a negative length', 'POST /api/0.3/users HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', 400],
  ['no host', 'GET /api/0.3/status HTTP/1.1\r\n\r\n', 400],
  ['a bare path', 'GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404],
])('%s is answered with %d', async (_, bytes, status) => {
  expect(await sendBytes(app.url, bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

describe.each(ROUTES.filter(({ path }) => path.includes('{user_id}')))('$method $path', (route) => {
  test('finds one in capitals and answers with it in small letters', async () => {
    const { status, body } = await app.key.send(
      route.method,
      filled(route.path, uuid.toUpperCase()),
      ...bodyOf(route),
    );
    if (route.path.endsWith('{user_id}')) expect([status, body.uuid]).toEqual([200, uuid]);
    // A user who was not deleted is not taken back.
    else expect(status).toBe(route.path.endsWith('/restore') ? 404 : route.method === 'DELETE' ? 204 : 200);
  });
});
