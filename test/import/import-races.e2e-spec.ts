import { afterEach, expect, jest, test } from '@jest/globals';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import { RunPlanner } from '../../src/import/plan/run-planner.js';
import { ImportRunsRepository } from '../../src/import/runs/import-runs.repository.js';
import { RunRights } from '../../src/import/runs/run-rights.service.js';
import { DATABASE } from '../../src/platform/database/engine/database.js';
import { Leases } from '../../src/platform/database/leases/leases.service.js';
import { Checkpoint, LeaseLostError } from '../../src/import/runs/run-transitions.service.js';
import { setUpApp } from '../support/app/app.js';
import { aroundApply } from '../support/app/around-apply.js';
import { onMariadb } from '../support/app/database.js';
import { awaitRun, csv, findUser, readFailed, rowsOf, runImport } from '../support/app/imports.js';
import { HEAD, fileOf, people, person } from '../support/data/user-file.js';
import { databaseOf } from '../support/app/people.js';

/** Concurrent work on the same run. */
const app = setUpApp();
afterEach(() => void jest.restoreAllMocks());

const file = (blocked: number) =>
  csv(`${HEAD},Status`, ...people('p', 30, (i) => [i < blocked ? 'Blocked' : 'Active']));

/** Returns true if a transaction waits for a row lock of another transaction in this database. */
async function isWaiting(): Promise<boolean> {
  const row = await databaseOf(app).queryOne<{ n: number }>(
    `SELECT COUNT(*) AS n FROM information_schema.processlist
     WHERE db = DATABASE() AND id <> CONNECTION_ID() AND info LIKE '%FOR UPDATE' AND time_ms > 100`,
  );
  return (row?.n ?? 0) > 0;
}

onMariadb(
  'a decision about an import is refused while a newer import supersedes it (only on MariaDB)',
  async () => {
    await runImport(app.key, file(0));
    const waiting = await runImport(app.key, file(10));
    expect(waiting.state).toBe('needs_approval');
    const runs = app.app.get(ImportRunsRepository);
    const inScope = runs.listInScope.bind(runs);
    let decision: ReturnType<typeof app.key.post> | undefined;
    jest.spyOn(runs, 'listInScope').mockImplementation(async (...given) => {
      const older = await inScope(...given);
      if (!given[1].includes('needs_approval')) return older;
      decision = app.key.post(`/imports/${waiting.id as string}/reject`);
      const answered = decision.then(() => true);
      while (!(await Promise.race([answered, isWaiting()])));
      return older;
    });
    expect((await runImport(app.key, file(0))).state).toBe('completed');
    const answer = await decision;
    expect([answer?.status, answer?.body.code]).toEqual([409, 'wrong_state']);
    expect((await awaitRun(app.key, waiting.id)).state).toBe('superseded');
  },
);

test('an import worker that lost its lease deletes no planned rows', async () => {
  const { id } = await runImport(app.key, fileOf('n'), 'dry_run=true');
  const planned = await rowsOf(app.key, id);
  expect(planned).toHaveLength(1);
  const late = new Checkpoint(
    id,
    () => false,
    app.app.get(TransactionRunner),
    new Leases(app.app.get(DATABASE)), // of an instance without a lease
    app.app.get(ImportRunsRepository),
    app.app.get(RunRights),
  );
  const run = await app.app.get(ImportRunsRepository).find(id);
  if (!run) throw new Error('the run is missing');
  await expect(app.app.get(RunPlanner).plan(run, late)).rejects.toBeInstanceOf(LeaseLostError);
  expect(await rowsOf(app.key, id)).toEqual(planned);
});

test('failed.csv has the right columns before the import ends', async () => {
  await runImport(app.key, csv(`${HEAD},Phone`, person('f1', '1')));
  const user = await findUser(app.key, 'f1');
  let text = '';
  const change = () => app.key.put(`/users/${user.uuid as string}`, { phone: '2' });
  aroundApply(app, change, async ({ id }) => (text = await readFailed(app.key, id)));
  const failing = csv(`${HEAD},Phone`, person('f1', '3'), 'f2,f2,no address,1');
  expect((await runImport(app.key, failing)).state).toBe('completed_with_errors');
  const cells = text.split('\r\n').map((line) => line.split(',').slice(5, 7).join());
  expect(cells).toEqual(['_line,_code', '2,precondition_failed', '3,invalid_format', '']);
});
