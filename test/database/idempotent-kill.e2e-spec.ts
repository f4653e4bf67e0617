import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_KEY } from '../support/app/app.js';
import { type Answer, Client, type Json } from '../support/app/client.js';
import { type TestDropFolder, addScheduledFile, setUpSchedule } from '../support/app/drop-folder.js';
import { RawConnection } from '../support/app/raw.js';
import { aUser } from '../support/data/factories.js';
import { fileOf } from '../support/data/user-file.js';
import { Process, envOf, setUpDatabase } from '../support/process/process.js';
import { group, idOf, patch, post } from '../support/app/scim-bulk.js';

/** Kills the service during requests with an `Idempotency-Key`. KILLS=20 sets a higher number of kills. */
const KILLS = Number(process.env['KILLS'] ?? 2);
const CLIENTS = 6;
/** Number of users that a Bulk request creates. */
const USERS = 600;
const database = setUpDatabase('tables');
const settings = () => ({ ...envOf(database), BOOTSTRAP_API_KEY: API_KEY });
const clientOf = (service: Process) => new Client(service.url, { 'x-api-key': API_KEY });

/** Sends a request, and kills the service when the first byte of the response arrives. */
async function loseResponse(service: Process, path: string, body: object, key: string): Promise<void> {
  const text = JSON.stringify(body);
  const headers = {
    'x-api-key': API_KEY,
    'idempotency-key': key,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
  };
  const { socket } = await RawConnection.openWithRequest(service.url, `POST /api/0.3${path}`, headers, text);
  await once(socket, 'data');
  service.signal('SIGKILL');
  socket.destroy();
  await service.exit;
}

test.each([
  ['/users', () => aUser(), 'user.created'],
  ['/api_keys', () => ({ name: randomUUID() }), 'api_key.created'],
] as const)('POST %s takes effect once if retried after a service kill', async (path, make, action) => {
  const [body, key] = [make(), randomUUID()];
  await loseResponse(await Process.startService(settings()), path, body, key);
  const client = clientOf(await Process.startService(settings()));
  const countEvents = async () => (await client.get(`/audit?action=${action}`)).body.Results.length as number;
  const before = await countEvents();
  const answers = [await client.post(path, body, { 'idempotency-key': key })];
  answers.push(await client.post(path, body, { 'idempotency-key': key }));
  expect(answers.map(({ status, headers }) => [status, headers['idempotency-replayed']])).toEqual([
    [201, 'true'],
    [201, 'true'],
  ]);
  expect(answers[1]?.text).toBe(answers[0]?.text);
  expect(await countEvents()).toBe(before);
});

test('retried POSTs take effect once despite kills at random moments', async () => {
  let service = await Process.startService(settings());
  let killed = 0;
  const sent: string[] = [];
  /** Sends the same request until it gets a response below 500, as a connector does. */
  const sendUntilDone = async (body: object, key: string): Promise<Answer> => {
    for (;;) {
      const target = service;
      try {
        const answer = await clientOf(target).post('/users', body, { 'idempotency-key': key });
        if (answer.status < 500) return answer;
      } catch {
        await target.exit;
        await started;
      }
    }
  };
  let started: Promise<unknown> = Promise.resolve();
  const work = async (): Promise<void> => {
    do {
      const answer = await sendUntilDone(aUser(), randomUUID());
      expect(answer.status).toBe(201);
      sent.push(answer.body.uuid as string);
    } while (killed < KILLS);
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, work));
  for (let kill = 0; kill < KILLS; kill++) {
    const until = sent.length + 5 + Math.floor(Math.random() * 20);
    while (sent.length < until) await clientOf(service).get('/status');
    service.signal('SIGKILL');
    started = service.exit.then(async () => (service = await Process.startService(settings())));
    await started;
    killed++;
  }
  await clients;
  expect(new Set(sent).size).toBe(sent.length);
  expect(await countUsers(clientOf(service))).toBe(sent.length + 1); // the first Webmaster counts too
});

async function countUsers(client: Client): Promise<number> {
  const { body, status, text } = await client.get('/users/search?limit=1');
  if (status !== 200) throw new Error(`${status} ${text}`);
  return body.Count as number;
}

const ids = Array.from({ length: USERS }, (_, index) => `u${index}`);
/** Creates users. After every 50th user, changes the first user, which starts a new set. */
const operations = [
  ...ids.flatMap((id, n) => (n % 50 ? post(id) : [post(id), patch('bulkId:u0', 'title', id)])),
  group('all', ...ids.map((id) => `bulkId:${id}`)),
];

