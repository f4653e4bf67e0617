import { expect, jest, test } from '@jest/globals';
import { readFileSync, readlinkSync } from 'node:fs';
import { getPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { API_KEY } from '../support/app/app.js';
import type { TestDatabase } from '../support/app/database.js';
import { Client } from '../support/app/client.js';
import { aUser } from '../support/data/factories.js';
import { counted, csv, settled, upload } from '../support/app/imports.js';
import { HEAD, people } from '../support/data/user-file.js';
import { Process, childrenOf, newcomer, processDatabase } from '../support/process/process.js';

/** Imports in the process beside the service: whatever becomes of it, the service answers, and the run is completed. */
const [database, another] = [processDatabase('tables'), processDatabase('tables')];
jest.setTimeout(240_000);
const ROWS = 3000;
const file = (prefix: string, rows = ROWS) => csv(HEAD, ...people(prefix, rows));
const start = (level = 'warn', of = database) =>
  Process.running({ ...newcomer(of), BOOTSTRAP_API_KEY: API_KEY, LOG_LEVEL: level });
const clientOf = ({ url }: Process) => new Client(url, { 'x-api-key': API_KEY });

const isAlive = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

/** Uploads a file and waits until its run writes. */
async function writing(client: Client, rows: string): Promise<string> {
  const { id } = (await upload(client, rows)).body;
  for (;;) {
    const { state, progress } = (await client.get(`/imports/${id as string}`)).body;
    if (state === 'applying' && progress.rows_done > 0) return id;
    if (!['queued', 'validating', 'applying'].includes(state))
      throw new Error(`too late: ${state as string}`);
    await delay(20); // the process that imports has a low priority
  }
}

test('the first import starts one import worker that shares no stream, and the service shows its runs and its log', async () => {
  const service = await start('info');
  expect(childrenOf(service.pid)).toEqual([]);
  const client = clientOf(service);
  const { id } = (await upload(client, file('a', 10))).body;
  expect(counted(await settled(client, id))).toEqual({ created: 10 });
  const [lane = 0, ...others] = childrenOf(service.pid);
  expect(others).toEqual([]);
  expect(getPriority(lane)).toBe(10); // a request that wants the same processor has it
  const streams = [0, 1, 2].map((fd) => readlinkSync(`/proc/${lane}/fd/${fd}`));
  const own = [0, 1, 2].map((fd) => readlinkSync(`/proc/${service.pid}/fd/${fd}`));
  expect(streams.filter((stream) => own.includes(stream) && stream !== '/dev/null')).toEqual([]);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  const lines = service.out.split('\n').slice(0, -1);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
    expect.objectContaining({ msg: 'import', run: id, state: 'completed' }),
  );
});

test('the process is killed while it writes: requests are answered, another one completes the run', async () => {
  const service = await start();
  const client = clientOf(service);
  const id = await writing(client, file('k'));
  const [lane = 0] = childrenOf(service.pid);
  process.kill(lane, 'SIGKILL');
  // Its turn to write ended with it.
  expect((await client.post('/users', aUser())).status).toBe(201);
  const run = await settled(client, id);
  expect([run.state, counted(run)]).toEqual(['completed', { created: ROWS }]);
  expect((await client.get('/users/search?limit=1')).body.Count).toBe(ROWS + 2);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  expect(service.out).toContain('"exit":"SIGKILL"');
});

test('SIGTERM to the service and its import worker stops the run at a checkpoint, and the next start completes it', async () => {
  const service = await start();
  const id = await writing(clientOf(service), file('t'));
  const [lane = 0] = childrenOf(service.pid);
  process.kill(lane, 'SIGTERM');
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  expect(isAlive(lane)).toBe(false);
  expect(service.complaints).toBe('');
  const client = clientOf(await start());
  // The lease was given back, so the next process does not wait until it expires.
  const run = await settled(client, id);
  expect([run.state, counted(run)]).toEqual(['completed', { created: ROWS }]);
});

/** Starts a service and stops its import worker while the worker writes. */
async function startWithStoppedWorker(of: TestDatabase) {
  const service = await start('warn', of);
  const client = clientOf(service);
  const id = await writing(client, file('z'));
  const [lane = 0] = childrenOf(service.pid);
  process.kill(lane, 'SIGSTOP');
  return { service, client, id, lane };
}

test('a stopped import worker is replaced by one that completes the run, and the service exits with 0 on a signal', async () => {
  const [serving, ending] = [await startWithStoppedWorker(database), await startWithStoppedWorker(another)];
  const exit = ending.service.stop();
  expect((await serving.client.post('/users', aUser())).status).toBe(201);
  const run = await settled(serving.client, serving.id);
  expect([run.state, counted(run)]).toEqual(['completed', { created: ROWS }]);
  expect(await exit).toEqual({ code: 0, signal: null });
  expect([isAlive(serving.lane), isAlive(ending.lane)]).toEqual([false, false]);
}, 120_000);
