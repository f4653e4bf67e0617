import { afterEach, expect, jest, test } from '@jest/globals';
import { PlanGuards } from '../../src/import/guards/plan-guards.service.js';
import { ImportRowsRepository } from '../../src/import/runs/import-rows.repository.js';
import { setUpApp } from '../support/app/app.js';
import { aroundApply } from '../support/app/around-apply.js';
import {
  awaitRun,
  countsOf,
  csv,
  readRun as readRunOf,
  rowsOf,
  runImport,
  upload,
} from '../support/app/imports.js';
import { HEAD, fileOf, people } from '../support/data/user-file.js';

/** Cancellation of runs, and the order of queued runs. */
const app = setUpApp();
afterEach(() => void jest.restoreAllMocks());

/** Number of rows, more than the first two transactions of a run write. */
const ROWS = 600;
const BATCH = 25;
const file = (prefix: string) => csv(HEAD, ...people(prefix, ROWS));
const countUsers = async () => (await app.key.get('/users/search?limit=1')).body.Count as number;
const readRun = (id: string) => readRunOf(app.key, id);
const cancel = async (id: string) => app.key.post(`/imports/${id}/cancel`);

test('a cancelled import completes the current batch', async () => {
  const before = await countUsers();
  const rows = app.app.get(ImportRowsRepository);
  const batches = rows.listBatchRows.bind(rows);
  const statuses: number[] = [];
  let reads = 0;
  jest.spyOn(rows, 'listBatchRows').mockImplementation(async (id, ...range) => {
    // By now the first batches are committed, and the next ones have not begun.
    if (++reads === 3) statuses.push((await cancel(id)).status);
    return batches(id, ...range);
  });
  const run = await runImport(app.key, file('w'));
  const { created = 0, skipped = 0 } = countsOf(run);
  expect([statuses, run.state]).toEqual([[202], 'cancelled']);
  expect({ total: created + skipped, rest: created % BATCH }).toEqual({ total: ROWS, rest: 0 });
  expect(created).toBeGreaterThan(0);
  expect(skipped).toBeGreaterThan(0);
  expect(await countUsers()).toBe(before + created);
  const [first] = await rowsOf(app.key, run.id, 'outcome=skipped&limit=1');
  expect(first).toMatchObject({ line: created + 2, uuid: null, changes: [] });
});

test('an import cancelled during validation changes no user', async () => {
  const before = await countUsers();
  const planning: unknown[] = [];
  jest.spyOn(app.app.get(PlanGuards), 'evaluate').mockImplementationOnce(async ({ id }) => {
    const { state, progress } = await readRun(id);
    planning.push(state, progress.rows_done > 0, (await cancel(id)).status);
    return [];
  });
  const run = await runImport(app.key, file('p'));
  expect(planning).toEqual(['validating', true, 202]);
  expect([run.state, countsOf(run), await countUsers()]).toEqual(['cancelled', {}, before]);
  expect(await rowsOf(app.key, run.id)).toEqual([]);
});

test('queued imports run in the order of upload', async () => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  aroundApply(app, () => released);
  const send = async (name: string): Promise<string> => (await upload(app.key, fileOf(name))).body.id;
  const ids = [await send('x'), await send('y'), await send('z')];
  for (const id of ids.slice(1)) expect((await readRun(id)).state).toBe('queued');
  release();
  const [first, second, third] = await Promise.all(ids.map((id) => awaitRun(app.key, id)));
  expect([first, second, third].map(({ state }) => state)).toEqual(Array(3).fill('completed'));
  expect(first.finished <= second.started && second.finished <= third.started).toBe(true);
});
