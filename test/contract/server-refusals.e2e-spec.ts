import { beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Request } from 'express';
import { Log } from '../../src/platform/telemetry/log.js';
import { API_KEY, setUpApp } from '../support/app/app.js';
import { RawConnection, parseLastResponse, sendBytes } from '../support/app/raw.js';

/** Requests that the server rejects before a route receives them. The response is an ordinary problem. */
const app = setUpApp();
const logged = jest.fn<(request: Request, status: number) => void>();
beforeAll(async () => {
  jest.spyOn(app.app.get(Log), 'onRequestEnd').mockImplementation((request, response) => {
    logged(request, response.statusCode);
  });
});
beforeEach(() => void logged.mockClear());

const HOST = 'Host: x\r\n';
const KEY = `X-API-Key: ${API_KEY}\r\n`;
const JSON_TYPE = 'Content-Type: application/json\r\n';
const buildChunked = (chunks: string) =>
  `POST /api/0.3/users HTTP/1.1\r\n${HOST}${KEY}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n${chunks}`;

/** A request, the path that the server can read from it, and its problem (by default 400 `malformed_request`). */
type Case = [what: string, bytes: string, path: string, status?: number, code?: string];
const STATUS = '/api/0.3/status';
const USERS = '/api/0.3/users';
const LONG = 'x'.repeat(17 * 1024);
const post = (lines: string) => `POST /api/0.3/users HTTP/1.1\r\n${HOST}${lines}\r\n\r\n`;
const REFUSED: Case[] = [
  ['a request that is not HTTP', 'HELLO\r\n\r\n', ''],
  ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', ''],
  ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc', ''],
  ['a second Content-Length', post('Content-Length: 2\r\nContent-Length: 3'), ''],
  ['a negative Content-Length', post('Content-Length: -1'), ''],
  ['a control character in a header', `GET ${STATUS} HTTP/1.1\r\n${HOST}X-Odd: a\x01b\r\n\r\n`, ''],
  ['an invalid URL as the request target', `GET http://[ HTTP/1.1\r\n${HOST}\r\n`, 'http://['],
  ['a missing Host header', `GET ${STATUS} HTTP/1.1\r\n\r\n`, STATUS],
  // `unit/host-header` tests all forms of the header.
  ...['Host: a\r\nHost: b', 'Host: a\r\nhOsT: a', 'Host:\r\nHost: a', 'Host: a b', 'Host: \xe9'].map(
    (lines): Case => [JSON.stringify(lines), `GET ${STATUS} HTTP/1.1\r\n${lines}\r\n\r\n`, STATUS],
  ),
  ['two Host headers in HTTP/1.0', `GET ${STATUS} HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n`, STATUS],
  [
    'two Host headers with an absolute URL as the target',
    `GET http://a${STATUS} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
    `http://a${STATUS}`,
  ],
  ['a CONNECT request', `CONNECT example.org:443 HTTP/1.1\r\n${HOST}\r\n`, 'example.org:443'],
  ['headers of 17 KiB', `GET / HTTP/1.1\r\n${HOST}Cookie: ${LONG}\r\n\r\n`, '', 431, 'headers_too_large'],
  ['a path of 17 KiB', `GET /${LONG} HTTP/1.1\r\n${HOST}\r\n`, '', 431, 'headers_too_large'],
  [
    'an unknown Expect header',
    `GET ${STATUS}?x=1 HTTP/1.1\r\n${HOST}Expect: a-pony\r\n\r\n`,
    STATUS,
    417,
    'expectation_failed',
  ],
  ['a chunk without a size', buildChunked('zz\r\n'), USERS],
  ['a chunk extension of 17 KiB', buildChunked(`2;${LONG}\r\n{}\r\n0\r\n\r\n`), USERS, 413, 'too_large'],
];

