import { beforeEach, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { setUpFreshApp } from '../support/app/app.js';
import { csv, runImport, awaitRun } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';
import { DAY, HOUR, SealedAudit, aRun, sealTimeAfter } from '../support/app/sealed-audit.js';

/** Users who started and approved imports match the events. Changes of a single import are tested in `audit-tampered`. */
const app = setUpFreshApp();
const { seal, verify, execute, insert, expectFault } = new SealedAudit(() => app);
beforeEach(async () => {
  await insert(Date.now() - 3 * HOUR);
  await seal(Date.now());
});

test('records of who started or approved an import match the audit', async () => {
  const file = csv('ExternalId,Username,Email', 'A1,one,one@example.org');
  const plan = await runImport(app.key, file, 'dry_run=true');
  for (const word of ['apply', 'revert']) {
    const { status, body } = await app.key.post(`/imports/${plan.id}/${word}`);
    expect(status).toBe(202);
    expect((await awaitRun(app.key, body.id as string)).state).toBe('completed');
  }
  const rows = await databaseOf(app).query('SELECT part FROM audit_runs ORDER BY part');
  expect(rows).toEqual([{ part: 'approved' }, { part: 'started' }, { part: 'started' }]);
  expect(await verify()).toMatchObject({ fault: null, bad: [] });
  await expectFault(() => execute("UPDATE audit_runs SET person_kind = 'user' WHERE part = 'approved'"));
});

test('audit verification finds one changed or removed record among 250 imports', async () => {
  const runs: string[] = [];
  for (let n = 0; n < 250; n++) runs.push(await aRun(app));
  await expectFault(() =>
    execute("UPDATE audit_runs SET person_kind = 'key' WHERE run_id = ?", [runs[220]!]),
  );
  for (const [part, n] of [
    ['started', 3],
    ['approved', 120],
    ['started', 201],
  ] as const) {
    await execute("UPDATE audit_runs SET person_kind = 'system'");
    await expectFault(() =>
      execute('DELETE FROM audit_runs WHERE run_id = ? AND part = ?', [runs[n]!, part]),
    );
    await execute("INSERT INTO audit_runs VALUES (?, ?, 'system', NULL)", [runs[n]!, part]);
  }
});

test('verification accepts incomplete records of imports before the first seal', async () => {
  await execute('DELETE FROM audit_seals');
  const run = await aRun(app);
  await seal(sealTimeAfter(1));
  const old = uuidv7({ msecs: Date.now() - 400 * DAY });
  await execute("INSERT INTO audit_runs VALUES (?, 'started', 'system', NULL)", [old]);
  await execute('DELETE FROM audit_runs WHERE run_id = ?', [run]);
  expect(await verify()).toMatchObject({ fault: null, bad: [] });
});