test('a SCIM Bulk request retried after service kills creates every resource once', async () => {
  const key = randomUUID();
  const send = (service: Process): Promise<Answer> =>
    clientOf(service).fetch('POST', '/scim/v2/Bulk', JSON.stringify({ Operations: operations }), {
      'content-type': 'application/scim+json',
      'idempotency-key': key,
    });
  let service = await Process.startService(settings());
  const before = await countUsers(clientOf(service));
  let reached = before;
  for (let kill = 0; kill < KILLS; kill++) {
    const lost = send(service).catch(() => undefined);
    const watched = clientOf(service);
    const aim = Math.min(reached + USERS / (KILLS + 2), before + USERS - 1);
    while ((reached = await countUsers(watched)) < aim);
    service.signal('SIGKILL');
    await service.exit;
    await lost;
    service = await Process.startService(settings());
    const kept = await countUsers(clientOf(service));
    expect(kept).toBeGreaterThanOrEqual(reached);
    reached = kept;
  }
  expect(reached).toBeLessThanOrEqual(before + USERS);
  const answers = [await send(service), await send(service)];
  const [first, second] = answers.map(({ body }) => body.Operations as Json[]);
  const wanted = operations.map(({ method, bulkId }) => `${bulkId} ${method === 'POST' ? 201 : 200}`);
  expect(first?.map(({ bulkId, status }) => `${bulkId} ${status}`)).toEqual(wanted);
  expect(second).toEqual(first);
  const client = clientOf(service);
  expect(await countUsers(client)).toBe(before + USERS);
  const { body: changed } = await client.fetch('GET', `/scim/v2/Users/${idOf(first?.[0])}`);
  expect([changed.title, changed.meta.version]).toEqual(['u550', 'W/"13"']);
  const { body } = await client.get('/audit?action=user.created&limit=1000');
  const created = (body.Results as Json[]).map(({ target }) => target?.id as string);
  expect(new Set(created).size).toBe(created.length);
});

/** Kills the service before the file system change whose number is in a file. Runs in the service before its program. */
async function installHook(path: string): Promise<void> {
  const [fs, { syncBuiltinESMExports }] = await Promise.all([import('node:fs'), import('node:module')]);
  const calls = fs.promises as unknown as Record<string, (...args: unknown[]) => unknown>;
  let count = 0;
  for (const name of ['open', 'rename', 'unlink', 'writeFile']) {
    const call = calls[name];
    calls[name] = (...args) => {
      const isChange = name !== 'open' || args[1] === 'wx';
      if (isChange && fs.existsSync(path) && ++count === Number(fs.readFileSync(path))) {
        fs.rmSync(path);
        process.kill(process.pid, 'SIGKILL');
      }
      return call?.(...args);
    };
  }
  syncBuiltinESMExports();
}

test('an upload into the drop folder that is retried after a kill at any file system change places the file', async () => {
  const [folder, killAt] = [join(database.folder, 'drop'), join(database.folder, 'kill-at')];
  mkdirSync(folder);
  const hook = `await (${installHook.toString()})(${JSON.stringify(killAt)})`;
  const options = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}` };
  const start = () =>
    Process.startService({ ...settings(), ...setUpSchedule({ folder } as TestDropFolder), ...options });
  let service = await start();
  for (let [change, wasKilled] = [1, true]; wasKilled; change++) {
    const [name, file, key] = [`${change}.csv`, fileOf(`K-${change}`), randomUUID()];
    const send = () => addScheduledFile(name, clientOf(service), file, { 'idempotency-key': key });
    writeFileSync(killAt, String(change));
    const first = await send().catch(() => undefined);
    wasKilled = first === undefined;
    rmSync(killAt, { force: true });
    if (wasKilled) {
      await service.exit;
      service = await start();
    }
    const answers = [await send(), await send()];
    expect([change, ...answers.map(({ status }) => status)]).toEqual([change, 201, 201]);
    expect(readFileSync(join(folder, name), 'utf8')).toBe(file);
    expect(existsSync(join(folder, `${name}.done`))).toBe(true);
  }
  expect(readdirSync(folder).filter((name) => name.startsWith('.')).length).toBeLessThan(2); // of the last kill
});
