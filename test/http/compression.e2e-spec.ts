import { beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { API_KEY, TestApp, setUpApp } from '../support/app/app.js';
import { create } from '../support/data/factories.js';
import { csv, runImport } from '../support/app/imports.js';

const app = setUpApp();
let run: string;
beforeAll(async () => {
  for (let each = 0; each < 12; each++) await create(app.key, { about_me: 'words '.repeat(100) });
  run = (await runImport(app.key, csv('ExternalId,Username,Email', 'e,e,e@example.org'))).id as string;
});

interface Raw {
  status: number | undefined;
  headers: IncomingMessage['headers'];
  bytes: Buffer;
}

async function get(path: string, headers: Record<string, string> = {}, url = app.url): Promise<Raw> {
  const sent = request(url + path, { headers: { 'x-api-key': API_KEY, ...headers } }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(chunks) };
}

const GZIP = { 'accept-encoding': 'gzip, deflate, br' };

test.each([
  '/api/0.3/users/search?sort=username',
  '/api/0.3/users/export.csv?all=true',
  '/docs/swagger-ui-bundle.js',
  '/docs/openapi.json',
  '/metrics',
])('%s is compressed only if the client accepts gzip', async (path) => {
  const [packed, plain] = [await get(path, GZIP), await get(path)];
  expect([packed.status, packed.headers['content-encoding']]).toEqual([200, 'gzip']);
  expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined]);
  for (const { headers } of path === '/metrics' ? [packed] : [packed, plain]) {
    expect(headers.vary).toMatch(/Accept-Encoding/i);
  }
  expect(packed.headers['content-type']).toBe(plain.headers['content-type']);
  expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 2);
  const text = gunzipSync(packed.bytes).toString();
  if (path !== '/metrics') expect(text).toBe(plain.bytes.toString());
  expect(packed.headers['content-length']).toBeUndefined();
});

test.each(['identity', 'gzip;q=0', 'br', 'gzip;q=0, *;q=0'])(
  'a response to Accept-Encoding: %s is not compressed',
  async (sent) => {
    const { headers } = await get('/api/0.3/users/search', { 'accept-encoding': sent });
    expect(headers['content-encoding']).toBeUndefined();
  },
);

test('short responses, errors and event streams are not compressed', async () => {
  for (const path of [
    '/api/0.3/status',
    '/api/0.3/users/search?limit=1',
    `/api/0.3/users/search?${'x'.repeat(3000)}=1&${'y'.repeat(3000)}=1`,
    `/api/0.3/imports/${run}/events`,
  ]) {
    expect((await get(path, GZIP)).headers['content-encoding']).toBeUndefined();
  }
});

test('a response with one user has a strong ETag', async () => {
  const { uuid } = await create(app.key, { about_me: 'words '.repeat(1000) });
  const { headers } = await get(`/api/0.3/users/${uuid as string}`, GZIP);
  expect([headers['content-encoding'], headers.etag]).toEqual([undefined, expect.stringMatching(/^"/)]);
  const put = await app.key.put(
    `/users/${uuid as string}`,
    { phone: '1' },
    { 'if-match': String(headers.etag) },
  );
  expect(put.status).toBe(200);
});

test('an unchanged file of Swagger UI returns 304 for its ETag', async () => {
  const { headers } = await get('/docs/swagger-ui.css', GZIP);
  expect(headers.etag).toMatch(/^W\//);
  const again = await get('/docs/swagger-ui.css', { ...GZIP, 'if-none-match': String(headers.etag) });
  expect([again.status, again.headers['content-encoding']]).toEqual([304, undefined]);
  expect(again.bytes.length).toBe(0);
  expect(again.headers.vary).toMatch(/Accept-Encoding/i);
});

test('responses of /api_keys and /sessions/login are not compressed', async () => {
  const login = { username: 'admin', password: 'x' };
  for (const answer of [
    await app.key.post('/api_keys', { name: 'n'.repeat(100) }, GZIP),
    await app.guest.post('/sessions/login', login, GZIP),
  ]) {
    expect(answer.headers['content-encoding']).toBeUndefined();
  }
});

test('COMPRESSION=false disables compression', async () => {
  const other = await TestApp.start({ COMPRESSION: 'false' });
  const { headers } = await get('/docs/swagger-ui.css', GZIP, other.url);
  await other.end();
  expect(headers['content-encoding']).toBeUndefined();
});

test.each([
  ['/api/0.3/users/search', 'same-origin'],
  ['/health/live', 'same-origin'],
  ['/nowhere', 'same-origin'],
  ['/assets/default-avatar.svg', 'cross-origin'],
])('the Cross-Origin-Resource-Policy of %s is %s', async (path, policy) => {
  expect((await get(path)).headers['cross-origin-resource-policy']).toBe(policy);
});
