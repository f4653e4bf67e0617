import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { Sealer } from '../../src/audit/sealer.service.js';
import { TestApp } from '../support/app/app.js';
import { create } from '../support/data/factories.js';
import { databaseOf } from '../support/app/people.js';
import { runCommand } from '../support/process/command.js';
import { Process } from '../support/process/process.js';
import { HOUR, sealTimeAfter } from '../support/app/sealed-audit.js';

let app: TestApp;
beforeEach(async () => void (app = await TestApp.start()));
afterEach(async () => {
  await Process.killAll();
  await app.database.drop();
});

/** Runs `rollcall audit` on the database. */
const runAudit = (...args: string[]) => runCommand(app.database, ['audit', ...args]);

test('audit verify exits with 1 if an event was changed', async () => {
  const user = await create(app.key);
  await app.app.get(Sealer).sealEndedHours(sealTimeAfter(1));
  const good = await runAudit('verify');
  expect(good).toMatchObject({ code: 0, err: '' });
  expect(good.out).toMatch(
    /^OK {3}\d+ events match their seals \(\d+ seals\)\.\n {5}0 events are not sealed yet\.\n/,
  );
  const [, seal = '', number = ''] =
    /Newest seal: ((\d+):[0-9a-f]{64}), created .* without a key/.exec(good.out) ?? [];
  expect((await runAudit('verify', '--expect', seal)).code).toBe(0);
  const other = await runAudit('verify', '--expect', `${number}:${'0'.repeat(64)}`);
  expect([other.code, other.out]).toEqual([1, expect.stringContaining('the chain of seals was rebuilt')]);

  await databaseOf(app).execute("UPDATE audit_events SET ip = '192.0.2.1' WHERE target_id = ?", [user.uuid]);
  const bad = await runAudit('verify');
  expect(bad.code).toBe(1);
  const [, changed] =
    /^BAD {2}seal (\d+) \(events of .* to .* UTC\): events were changed/.exec(bad.out) ?? [];
  const json = await runAudit('verify', '--json');
  expect([json.code, String(JSON.parse(json.out).fault.seal)]).toEqual([1, changed]);
  expect((await runAudit('verify', '--expect', 'x')).code).toBe(2);
  await app.stop();
});

test('audit verify reports an audit without seals, and an audit that was emptied', async () => {
  const database = databaseOf(app);
  const young = await runAudit('verify');
  expect(young.code).toBe(0);
  expect(young.out).toMatch(/^NONE No event is sealed yet.*\n +[1-9]/);
  await database.execute('DELETE FROM audit_events');
  await create(app.key);
  await database.execute('UPDATE api_keys SET id = ?', [uuidv7({ msecs: Date.now() - HOUR })]);
  await app.app.get(Sealer).sealEndedHours(sealTimeAfter(1));
  const emptied = await runAudit('verify');
  expect([emptied.code, emptied.out]).toEqual([1, expect.stringMatching(/^BAD .*no event is that old/)]);
  await app.stop();
});
