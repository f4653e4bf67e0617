import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { appendFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { DropFolder } from '../../src/import/schedule/drop-folder.js';
import { Log } from '../../src/platform/telemetry/log.js';
import type { TestApp } from '../support/app/app.js';
import { ALL_BUT_DATE, stopClock } from '../support/app/clock.js';
import { type TestDropFolder, ScheduleFixture, recordTick } from '../support/app/drop-folder.js';
import { runImport, findUser } from '../support/app/imports.js';
import { databaseOf, inSeconds } from '../support/app/people.js';
import { fileOf } from '../support/data/user-file.js';
import { Process, envOf } from '../support/process/process.js';

/** Scheduled imports of files in a drop folder. */
const scheduled = new ScheduleFixture({ IMPORT_OVERDUE_HOURS: '24' });
let app: TestApp;
let drop: TestDropFolder;
beforeEach(() => void ({ app, drop } = scheduled));
afterEach(async () => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  await Process.killAll();
});

test('a missed tick runs the import schedule once', async () => {
  drop.addUser('a');
  drop.addFile('b.csv', 'b,,');
  drop.markDone('b.csv');
  writeFileSync(join(drop.folder, 'c.csv'), 'Nonsense\n1\n');
  drop.markDone('c.csv');
  drop.addFile('d.txt', 'd,d,d@example.org');
  drop.markDone('d.txt');
  const schedule = await scheduled.start({ IMPORT_OPTIONS: 'dataset=hr&missing=report' });
  await scheduled.waitForFiles(2, 1);
  const runs = await scheduled.listRuns();
  const idOf = (name: string) => runs.find((run) => run.file.name === name).id as string;
  expect(drop.list('done')).toEqual([`a.${idOf('a.csv')}.csv`, `b.${idOf('b.csv')}.csv`]);
  expect(drop.list('failed')).toEqual([`c.${idOf('c.csv')}.csv`]);
  expect(drop.list('processing')).toEqual([]);
  expect(drop.list()).toEqual(['d.txt', 'd.txt.done', 'done', 'failed', 'processing']);
  const actor = { kind: 'system', id: null };
  expect(runs[0]).toMatchObject({ options: { dataset: 'hr', missing: 'report' }, actor });
  expect((await findUser(app.key, 'a')).username).toBe('a');
  drop.addUser('e');
  await scheduled.stop(schedule);
  await scheduled.stop(await scheduled.start());
  expect(drop.list()).toContain('e.csv');
  expect(await scheduled.listRuns()).toHaveLength(3);
});

test('a new import schedule imports nothing before its first tick', async () => {
  await databaseOf(app).execute("DELETE FROM leases WHERE name = 'schedule.tick'");
  drop.addUser('first');
  await scheduled.stop(await scheduled.start());
  await scheduled.stop(await scheduled.start());
  expect(drop.list()).toContain('first.csv');
});

test('a file without a .done marker is imported if unchanged for ten seconds', async () => {
  drop.addFile('still.csv', 'still,still,still@example.org');
  utimesSync(join(drop.folder, 'still.csv'), 0, 0);
  const written = Date.now();
  const clock = stopClock();
  clock.setSystemTime(written + 9_000);
  await scheduled.stop(await scheduled.start());
  expect(drop.list()).toContain('still.csv');
  clock.setSystemTime(written + 11_000);
  await scheduled.start();
  await scheduled.waitForFiles(1);
});

test('a file dropped after a tick is imported at the next tick', async () => {
  const nextMinute = Math.ceil(Date.now() / 60_000) * 60_000;
  jest.useFakeTimers({ now: nextMinute - 1000, advanceTimers: true, doNotFake: ALL_BUT_DATE });
  await recordTick(app, 0);
  await scheduled.start({ IMPORT_CRON: '* * * * *' });
  drop.addUser('next');
  await scheduled.waitForFiles(1);
  expect(Date.now()).toBeGreaterThanOrEqual(nextMinute);
});

test('an import schedule ignores a last tick and a last run in the future', async () => {
  const { id } = await runImport(app.key, fileOf('x'));
  const ahead = uuidv7({ msecs: Date.now() + 2 * 24 * 3_600_000 });
  await databaseOf(app).execute('UPDATE import_runs SET id = ? WHERE id = ?', [ahead, id as string]);
  await recordTick(app, 2 * 24 * 3600);
  drop.addUser('ahead');
  const clock = stopClock();
  await scheduled.stop(await scheduled.start({ IMPORT_CRON: '* * * * *' }));
  expect(drop.list()).toContain('ahead.csv'); // a corrected clock does not count as a tick
  clock.setSystemTime(Date.now() + 61_000);
  await scheduled.start({ IMPORT_CRON: '* * * * *' });
  await scheduled.waitForFiles(1);
  expect((await scheduled.listRuns())[0].file.name).toBe('ahead.csv');
});

