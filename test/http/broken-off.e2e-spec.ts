import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { ApiKeysService } from '../../src/api-keys/api-keys.service.js';
import { ErrorFilter } from '../../src/platform/http/error.filter.js';
import { RunEvents } from '../../src/import/report/run-events.js';
import { UsersExport } from '../../src/import/report/users-export.js';
import { Log } from '../../src/platform/telemetry/log.js';
import { setUpFreshApp } from '../support/app/app.js';
import { csv, runImport } from '../support/app/imports.js';
import { RawConnection } from '../support/app/raw.js';

/** A request that the client aborts is logged and counted as `aborted`, not as a success or a fault of the service. */
const app = setUpFreshApp();
let faults: jest.SpiedFunction<Log['logFault']>;
let requests: jest.SpiedFunction<Log['logRequest']>;
/** The next log line of a request. */
let logged: Promise<Record<string, unknown>>;
/** The error that the error filter handles next. */
let failed: Promise<unknown>;

beforeEach(async () => {
  const [log, filter] = [app.app.get(Log), app.app.get(ErrorFilter)];
  faults = jest.spyOn(log, 'logFault').mockImplementation(() => undefined);
  logged = new Promise((resolve) => {
    requests = jest.spyOn(log, 'logRequest').mockImplementation((fields) => {
      resolve(fields);
    });
  });
  const answer = filter.sendError.bind(filter);
  failed = new Promise((resolve) => {
    jest.spyOn(filter, 'sendError').mockImplementation((...args) => {
      answer(...args);
      resolve(args[0]);
    });
  });
});

const open = async (
  line: string,
  headers: Record<string, string> = {},
  body: string | Uint8Array = '',
): Promise<Socket> =>
  (await RawConnection.openWithRequest(app.url, line, { ...app.key.headers, ...headers }, body)).socket;

/** Ways in which a client ends a connection: orderly or with a reset. */
const DISCONNECTS: Record<string, (socket: Socket) => void> = {
  'a closed connection': (socket) => socket.destroy(),
  'a reset connection': (socket) => socket.resetAndDestroy(),
};

async function readStatuses(): Promise<string[]> {
  const { text } = await app.guest.fetch('GET', '/metrics');
  return [...text.matchAll(/http_request_duration_seconds_count\{.*status="(\w+)"\} [1-9]/g)].map(
    ([, status = '']) => status,
  );
}

const user = JSON.stringify({ username: 'half', email: 'half@example.org' });
const form = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nExternalId,User';
const FORM_TYPE = { 'content-type': 'multipart/form-data; boundary=b' };
const JSON_TYPE = { 'content-type': 'application/json' };
const CSV_TYPE = { 'content-type': 'text/csv' };
const LENGTH = { 'content-length': '1000' };
const CHUNKED = { 'transfer-encoding': 'chunked' };
const BODIES: [what: string, line: string, headers: Record<string, string>, body: string | Uint8Array][] = [
  ['a JSON body', 'POST /api/0.3/users', { ...JSON_TYPE, ...LENGTH }, user],
  [
    'a compressed body',
    'POST /api/0.3/users',
    { ...JSON_TYPE, ...LENGTH, 'content-encoding': 'gzip' },
    gzipSync(user).subarray(0, 30),
  ],
  ['a CSV file', 'POST /api/0.3/imports', { ...CSV_TYPE, ...LENGTH }, 'ExternalId,'],
  ['a chunked CSV file', 'POST /api/0.3/imports', { ...CSV_TYPE, ...CHUNKED }, 'b\r\nExternalId,\r\n'],
  ['a multipart form', 'POST /api/0.3/imports', { ...FORM_TYPE, ...LENGTH }, form],
];

