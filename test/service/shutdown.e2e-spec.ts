import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { SHUTDOWN_SIGNALS } from '../../src/platform/common/signals.js';
import { API_KEY } from '../support/app/app.js';
import { Client } from '../support/app/client.js';
import { drainUnderLoad } from '../support/app/drain.js';
import { aUser } from '../support/data/factories.js';
import { csv, upload } from '../support/app/imports.js';
import { RawConnection, parseLastResponse } from '../support/app/raw.js';
import { Process, envOf, setUpDatabase } from '../support/process/process.js';

/** Shutdown of the service. */
const database = setUpDatabase();
const start = (settings: Record<string, string> = {}) =>
  Process.startService({ ...envOf(database), BOOTSTRAP_API_KEY: API_KEY, ...settings });
const clientOf = ({ url }: Process) => new Client(url, { 'x-api-key': API_KEY });

/** Sends a `POST /users` with an incomplete body, which the service waits for. */
async function sendHalf(url: string, body: string): Promise<RawConnection> {
  const length = { 'content-length': String(Buffer.byteLength(body)), 'content-type': 'application/json' };
  const headers = { 'x-api-key': API_KEY, ...length, expect: '100-continue' };
  const connection = await RawConnection.openWithRequest(url, 'POST /api/0.3/users', headers);
  await connection.waitFor(/ 100 Continue\r\n\r\n$/);
  connection.socket.write(body.slice(0, 10));
  return connection;
}

/** Sends the rest of a body during the shutdown, and expects that the response closes the connection. */
async function sendRest(connection: RawConnection, rest: string): Promise<number> {
  connection.socket.write(rest);
  const { status, headers } = parseLastResponse(await connection.waitFor(/\}$/));
  expect(headers['connection']).toBe('close');
  connection.socket.destroy();
  return status;
}

/** Waits until the server refuses new connections. */
async function waitUntilClosed(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  for (let open = true; open;) {
    const socket = connect(Number(port), hostname);
    open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'close').then(() => false),
    ]).catch(() => false);
    socket.destroy();
  }
}

test.each(SHUTDOWN_SIGNALS)('after %s, the service completes open requests and exits', async (name) => {
  const service = await start();
  service.signal('SIGUSR1'); // opens no inspector
  const agent = new Agent({ keepAlive: true });
  const [idle] = (await once(request(`${service.url}/api/0.3/status`, { agent }).end(), 'response')) as [
    IncomingMessage,
  ];
  idle.resume();
  await once(idle, 'end');

  const bodies = Array.from({ length: 5 }, () => JSON.stringify(aUser()));
  const sent = await Promise.all(bodies.map((body) => sendHalf(service.url, body)));
  service.signal(name);
  await waitUntilClosed(service.url);
  const statuses = await Promise.all(sent.map((one, index) => sendRest(one, bodies[index]?.slice(10) ?? '')));
  expect(statuses).toEqual([201, 201, 201, 201, 201]);
  expect(await service.exit).toEqual({ code: 0, signal: null });
  expect(service.unexpectedOutput).toBe('');
  agent.destroy();

  expect((await clientOf(await start()).get('/users/search')).body.Count).toBe(6);
});

test('a shutdown under load answers every request and loses no created user', async () => {
  const service = await start({ SHUTDOWN_DELAY_SECONDS: '2' });
  const { created, seen } = await drainUnderLoad(service, clientOf(service));
  expect([seen.status, seen.headers['connection']]).toEqual([503, 'close']);
  expect(await service.exit).toEqual({ code: 0, signal: null });
  expect((await clientOf(await start()).get('/users/search')).body.Count).toBe(created + 1);
});

test('on SIGTERM during an import, the service ends the event stream', async () => {
  const service = await start();
  const client = clientOf(service);
  const rows = Array.from({ length: 20_000 }, (_, i) => `S${i},s${i},s${i}@example.org`);
  const { id } = (await upload(client, csv('ExternalId,Username,Email', ...rows))).body;
  const watched = once(
    request(`${service.url}/api/0.3/imports/${id as string}/events`, {
      headers: { 'x-api-key': API_KEY },
    }).end(),
    'response',
  ) as Promise<[IncomingMessage]>;
  const [stream] = await watched;
  await once(stream, 'data');
  stream.resume();
  service.signal('SIGTERM');
  await once(stream, 'end');
  expect(await service.exit).toEqual({ code: 0, signal: null });
  expect(service.unexpectedOutput).toBe('');
});

test('a clean shutdown empties the write-ahead log', async () => {
  const service = await start();
  const client = clientOf(service);
  for (let i = 0; i < 20; i++) expect((await client.post('/users', aUser())).status).toBe(201);
  await service.stop();
  const left = readdirSync(database.folder).filter((name) => name.endsWith('-wal'));
  expect(left.map((name) => statSync(join(database.folder, name)).size).filter((size) => size > 0)).toEqual(
    [],
  );
});
