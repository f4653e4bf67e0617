import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DropFolder } from '../../src/import/schedule/drop-folder.js';
import { API_KEY, TestApp } from '../support/app/app.js';
import { ALL_BUT_DATE, hurry } from '../support/app/clock.js';
import { Client, type Json } from '../support/app/client.js';
import { type TestDatabase, freshDatabase } from '../support/app/database.js';
import { Dropped, firstStart as firstStartOf } from '../support/app/drop-folder.js';
import { csv, linked } from '../support/app/imports.js';
import { databaseOf, inSeconds } from '../support/app/people.js';
import { Process, newcomer } from '../support/process/process.js';

hurry();

/** Files in a drop folder, at the times of a schedule. */
let database: TestDatabase;
let folder: string;
let dropped: Dropped;
let apps: TestApp[] = [];
jest.setTimeout(60_000);
beforeEach(async () => {
  database = await freshDatabase();
  folder = join(database.folder, 'drop');
  dropped = new Dropped(folder);
  apps = [];
});
afterEach(async () => {
  for (const app of apps) await app.stop();
  await Process.killAll();
  await database.drop();
});

const start = async (settings: Record<string, string> = {}) => {
  const app = await TestApp.on(database, { IMPORT_FOLDER: folder, IMPORT_CRON: '0 0 1 1 *', ...settings });
  apps.push(app);
  return app;
};
const person = (id: string) => `${id},${id},${id}@example.org`;
const drop = (name: string, ...lines: string[]) => {
  dropped.file(name, ...lines);
};
const mark = (name: string) => {
  dropped.mark(name);
};
const names = (part: string) => dropped.names(part);
const until = (done: () => boolean) => dropped.until(done);
const firstStart = () => firstStartOf(database, { IMPORT_FOLDER: folder, IMPORT_CRON: '0 0 1 1 *' });

test('a missed tick is caught up once: good files end in done, bad ones in failed, with the id of their run', async () => {
  await firstStart();
  drop('a.csv', person('a'));
  drop('b.csv', 'b,,');
  writeFileSync(join(folder, 'c.csv'), 'Nonsense\n1\n');
  drop('d.txt', person('d'));
  ['a.csv', 'b.csv', 'c.csv', 'd.txt'].forEach(mark);
  const app = await start({ IMPORT_OPTIONS: 'dataset=hr&missing=report' });
  await until(() => names('done').length + names('failed').length === 3);
  const { Results: runs } = (await app.key.get('/imports')).body as { Results: Json[] };
  const idOf = (name: string) => runs.find((run) => run.file.name === name).id as string;
  expect(names('done')).toEqual([`a.${idOf('a.csv')}.csv`, `b.${idOf('b.csv')}.csv`]);
  expect(names('failed')).toEqual([`c.${idOf('c.csv')}.csv`]);
  expect(names('processing')).toEqual([]);
  expect(names('')).toEqual(['d.txt', 'd.txt.done', 'done', 'failed', 'processing']);
  expect(runs[0]).toMatchObject({
    options: { dataset: 'hr', missing: 'report' },
    actor: { kind: 'system', id: null },
  });
  expect((await linked(app.key, 'a')).username).toBe('a');
  drop('e.csv', person('e'));
  mark('e.csv');
  await app.stop();
  const next = await start();
  expect(names('')).toContain('e.csv');
  expect((await next.key.get('/imports')).body.Count).toBe(3);
});

test('a file without a marker is taken when it has not changed for ten seconds', async () => {
  await firstStart();
  drop('a.csv', person('a'));
  utimesSync(join(folder, 'a.csv'), 0, 0);
  const began = Date.now();
  await start();
  await until(() => names('done').length === 1);
  expect(Date.now() - began).toBeGreaterThan(9_000);
});

test('a marker next to a file means that it is complete, whatever its times say', async () => {
  await firstStart();
  drop('a.csv', person('a'));
  mark('a.csv');
  const ahead = Date.now() / 1000 + 3600;
  utimesSync(join(folder, 'a.csv'), ahead, ahead); // never unchanged for ten seconds
  await start();
  await until(() => names('done').length === 1);
  expect(names('')).not.toContain('a.csv.done');
});

test('between two ticks nothing is taken', async () => {
  await start();
  drop('a.csv', person('a'));
  mark('a.csv');
  const next = await start();
  await next.stop(); // waits for the turn that every start begins with
  apps.pop();
  expect(names('')).toContain('a.csv');
});

