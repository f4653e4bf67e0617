import { expect, test } from '@jest/globals';
import { API_KEY, setUpApp } from '../support/app/app.js';
import { aUser, create } from '../support/data/factories.js';
import { sendBytes } from '../support/app/raw.js';

/** Forged request headers change neither the route of a request nor any URL in a response. */
const FORGED = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'https',
  'x-forwarded-prefix': '/evil',
  forwarded: 'host=evil.example;proto=https',
  'x-original-url': '/api/0.3/api_keys',
  'x-rewrite-url': '/api/0.3/api_keys',
  'x-http-method-override': 'DELETE',
};
const app = setUpApp();

test('forged headers change neither the route of a request nor a URL in its response', async () => {
  const claimed = app.key.with(FORGED);
  const made = await claimed.post('/users', aUser());
  expect(made.headers['location']).toBe(`/api/0.3/users/${made.body.uuid}`);
  await create(app.key);
  const [read, page] = [
    await claimed.get(`/users/${made.body.uuid}`),
    await claimed.get('/users/search?limit=1'),
  ];
  expect(read.body).toEqual((await app.key.get(`/users/${made.body.uuid}`)).body);
  expect(page.headers['link']).toMatch(/^<\/api\/0\.3\/users\/search\?/);
  for (const { text, headers } of [made, read, page]) {
    expect(`${text} ${JSON.stringify(headers)}`).not.toMatch(/evil/);
  }
});

test('a forged X-Forwarded-Host does not permit a cross-site request', async () => {
  const session = await app.login();
  const { uuid } = (await session.get('/users/me')).body;
  const claims = { origin: 'https://elsewhere.example', 'x-forwarded-host': 'elsewhere.example' };
  const refused = await session.put(`/users/${uuid}`, {}, claims);
  expect([refused.status, refused.body.code]).toEqual([403, 'cross_site']);
});

test.each([
  ['a carriage return in X-Request-Id', 'X-Request-Id: a\rSet-Cookie: sid=evil'],
  ['a line feed in X-Request-Id', 'X-Request-Id: a\nSet-Cookie: sid=evil'],
  ['a carriage return in Idempotency-Key', 'Idempotency-Key: a\rX-Evil: 1'],
])('%s does not add a response header', async (_, line) => {
  const key = `X-API-Key: ${API_KEY}`;
  const answer = await sendBytes(
    app.url,
    `GET /api/0.3/users/search HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${key}\r\n${line}\r\n\r\n`,
  );
  const [head] = answer.split('\r\n\r\n');
  expect(head).not.toMatch(/^(set-cookie: sid=evil|x-evil)/im);
});

test('an encoded line break in the URL adds no response header', async () => {
  for (const path of ['/users/%0d%0aX-Evil:1', '/users/search?after=%0d%0aX-Evil:1&limit=1']) {
    const { status, headers } = await app.key.get(path);
    expect([status, headers['x-evil']]).toEqual([400, undefined]);
  }
});
