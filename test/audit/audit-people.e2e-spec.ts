import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { AuditService } from '../../src/audit/audit.service.js';
import { TransactionRunner } from '../../src/database/transaction-runner.js';
import { TestApp } from '../support/app/app.js';
import { ENGINE } from '../support/app/database.js';
import { csv, imported, settled } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';
import { DAY, HOUR, SealedAudit, afterHours, inForms } from '../support/app/sealed-audit.js';

/** What the table of the people behind imports says otherwise than the events is found. */
let app: TestApp;
beforeEach(async () => void (app = await TestApp.start()));
afterEach(() => app.end());
const { seal, verify, execute, insert, isFound } = new SealedAudit(() => app);

const OTHER = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10';
const RUNS = { run_id: OTHER, part: 'other', person_kind: 'user', person_id: OTHER };
const names = (columns: object) => Object.keys(columns);

describe('who is behind imports', () => {
  const caller = { actor: { kind: 'system', id: null }, requestId: 'r', ip: '' } as const;
  beforeEach(async () => {
    await insert(Date.now() - 3 * HOUR);
    await seal(Date.now());
  });
  async function decided(): Promise<string> {
    const run = uuidv7();
    const audit = app.app.get(AuditService);
    await app.app.get(TransactionRunner).run(async (tx) => {
      await audit.startRun(tx, caller, run, []);
      await audit.approveRun(tx, caller, run);
    });
    return run;
  }
  const COLUMNS = names(RUNS).flatMap((column) =>
    ['started', 'approved'].map((part) => [column, part] as const),
  );
  test.each(COLUMNS)('another %s of who %s it', async (column, part) => {
    const run = await decided();
    const value = RUNS[column as keyof typeof RUNS];
    await isFound(() =>
      execute(`UPDATE audit_runs SET ${column} = ? WHERE run_id = ? AND part = ?`, [value, run, part]),
    );
  });
  test.each(['started', 'approved'])('who %s it, taken out', async (part) => {
    const run = await decided();
    await isFound(() => execute('DELETE FROM audit_runs WHERE run_id = ? AND part = ?', [run, part]));
  });
  test('of an import that nobody started', async () => {
    await decided();
    await isFound(() =>
      execute("INSERT INTO audit_runs VALUES (?, 'approved', 'user', ?)", [uuidv7(), OTHER]),
    );
  });
  test('fits after imports that were planned, applied and reverted', async () => {
    const file = csv('ExternalId,Username,Email', 'A1,one,one@example.org');
    const plan = await imported(app.key, file, 'dry_run=true');
    for (const word of ['apply', 'revert']) {
      const { status, body } = await app.key.post(`/imports/${plan.id}/${word}`);
      expect(status).toBe(202);
      expect((await settled(app.key, body.id as string)).state).toBe('completed');
    }
    const rows = await databaseOf(app).query('SELECT part FROM audit_runs ORDER BY part');
    expect(rows).toEqual([{ part: 'approved' }, { part: 'started' }, { part: 'started' }]);
    expect(await verify()).toMatchObject({ fault: null, bad: [] });
    await isFound(() => execute("UPDATE audit_runs SET person_kind = 'user' WHERE part = 'approved'"));
  });
  test('of many imports', async () => {
    const runs: string[] = [];
    for (let n = 0; n < 250; n++) runs.push(await decided());
    await isFound(() => execute("UPDATE audit_runs SET person_kind = 'key' WHERE run_id = ?", [runs[220]!]));
    for (const [part, n] of [
      ['started', 3],
      ['approved', 120],
      ['started', 201],
    ] as const) {
      await execute("UPDATE audit_runs SET person_kind = 'system'");
      await isFound(() => execute('DELETE FROM audit_runs WHERE run_id = ? AND part = ?', [runs[n]!, part]));
      await execute("INSERT INTO audit_runs VALUES (?, ?, 'system', NULL)", [runs[n]!, part]);
    }
  });
  test('of before the first seal may lack its event, and an event of then its person', async () => {
    await execute('DELETE FROM audit_seals');
    const run = await decided();
    await seal(afterHours(1));
    const old = uuidv7({ msecs: Date.now() - 400 * DAY });
    await execute("INSERT INTO audit_runs VALUES (?, 'started', 'system', NULL)", [old]);
    await execute('DELETE FROM audit_runs WHERE run_id = ?', [run]);
    expect(await verify()).toMatchObject({ fault: null, bad: [] });
  });
  test.each([
    ['another part', 'other', uuidv7({ msecs: 1 })],
    ['an id that the service does not make', 'started', '00000000-0000-4000-8000-000000000000'],
    ['no id', 'approved', '0'],
  ])('of before the first seal, with %s', async (_, part, run) => {
    await isFound(() => execute("INSERT INTO audit_runs VALUES (?, ?, 'system', NULL)", [run, part]));
  });
  if (ENGINE === 'sqlite') {
    test('bytes beside it', async () => {
      const run = await decided();
      await isFound(() =>
        execute(`INSERT INTO audit_runs VALUES (CAST('${run}' AS BLOB), 'started', 'system', NULL)`),
      );
    });
    test.each(inForms(names(RUNS)))('%s as %s', async (column, form) => {
      const run = await decided();
      const value = form.replace('{}', `COALESCE(${column}, 'x')`);
      await isFound(() => execute(`UPDATE audit_runs SET ${column} = ${value} WHERE run_id = ?`, [run]));
    });
  }
});