describe.each(Object.entries(DISCONNECTS))('%s', (_, disconnect) => {
  test.each(BODIES)('while sending %s is logged as aborted', async (name, line, headers, body) => {
    const socket = await open(line, headers, body);
    await app.guest.get('/status'); // the service has read the sent part
    disconnect(socket);
    if (name !== 'a compressed body') await failed; // the body reader waits until its time-out
    expect(await findAborted()).toMatchObject({ method: 'POST', ip: '127.0.0.1' });
    expect(faults.mock.calls).toEqual([]);
    expect((await readStatuses()).filter((status) => status !== '200')).toEqual(['aborted']);
  });

  test('while receiving a CSV file stops the export', async () => {
    const path = '/api/0.3/users/export.csv';
    const left = Promise.withResolvers<undefined>();
    jest.spyOn(app.app.get(UsersExport), 'streamLines').mockImplementation(async function* () {
      try {
        for (;;) yield await Promise.resolve(crypto.randomUUID().repeat(2000));
      } finally {
        left.resolve(undefined);
      }
    });
    const socket = await open(`GET ${path}`);
    await once(socket, 'data');
    socket.pause();
    disconnect(socket);
    await left.promise; // reading stops when the client disconnects
    expect(await logged).toMatchObject({ path, aborted: true, ip: '127.0.0.1' });
    expect(await readStatuses()).toEqual(['aborted']);
    expect(faults.mock.calls).toEqual([]);
  });

  test('while receiving a static file is logged with the IP address', async () => {
    const path = '/docs/swagger-ui-bundle.js';
    const socket = await open(`GET ${path}`);
    await once(socket, 'data');
    socket.pause();
    disconnect(socket);
    expect(await findAborted()).toMatchObject({ path, ip: '127.0.0.1' });
  });

  test('during an event stream is logged as aborted', async () => {
    const file = csv('ExternalId,Username,Email', 'e,e,e@example.org');
    const { id } = await runImport(app.key, file, 'dry_run=true');
    jest.spyOn(app.app.get(RunEvents), 'watch').mockImplementation(async function* (_id, signal) {
      if (signal) await once(signal, 'abort');
      yield* [];
    });
    const socket = await open(`GET /api/0.3/imports/${id as string}/events`);
    await app.guest.get('/status');
    disconnect(socket);
    await findAborted();
    expect(faults.mock.calls).toEqual([]);
  });
});

/** Waits for the log line of the aborted request. */
async function findAborted(): Promise<Record<string, unknown>> {
  for (;;) {
    const line = requests.mock.calls.map(([fields]) => fields).find((fields) => fields.aborted === true);
    if (line) {
      expect(line).not.toHaveProperty('status');
      return line;
    }
    await new Promise(setImmediate);
  }
}

test('a response that fails halfway is logged as a fault', async () => {
  const fault = new Error('the table is missing');
  jest.spyOn(app.app.get(UsersExport), 'streamLines').mockImplementation(async function* () {
    yield await Promise.resolve('ExternalId\r\n');
    throw fault;
  });
  await expect(app.key.get('/users/export.csv')).rejects.toThrow(/aborted|hang up|ECONNRESET/);
  expect(await logged).toMatchObject({ path: '/api/0.3/users/export.csv', status: 500 });
  expect(faults.mock.calls.map(([, code, thrown]) => [code, thrown])).toEqual([['internal', fault]]);
  expect(await readStatuses()).toEqual(['500']);
});

test('a disconnect during authentication is logged as aborted', async () => {
  const keys = app.app.get(ApiKeysService);
  const authenticate = keys.authenticate.bind(keys);
  const sockets: Socket[] = [];
  jest.spyOn(keys, 'authenticate').mockImplementationOnce(async (...args) => {
    for (const socket of sockets) socket.resetAndDestroy();
    await logged; // the connection is closed
    return authenticate(...args);
  });
  sockets.push(await open('POST /api/0.3/imports', { ...FORM_TYPE, ...LENGTH }, form));
  await failed;
  expect(await logged).toMatchObject({ aborted: true, ip: '127.0.0.1' });
  expect(faults.mock.calls).toEqual([]);
});
