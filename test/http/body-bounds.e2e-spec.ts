import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { BodyBudget, IN_FLIGHT_BYTES, LOGIN_BODY } from '../../src/platform/http/body-reader.js';
import { setUpApp } from '../support/app/app.js';
import { aUser } from '../support/data/factories.js';
import { RawConnection, parseLastResponse, sendChunked } from '../support/app/raw.js';
import { waitUntil } from '../support/data/wait.js';

/** Limits on the memory of a body before it is known to be valid (interface §9). */
const app = setUpApp();
let budget: BodyBudget;
beforeAll(() => void (budget = app.app.get(BodyBudget)));
afterEach(() => waitUntil(() => budget.bytes === 0)); // every request releases its bytes

const MIB = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
const CSV_TYPE = { 'content-type': 'text/csv' };
const codeOf = (text: string): string => (JSON.parse(parseLastResponse(text).body) as { code: string }).code;

describe('a login', () => {
  const login = (body: string | Uint8Array, headers = {}) =>
    app.guest.send('POST', '/sessions/login', body, headers);
  const buildLogin = (bytes: number) => {
    const empty = JSON.stringify({ username: 'x', password: '' }).length;
    return JSON.stringify({ username: 'x', password: 'p'.repeat(bytes - empty) });
  };

  test('rejects a body over 4 KiB with 413', async () => {
    expect(LOGIN_BODY.maxBytes).toBe(4096);
    expect((await login(buildLogin(4096))).status).toBe(422); // the password is too long
    const { status, body } = await login(buildLogin(4097));
    expect([status, body.code]).toEqual([413, 'too_large']);
    const path = '/api/0.3/sessions/login';
    expect((await sendChunked(app.url, 'POST', path, JSON_TYPE, [buildLogin(4097)])).status).toBe(413);
  });

  test.each(['gzip', 'deflate', 'br', 'zstd', 'compress'])(
    'rejects a body with Content-Encoding: %s',
    async (encoding) => {
      const headers = { ...JSON_TYPE, 'content-encoding': encoding, 'content-length': '1000' };
      const line = 'POST /api/0.3/sessions/login';
      const connection = await RawConnection.openWithRequest(app.url, line, headers);
      expect(codeOf(await connection.ended)).toBe('unsupported_media_type'); // before any byte of the body
      connection.socket.destroy();
    },
  );
});

describe('unfinished request bodies', () => {
  const announce = (bytes: number, more = {}) => ({
    ...app.key.headers,
    ...JSON_TYPE,
    'content-length': String(bytes),
    ...more,
  });
  const open = (count: number, headers: Record<string, string>, body: Uint8Array) =>
    Promise.all(
      Array.from({ length: count }, () =>
        RawConnection.openWithRequest(app.url, 'POST /api/0.3/users', headers, body),
      ),
    );
  const close = (connections: readonly RawConnection[]): void => {
    for (const { socket } of connections) socket.destroy();
  };

  test('occupy at most 64 MiB together', async () => {
    const count = IN_FLIGHT_BYTES / MIB;
    const bodies = await open(count, announce(MIB), Buffer.alloc(MIB - 1, ' '));
    await waitUntil(() => budget.bytes >= IN_FLIGHT_BYTES);
    const { status, body, headers } = await app.key.post('/users', aUser());
    expect([status, body.code, headers['retry-after']]).toEqual([503, 'unavailable', '1']);
    expect((await app.key.get('/users/search')).status).toBe(200);
    expect(budget.bytes).toBe(IN_FLIGHT_BYTES);
    close(bodies.splice(0, 1));
    await waitUntil(() => budget.bytes < IN_FLIGHT_BYTES);
    expect((await app.key.post('/users', aUser())).status).toBe(201);
    close(bodies);
  });

  test('use memory only for the received compressed bytes', async () => {
    const packed = gzipSync(Buffer.alloc(900_000, 'x')).subarray(0, 600);
    const bodies = await open(200, announce(1000, { 'content-encoding': 'gzip' }), packed);
    await waitUntil(() => budget.bytes >= 200 * packed.length);
    expect(budget.bytes).toBe(200 * packed.length);
    close(bodies);
  });

  test('sent as 400 single bytes use less than 1 KiB', async () => {
    const [connection] = await open(1, announce(500), Buffer.from('{'));
    for (let sent = 1; sent < 400; sent++) {
      connection?.socket.write(' ');
      await waitUntil(() => budget.bytes >= sent);
    }
    expect(budget.bytes).toBeLessThan(1024);
    close(connection ? [connection] : []);
  });

  test('with an import file use 1 MiB each', async () => {
    const headers = { ...app.key.headers, ...CSV_TYPE, 'content-length': '1000' };
    const line = 'POST /api/0.3/imports';
    const connection = await RawConnection.openWithRequest(app.url, line, headers, 'ExternalId\n');
    await waitUntil(() => budget.bytes > 0);
    expect(budget.bytes).toBe(MIB);
    connection.socket.destroy();
  });
});

test.each(['gzip', 'deflate', 'br'])('20 concurrent bodies of invalid %s data get 400', async (encoding) => {
  const bad = Buffer.from([0x78, 0x9c, 0xff]); // invalid in every encoding
  const sent = Array.from({ length: 20 }, () =>
    app.key.send('POST', '/users', bad, { 'content-encoding': encoding }),
  );
  const answers = await Promise.all(sent);
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.code}`))).toEqual(
    new Set(['400 malformed_json']),
  );
});

test('a JSON body with too many values or different names is rejected with 413', async () => {
  const members = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',')}}`;
  const most = await app.key.send('POST', '/users', members(8000));
  expect({ status: most.status, errors: most.body.errors.length }).toEqual({ status: 422, errors: 100 });
  for (const body of [
    members(8001),
    `{"roles":[${'"a",'.repeat(30_000)}"a"]}`,
    `{${'"a":[],'.repeat(20_000)}"a":1}`,
  ]) {
    const { status, body: problem } = await app.key.send('POST', '/users', body);
    expect([status, problem.code]).toEqual([413, 'too_large']);
  }
});