const countResponses = async (status: number): Promise<number> => {
  const { text } = await app.guest.fetch('GET', '/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith('http_request_duration_seconds_count'));
  const own = lines.filter((line) => line.includes(`status="${status}"`));
  return own.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};

async function expectRefusal(
  connection: RawConnection,
  [status, code, path]: readonly [number, string, string],
): Promise<void> {
  const answer = parseLastResponse(await connection.ended);
  connection.socket.destroy();
  expect([answer.status, answer.headers['content-type']?.split(';')[0]]).toEqual([
    status,
    'application/problem+json',
  ]);
  const problem = JSON.parse(answer.body) as Record<string, unknown>;
  expect(problem).toMatchObject({ type: `/problems/${code}`, status, code, instance: path });
  expect(problem['request_id']).toBe(answer.headers['x-request-id']);
  expect(problem['request_id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(answer.headers).toMatchObject({
    connection: 'close',
    'content-length': String(answer.body.length),
    'content-security-policy': expect.stringContaining("default-src 'none'"),
    'x-content-type-options': 'nosniff',
    date: expect.stringMatching(/GMT$/),
  });
  const lines = logged.mock.calls.filter(([{ requestId }]) => requestId === problem['request_id']);
  expect(lines.map(([, logStatus]) => logStatus)).toEqual([status]);
}

test.each(REFUSED)('%s is rejected, logged and counted in metrics', async (_, bytes, path, ...problem) => {
  const [status = 400, code = 'malformed_request'] = problem;
  const before = await countResponses(status);
  const connection = await RawConnection.open(app.url);
  connection.socket.write(bytes, 'latin1');
  await expectRefusal(connection, [status, code, path]);
  expect((await countResponses(status)) - before).toBe(1);
  expect((await app.guest.get('/status')).status).toBe(200);
});

describe('a slow client', () => {
  const server = () => app.app.getHttpServer() as { headersTimeout: number; requestTimeout: number };
  const withLimits = async (limits: object, work: () => Promise<void>): Promise<void> => {
    const { headersTimeout, requestTimeout } = server();
    Object.assign(server(), limits);
    await work().finally(() => Object.assign(server(), { headersTimeout, requestTimeout }));
  };

  test('has 15 seconds for headers and 15 minutes in total', () => {
    expect(server()).toMatchObject({ headersTimeout: 15_000, requestTimeout: 900_000 });
  });

  test('gets 408 after the time limit for headers', () =>
    withLimits({ headersTimeout: 1 }, async () => {
      const connection = await RawConnection.open(app.url);
      connection.socket.write('GET /api/0.3/status HTTP/1.1\r\nHost: x\r\n');
      await expectRefusal(connection, [408, 'request_timeout', '']);
    }));

  test('gets 408 after the time limit for the upload', () =>
    withLimits({ headersTimeout: 1, requestTimeout: 1 }, async () => {
      const headers = { ...app.key.headers, 'content-type': 'text/csv', 'content-length': '100' };
      const line = 'POST /api/0.3/imports';
      const connection = await RawConnection.openWithRequest(app.url, line, headers, 'ExternalId\n');
      await expectRefusal(connection, [408, 'request_timeout', '/api/0.3/imports']);
    }));

  test('is disconnected without a response after sending nothing', () =>
    withLimits({ headersTimeout: 1 }, async () => {
      const connection = await RawConnection.open(app.url);
      expect(await connection.ended).toBe('');
      connection.socket.destroy();
      expect(logged).not.toHaveBeenCalled();
    }));
});

test.each([
  ['Content-Length plus chunks', post('Content-Length: 2\r\nTransfer-Encoding: chunked') + '0\r\n\r\n', 400],
  ['the request target *', `GET * HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, 404],
])('%s is rejected with %d', async (_, bytes, status) => {
  expect(await sendBytes(app.url, bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

test('a valid request gets a response even if invalid bytes follow', async () => {
  const connection = await RawConnection.open(app.url);
  connection.socket.write(`GET /api/0.3/status HTTP/1.1\r\n${HOST}\r\nHELLO\r\n\r\n`);
  const text = await connection.ended;
  connection.socket.destroy();
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1);
});

test('a request with two Content-Type headers returns 415', async () => {
  const connection = await RawConnection.open(app.url);
  const types = `${JSON_TYPE}Content-Type: text/csv\r\n`;
  connection.socket.write(
    `POST /api/0.3/users HTTP/1.1\r\n${HOST}${KEY}${types}Connection: close\r\nContent-Length: 2\r\n\r\n{}`,
    'latin1',
  );
  const answer = parseLastResponse(await connection.ended);
  connection.socket.destroy();
  expect(answer.status).toBe(415);
});
