import { expect, test } from '@jest/globals';
import { readFileSync, readlinkSync } from 'node:fs';
import { getPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { API_KEY } from '../support/app/app.js';
import type { TestDatabase } from '../support/app/database.js';
import { Client } from '../support/app/client.js';
import { problemOf } from '../support/app/people.js';
import { aUser } from '../support/data/factories.js';
import { countsOf, csv, awaitRun, upload } from '../support/app/imports.js';
import { HEAD, people } from '../support/data/user-file.js';
import { Process, childrenOf, envOf, setUpDatabase, suspend } from '../support/process/process.js';

/** Imports in the import worker: if this process fails, the service still responds and the run is completed. */
const [database, otherDatabase] = [setUpDatabase('tables'), setUpDatabase('tables')];
const ROWS = 1500;
const file = (prefix: string, rows = ROWS) => csv(HEAD, ...people(prefix, rows));
const start = (level = 'warn', of = database) =>
  Process.startService({ ...envOf(of), BOOTSTRAP_API_KEY: API_KEY, LOG_LEVEL: level });
const clientOf = ({ url }: Process) => new Client(url, { 'x-api-key': API_KEY });

const isAlive = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

/** Uploads a file and waits until its run writes. */
async function startWriting(client: Client, rows: string): Promise<string> {
  const { id } = (await upload(client, rows)).body;
  for (;;) {
    const { state, progress } = (await client.get(`/imports/${id as string}`)).body;
    if (state === 'applying' && progress.rows_done > 0) return id;
    if (!['queued', 'validating', 'applying'].includes(state))
      throw new Error(`too late: ${state as string}`);
    await delay(20); // the import worker has a low priority
  }
}

test('the first import starts one import worker', async () => {
  const service = await start('info');
  expect(childrenOf(service.pid)).toEqual([]);
  const client = clientOf(service);
  const { id } = (await upload(client, file('a', 10))).body;
  expect(countsOf(await awaitRun(client, id))).toEqual({ created: 10 });
  const [worker = 0, ...others] = childrenOf(service.pid);
  expect(others).toEqual([]);
  expect(getPriority(worker)).toBe(10); // requests have priority over imports
  const streams = [0, 1, 2].map((fd) => readlinkSync(`/proc/${worker}/fd/${fd}`));
  const own = [0, 1, 2].map((fd) => readlinkSync(`/proc/${service.pid}/fd/${fd}`));
  expect(streams.filter((stream) => own.includes(stream) && stream !== '/dev/null')).toEqual([]);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  const lines = service.out.split('\n').slice(0, -1);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
    expect.objectContaining({ msg: 'import', run: id, state: 'completed' }),
  );
});

test('the import worker builds previews', async () => {
  const service = await start();
  const client = clientOf(service);
  const preview = () =>
    client.send('POST', '/imports/preview', file('p', 10), { 'content-type': 'text/csv' });
  expect((await preview()).body.rows).toHaveLength(10);
  const [worker = 0, ...others] = childrenOf(service.pid);
  expect(others).toEqual([]);
  await suspend(worker);
  const interrupted = preview();
  expect((await client.get('/users/search')).status).toBe(200);
  process.kill(worker, 'SIGKILL');
  expect(problemOf(await interrupted)).toEqual([503, 'unavailable']);
  expect((await preview()).status).toBe(200);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});

test('a new import worker completes the import of a killed worker', async () => {
  const service = await start();
  const client = clientOf(service);
  const id = await startWriting(client, file('k'));
  const [worker = 0] = childrenOf(service.pid);
  process.kill(worker, 'SIGKILL');
  // The killed process no longer holds the write lock.
  expect((await client.post('/users', aUser())).status).toBe(201);
  const run = await awaitRun(client, id);
  expect([run.state, countsOf(run)]).toEqual(['completed', { created: ROWS }]);
  expect((await client.get('/users/search?limit=1')).body.Count).toBe(ROWS + 2);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  expect(service.out).toContain('"exit":"SIGKILL"');
});

const STATES = ['queued', 'validating', 'applying'];
test.each([
  ['SIGTERM', 'queued'],
  ['SIGHUP', 'validating'],
  ['SIGQUIT', 'applying'],
] as const)('an import stopped by %s while %s completes after the next start', async (signal, state) => {
  const service = await start();
  const { id } = (await upload(clientOf(service), file('t'))).body;
  const readState = async (): Promise<string> => (await clientOf(service).get(`/imports/${id}`)).body.state;
  while (STATES.indexOf(await readState()) < STATES.indexOf(state)) await delay(5);
  const workers = childrenOf(service.pid);
  // A supervisor sends its signal to all processes. SIGUSR1 opens no inspector.
  for (const pid of [...workers, service.pid]) process.kill(pid, 'SIGUSR1');
  for (const pid of [...workers, service.pid]) process.kill(pid, signal);
  expect(await service.exit).toEqual({ code: 0, signal: null });
  expect(workers.filter(isAlive)).toEqual([]);
  expect([service.out, service.unexpectedOutput]).toEqual(['', '']); // no warning or error
  const client = clientOf(await start());
  // The lease was given back, so the next process does not wait until it expires.
  const run = await awaitRun(client, id);
  expect([run.state, countsOf(run)]).toEqual(['completed', { created: ROWS }]);
});

/** Starts a service and suspends its import worker while the worker writes. */
async function startSuspended(of: TestDatabase) {
  const service = await start('warn', of);
  const client = clientOf(service);
  const id = await startWriting(client, file('z'));
  const [worker = 0] = childrenOf(service.pid);
  await suspend(worker);
  return { service, client, id, worker };
}

test('a suspended import worker is replaced', async () => {
  const [serving, ending] = [await startSuspended(database), await startSuspended(otherDatabase)];
  const exit = ending.service.stop();
  expect((await serving.client.post('/users', aUser())).status).toBe(201);
  const run = await awaitRun(serving.client, serving.id);
  expect([run.state, countsOf(run)]).toEqual(['completed', { created: ROWS }]);
  expect(await exit).toEqual({ code: 0, signal: null });
  expect(isAlive(serving.worker)).toBe(false);
  expect(isAlive(ending.worker)).toBe(false);
});