test('a dropped file that grows is imported only when complete', async () => {
  drop.addUser('begun');
  const read = Reflect.get(DropFolder.prototype, 'read');
  jest.spyOn(DropFolder.prototype, 'read').mockImplementationOnce(async function* (
    this: DropFolder,
    ...args
  ) {
    let first = true;
    for await (const chunk of read.apply(this, args)) {
      yield chunk;
      if (first) appendFileSync(join(drop.work, 'processing', args[0].entry), 'more,more,more@example.org\n');
      first = false;
    }
  });
  const clock = stopClock();
  const warnings = jest.spyOn(Log.prototype, 'warn').mockImplementation(() => {
    clock.setSystemTime(Date.now() + 11_000);
  });
  await scheduled.start();
  await scheduled.waitForFiles(1);
  expect(warnings.mock.calls).toEqual([
    [
      'file skipped',
      expect.objectContaining({ file: expect.stringMatching(/~begun\.csv$/), reason: 'still being written' }),
    ],
  ]);
  expect(await scheduled.listRuns()).toHaveLength(1);
  expect((await findUser(app.key, 'more')).username).toBe('more');
});

test('a file left in processing/ is imported at the next start', async () => {
  const id = '01a1fc00-0000-7000-8000-00000000dead';
  drop.addFile(join('processing', `${id}~late.csv`), 'late,late,late@example.org');
  await scheduled.start();
  await scheduled.waitForFiles(1);
  expect(drop.list('done')).toEqual([`late.${id}.csv`]);
  expect((await findUser(app.key, 'late')).username).toBe('late');
});

test('several instances with the same drop folder import each file once', async () => {
  const people = Array.from({ length: 6 }, (_, i) => `several-${i}`);
  for (const id of people) drop.addUser(id);
  await Promise.all([scheduled.start(), scheduled.start(), scheduled.start()]);
  await scheduled.waitForFiles(people.length);
  const runs = await scheduled.listRuns();
  expect(runs.map((run) => run.file.name).sort()).toEqual(people.map((id) => `${id}.csv`));
  expect(runs.every((run) => run.counts.created === 1)).toBe(true);
});

test('GET /status reports an overdue import', async () => {
  const isOverdue = async () => (await app.guest.get('/status')).body.import_overdue as boolean;
  expect(await isOverdue()).toBe(true);
  await runImport(app.key, fileOf('x'));
  expect(await isOverdue()).toBe(false);
  await databaseOf(app).execute('UPDATE import_runs SET finished = ?', [inSeconds(-25 * 3600)]);
  expect(await isOverdue()).toBe(true);
});

test('a part that has not arrived with the other parts of its data set is overdue', async () => {
  for (const part of ['north', 'south'])
    await runImport(app.key, fileOf(part), `dataset=offices&part=${part}`);
  const age = (where: string) =>
    databaseOf(app).execute(`UPDATE import_runs SET finished = ? WHERE ${where}`, [inSeconds(-25 * 3600)]);
  const read = async () => [
    (await app.guest.get('/status')).body.import_overdue,
    (await app.key.get('/statistics')).body.imports.missing_parts,
  ];
  expect(await read()).toEqual([false, undefined]);
  await age("part = 'south'");
  const missing = { dataset: 'offices', part: 'south', last_completed: expect.any(String) };
  expect(await read()).toEqual([true, [missing]]);
  await age("dataset = 'offices'");
  await runImport(app.key, fileOf('other'), 'dataset=other');
  expect(await read()).toEqual([false, undefined]);
});

test.each([
  'allow_privileged=true',
  'dry_run=true',
  'mode=sideways',
  'dataset=scim',
  'shoe_size=43',
  'default_roles=Nonesuch',
  'mode=upsert&mode=create_only',
])('an import schedule with IMPORT_OPTIONS=%s does not start', async (options) => {
  const started = scheduled.start({ IMPORT_OPTIONS: options });
  await expect(started).rejects.toThrow(`IMPORT_OPTIONS: ${options.split('=')[0]}`);
});

test('invalid IMPORT_OPTIONS end the service with code 1', async () => {
  const service = new Process('dist/main.js', {
    ...envOf(app.database),
    IMPORT_FOLDER: drop.folder,
    IMPORT_OPTIONS: 'mode=sideways',
  });
  expect((await service.exit).code).toBe(1);
  expect(service.err).toContain('IMPORT_OPTIONS: mode');
});
