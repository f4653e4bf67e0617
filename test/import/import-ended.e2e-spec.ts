import { afterEach, expect, jest, test } from '@jest/globals';
import { createUnavailableError } from '../../src/platform/common/errors.js';
import { ImportFilesRepository } from '../../src/import/file/import-files.repository.js';
import { Applier } from '../../src/import/apply/applier.service.js';
import { ImportRunsRepository } from '../../src/import/runs/import-runs.repository.js';
import { ImportWorker } from '../../src/import/apply/import-worker.service.js';
import { DATABASE } from '../../src/platform/database/engine/database.js';
import { Leases } from '../../src/platform/database/leases/leases.service.js';
import { setTimeout as delay } from 'node:timers/promises';
import { databaseOf } from '../support/app/people.js';
import { ImportsService } from '../../src/import/imports.service.js';
import { setUpApp } from '../support/app/app.js';
import { aroundApply } from '../support/app/around-apply.js';
import {
  awaitRun,
  csv,
  expectRun,
  findUser,
  readFailed,
  readRun as readRunOf,
  rowsOf,
  runImport,
  upload,
} from '../support/app/imports.js';
import { fileOf } from '../support/data/user-file.js';

/** Late events and faults at the end of a run. */
const app = setUpApp();
afterEach(() => void jest.restoreAllMocks());

const readRun = (id: string) => readRunOf(app.key, id);

test.each([1, 2])('a completed import does not rerun if queued again (%i times)', async (stale) => {
  const run = await runImport(app.key, fileOf(`stale${stale}`));
  const next = jest.spyOn(app.app.get(ImportRunsRepository), 'findNextRunId');
  for (let i = 0; i < stale; i++) next.mockResolvedValueOnce(run.id);
  app.app.get(ImportWorker).wake();
  await runImport(app.key, fileOf(`after${stale}`));
  expect(next.mock.calls.length).toBeGreaterThan(stale);
  expect(await readRun(run.id)).toEqual(run);
});

test('a worker does not start an import that was just cancelled', async () => {
  const runs = app.app.get(ImportRunsRepository);
  const choose = runs.findNextRunId.bind(runs);
  const cancelled: number[] = [];
  let chosen = 0;
  jest.spyOn(runs, 'findNextRunId').mockImplementation(async () => {
    const id = await choose();
    if (id !== undefined && ++chosen === 2) {
      cancelled.push((await app.key.post(`/imports/${id}/cancel`)).status);
    }
    return id;
  });
  const { body } = await upload(app.key, fileOf('cancelled'));
  expect(await awaitRun(app.key, body.id)).toMatchObject({ state: 'cancelled', problems: [] });
  await runImport(app.key, fileOf('next'));
  expect(cancelled).toEqual([202]);
  expect((await readRun(body.id)).state).toBe('cancelled');
});

test('a lease cannot be taken while work under the lease continues', async () => {
  const others = new Leases(app.app.get(DATABASE));
  const take = async () => others.acquire('long', 2);
  const held = await app.app.get(Leases).runUnderLease('long', 2, async () => {
    expect(await take()).toBe(false);
    await delay(3000);
    expect(await take()).toBe(false);
  });
  expect({ held, taken: await take() }).toEqual({ held: true, taken: true });
  const refused = app.app.get(Leases).runUnderLease('long', 2, () => Promise.reject(new Error('begun')));
  expect(await refused).toBe(false);
});

test('the next purge deletes an import file that could not be deleted', async () => {
  const interrupted = Object.assign(new Error('interrupted'), { code: 'ER_QUERY_INTERRUPTED' });
  const files = app.app.get(ImportFilesRepository);
  jest.spyOn(files, 'deleteFirstPart').mockResolvedValueOnce(undefined);
  const deleted = jest.spyOn(files, 'delete').mockRejectedValueOnce(interrupted);
  const run = await runImport(app.key, fileOf('kept'));
  await runImport(app.key, fileOf('later')); // by then the worker has finished the first run
  expect(deleted).toHaveBeenCalledTimes(2);
  const later = await readRun(run.id);
  expect(run.state).toBe('completed');
  expectRun(later, 'completed', { created: 1 });
  expect(await rowsOf(app.key, run.id)).toHaveLength(1);
  const readParts = () => databaseOf(app).query('SELECT run_id FROM import_file_parts');
  expect(await readParts()).toEqual([{ run_id: run.id }]);
  await app.app.get(ImportsService).purge();
  expect(await readParts()).toEqual([]);
});

test('failed.csv of a cancelled import contains the cells of failed rows', async () => {
  await runImport(app.key, fileOf('moved'));
  const user = await findUser(app.key, 'moved');
  const change = () => app.key.put(`/users/${user.uuid as string}`, { phone: '2' });
  aroundApply(app, change, ({ id }) => app.key.post(`/imports/${id}/cancel`));
  const cells = 'moved,moved,moved@example.org,3';
  const run = await runImport(app.key, csv('ExternalId,Username,Email,Phone', cells));
  expect(run.state).toBe('cancelled');
  const line = `${cells},${run.id as string},2,precondition_failed`;
  expect(await readFailed(app.key, run.id)).toContain(line);
});

test('an import is retried if its failure could not be recorded', async () => {
  jest.spyOn(app.app.get(Applier), 'apply').mockRejectedValueOnce(new Error('a fault of ours'));
  const runs = app.app.get(ImportRunsRepository);
  const move = runs.updateState.bind(runs);
  let killed = 0;
  jest.spyOn(runs, 'updateState').mockImplementation(async (sql, id, change) => {
    if (change.state === 'failed' && killed++ === 0) throw createUnavailableError('killed');
    return move(sql, id, change);
  });
  const run = await runImport(app.key, fileOf('again'));
  expectRun(run, 'completed', { created: 1 });
  expect(killed).toBe(1);
});
