import { afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { ImportRowsRepository } from '../../src/import/runs/import-rows.repository.js';
import { ImportRunsRepository } from '../../src/import/runs/import-runs.repository.js';
import { DATABASE } from '../../src/platform/database/engine/database.js';
import { Leases } from '../../src/platform/database/leases/leases.service.js';
import { IMPORT_LEASE } from '../../src/import/runs/run-transitions.service.js';
import { PurgeService } from '../../src/operations/start/purge.service.js';
import { setUpApp } from '../support/app/app.js';
import { ALL_BUT_DATE } from '../support/app/clock.js';
import { countsOf, runImport, findUser, awaitRun } from '../support/app/imports.js';
import { fileOf } from '../support/data/user-file.js';

/** Decisions of an operator that arrive while a run is purged. */

/** One day more than IMPORT_RETENTION_DAYS, because the fake clock may lag by some milliseconds. */
const RETENTION_MILLIS = 91 * 24 * 60 * 60 * 1000;
const app = setUpApp();
let runs: ImportRunsRepository;
beforeAll(() => void (runs = app.app.get(ImportRunsRepository)));
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

const purge = () => app.app.get(PurgeService).purgeAll();
const passRetention = () => {
  jest.useFakeTimers({ now: Date.now() + RETENTION_MILLIS, advanceTimers: true, doNotFake: ALL_BUT_DATE });
};
const decide = async (id: string, word: string): Promise<string> => {
  const answer = await app.key.post(`/imports/${id}/${word}`);
  expect(answer.status).toBe(202);
  return answer.body.id as string;
};

/** Holds the lease of imports during `work`, so that no worker starts a run. */
async function withoutWorker(work: () => Promise<void>): Promise<void> {
  const leases = new Leases(app.app.get(DATABASE));
  while (!(await leases.acquire(IMPORT_LEASE, 3600)));
  await work();
  await leases.release(IMPORT_LEASE);
}

test('a purge keeps the file of a plan that was just approved', async () => {
  const { id } = await runImport(app.key, fileOf('a'), 'dry_run=true');
  passRetention();
  await withoutWorker(async () => {
    const waiting = runs.listWaitingSince.bind(runs);
    jest.spyOn(runs, 'listWaitingSince').mockImplementationOnce(async (...given) => {
      const found = await waiting(...given);
      expect(found).toEqual([id]);
      await decide(id, 'apply');
      return found;
    });
    await purge();
  });
  const run = await awaitRun(app.key, id);
  expect([run.state, countsOf(run)]).toEqual(['completed', { created: 1 }]);
});

test('a purge keeps the rows of an import that is being reverted', async () => {
  const { id } = await runImport(app.key, fileOf('c'));
  passRetention();
  let revert = '';
  await withoutWorker(async () => {
    const finished = runs.listFinishedBefore.bind(runs);
    jest.spyOn(runs, 'listFinishedBefore').mockImplementationOnce(async (...given) => {
      const found = await finished(...given);
      expect(found).toContain(id);
      revert = await decide(id, 'revert');
      return found;
    });
    await purge();
  });
  const run = await awaitRun(app.key, revert);
  expect([run.state, countsOf(run)]).toEqual(['completed', { deleted: 1 }]);
  expect(await findUser(app.key, 'c')).toBeUndefined();
  passRetention();
  await purge();
  expect((await app.key.get('/imports')).body.Count).toBe(0);
});

test('an import whose rows are being purged cannot be reverted', async () => {
  const { id } = await runImport(app.key, fileOf('d'));
  passRetention();
  const rows = app.app.get(ImportRowsRepository);
  const deleteAll = rows.deleteAll.bind(rows);
  const answers: unknown[] = [];
  jest.spyOn(rows, 'deleteAll').mockImplementation(async (runId) => {
    await deleteAll(runId);
    if (runId !== id) return;
    const { status, body } = await app.key.post(`/imports/${id}/revert`);
    answers.push([status, body.code]);
  });
  await purge();
  expect(answers).toEqual([[409, 'wrong_state']]);
});