test('a tick noted by a clock that was days ahead does not silence the schedule', async () => {
  const app = await start({ IMPORT_CRON: '* * * * *' });
  await app.stop();
  const later = await TestApp.on(database);
  await databaseOf(later).execute("UPDATE leases SET until = ? WHERE name = 'schedule.tick'", [
    inSeconds(2 * 24 * 3600),
  ]);
  await later.stop();
  drop('a.csv', person('a'));
  mark('a.csv');
  const clock = jest.useFakeTimers({ now: Date.now(), doNotFake: ALL_BUT_DATE });
  try {
    const set = await start({ IMPORT_CRON: '* * * * *' });
    await set.stop(); // waits for the turn that every start begins with
    apps.pop();
    expect(names('')).toContain('a.csv'); // a clock that was corrected is no tick
    clock.setSystemTime(Date.now() + 61_000);
    await start({ IMPORT_CRON: '* * * * *' });
    await until(() => names('done').length === 1);
  } finally {
    jest.useRealTimers();
  }
});

test('a tick whose sweep fails is still due', async () => {
  await firstStart();
  drop('a.csv', person('a'));
  mark('a.csv');
  jest.spyOn(DropFolder.prototype, 'waiting').mockImplementationOnce(() => {
    throw new Error('the folder is away');
  });
  await start();
  await until(() => names('done').length === 1);
});

test('a file that a killed instance had claimed is imported', async () => {
  await firstStart();
  const id = '01a1fc00-0000-7000-8000-00000000dead';
  drop(join('processing', `${id}~late.csv`), person('late'));
  const app = await start();
  await until(() => names('done').length === 1);
  expect(names('done')).toEqual([`late.${id}.csv`]);
  expect((await linked(app.key, 'late')).username).toBe('late');
});

test('several instances import each file once', async () => {
  await firstStart();
  const files = Array.from({ length: 6 }, (_, i) => `${i}.csv`);
  files.forEach((name, i) => {
    drop(name, person(`s${i}`));
    mark(name);
  });
  const settings = {
    ...newcomer(database),
    DATABASE_URL: database.url,
    BOOTSTRAP_API_KEY: API_KEY,
    IMPORT_FOLDER: folder,
    IMPORT_CRON: '0 0 1 1 *',
  };
  const [service] = await Promise.all([Process.running(settings), Process.running(settings)]);
  await until(() => names('done').length + names('failed').length === files.length);
  expect(names('failed')).toEqual([]);
  const client = new Client(service.url, { 'x-api-key': API_KEY });
  const { Count, Results } = (await client.get('/imports?limit=100')).body;
  expect([Count, Results.map((run: Json) => run.file.name).sort()]).toEqual([files.length, files]);
  expect(Results.every((run: Json) => run.counts.created === 1)).toBe(true);
});

test('imports that are overdue show in the status', async () => {
  const app = await start({ IMPORT_OVERDUE_HOURS: '24' });
  expect((await app.nobody.get('/status')).body.import_overdue).toBe(true);
  await app.key.send('POST', '/imports', csv('ExternalId,Username,Email', person('x')), {
    'content-type': 'text/csv',
  });
  const [run] = (await app.key.get('/imports')).body.Results;
  await app.key.get(`/imports/${run.id}/events`);
  expect((await app.nobody.get('/status')).body.import_overdue).toBe(false);
  await databaseOf(app).execute('UPDATE import_runs SET finished = ?', [inSeconds(-25 * 3600)]);
  expect((await app.nobody.get('/status')).body.import_overdue).toBe(true);
});

test.each([
  'allow_privileged=true',
  'dry_run=true',
  'mode=sideways',
  'dataset=scim',
  'shoe_size=43',
  'default_roles=Nonesuch',
  'mode=upsert&mode=create_only',
])('a schedule with the option %s does not start', async (options) => {
  const started = TestApp.on(database, { IMPORT_FOLDER: folder, IMPORT_OPTIONS: options });
  await expect(started).rejects.toThrow(`IMPORT_OPTIONS: ${options.split('=')[0]}`);
});

test('a service whose schedule does not start ends with 1, and says why', async () => {
  const service = new Process('dist/main.js', {
    ...newcomer(database),
    IMPORT_FOLDER: folder,
    IMPORT_OPTIONS: 'mode=sideways',
  });
  expect((await service.exit).code).toBe(1);
  expect(service.err).toContain('IMPORT_OPTIONS: mode');
});
