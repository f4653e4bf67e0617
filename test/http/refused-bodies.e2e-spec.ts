import { beforeAll, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { aUser } from '../support/data/factories.js';
import { type Person, aPerson } from '../support/app/people.js';
import { RawConnection, parseLastResponse, sendChunked } from '../support/app/raw.js';

/** A body that is rejected because of the request headers is not read, and gets no 100 Continue. */
const app = setUpApp();
let member: Person;
beforeAll(async () => void (member = await aPerson(app)));

const MIB = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
const CSV_TYPE = { 'content-type': 'text/csv' };
/** A foreign origin, which prevents a case from ending the session of the member. */
const ELSEWHERE = { origin: 'https://evil.example' };
const withLength = (bytes: number) => ({ 'content-length': String(bytes) });
const json = (bytes = MIB) => ({ ...JSON_TYPE, ...withLength(bytes) });
const csv = (bytes = MIB) => ({ ...CSV_TYPE, ...withLength(bytes) });
const text = { 'content-type': 'text/plain', ...withLength(MIB) };
const gzip = { ...json(MIB + 1), 'content-encoding': 'gzip' };
const chunked = { 'transfer-encoding': 'chunked' };
const headersOf = (who: 'key' | 'member' | 'nobody'): Record<string, string> =>
  who === 'key' ? app.key.headers : who === 'member' ? { ...member.client.headers, ...ELSEWHERE } : {};

const REFUSED = [
  ['without credentials', 'POST /api/0.3/users', 'nobody', json(), 401],
  ['without credentials, in chunks', 'POST /api/0.3/users', 'nobody', { ...JSON_TYPE, ...chunked }, 401],
  ['of type text/plain', 'POST /api/0.3/users', 'key', text, 415],
  ['that is too long', 'POST /api/0.3/users', 'key', json(MIB + 1), 413],
  ['that is too long and compressed with gzip', 'POST /api/0.3/users', 'key', gzip, 413],
  ['that is too long for a login', 'POST /api/0.3/sessions/login', 'nobody', json(4097), 413],
  ['with a file that is too long', 'POST /api/0.3/imports', 'key', csv(100 * MIB + 1), 413],
  ['of a member without permission', 'POST /api/0.3/imports', 'member', csv(), 403],
  ['with an invalid query', 'POST /api/0.3/imports?x=1', 'key', csv(), 400],
  ['for an unknown path', 'POST /api/0.3/nowhere', 'nobody', json(), 404],
  ['of a logout', 'POST /api/0.3/sessions/logout', 'member', json(), 403],
  ['of a GET request', 'GET /api/0.3/status', 'nobody', json(), 200],
] as const;

test('the connection is closed if a request body is rejected unread', () =>
  Promise.all(
    REFUSED.map(async ([what, line, who, headers, status]) => {
      const connection = await RawConnection.openWithRequest(app.url, line, {
        ...headersOf(who),
        ...headers,
      });
      const drip = setInterval(() => connection.socket.write('1\r\nx\r\n'), 50);
      const { status: answered, headers: sent } = parseLastResponse(await connection.ended);
      expect([what, answered, sent['connection']]).toEqual([what, status, 'close']);
      await connection.closed;
      clearInterval(drip);
    }),
  ));

test.each(REFUSED)('no 100 Continue is sent for a request body %s', async (_, line, who, headers, status) => {
  const expecting = { ...headersOf(who), ...headers, expect: '100-continue' };
  const connection = await RawConnection.openWithRequest(app.url, line, expecting);
  const text = await connection.ended;
  connection.socket.destroy();
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

test('the connection stays open if a request body has invalid content', async () => {
  const headers = { ...app.key.headers, ...JSON_TYPE, 'content-length': '2' };
  const connection = await RawConnection.openWithRequest(app.url, 'POST /api/0.3/users', headers, '{}');
  const answer = parseLastResponse(await connection.waitFor(/\}$/));
  expect([answer.status, answer.headers['connection']]).toEqual([422, 'keep-alive']);
  connection.socket.destroy();
});

test('a client that is still sending its body receives the error response', async () => {
  const chunks = Array.from({ length: 16 }, () => Buffer.alloc(65_536, ' '));
  const { status } = await sendChunked(app.url, 'POST', '/api/0.3/users', JSON_TYPE, chunks);
  expect(status).toBe(401);
});

test.each([
  ['a JSON body', 'POST /api/0.3/users', JSON_TYPE, JSON.stringify(aUser()), 201],
  ['a file', 'POST /api/0.3/imports?dry_run=true', CSV_TYPE, 'ExternalId\n', 202],
  [
    'a form',
    'POST /api/0.3/imports?dry_run=true',
    { 'content-type': 'multipart/form-data; boundary=b' },
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nExternalId\n\r\n--b--\r\n',
    202,
  ],
])('100 Continue is sent for %s with valid headers', async (_, line, type, body, status) => {
  const expecting = { expect: '100-continue', ...withLength(body.length) };
  const headers = { ...app.key.headers, ...type, ...expecting };
  const connection = await RawConnection.openWithRequest(app.url, line, headers);
  await connection.waitFor(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  connection.socket.write(body);
  const text = await connection.waitFor(/\}$/);
  connection.socket.destroy();
  expect(parseLastResponse(text).status).toBe(status);
  expect(text.match(/HTTP\/1\.1/g)).toHaveLength(2);
});
