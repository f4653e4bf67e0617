import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { type TestDatabase, freshDatabase } from '../support/app/database.js';
import { Dropped, firstStart } from '../support/app/drop-folder.js';
import { csv, linked } from '../support/app/imports.js';

/** The profile of a file in the drop folder is that whose pattern its name has. */
let database: TestDatabase;
let dropped: Dropped;
let apps: TestApp[] = [];
jest.setTimeout(60_000);
beforeEach(async () => {
  database = await freshDatabase();
  dropped = new Dropped(join(database.folder, 'drop'));
  apps = [];
});
afterEach(async () => {
  for (const app of apps) await app.stop();
  await database.drop();
});

const settings = () => ({ IMPORT_FOLDER: dropped.folder, IMPORT_CRON: '0 0 1 1 *' });
const start = async (more: Record<string, string> = {}) => {
  const app = await TestApp.on(database, { ...settings(), ...more });
  apps.push(app);
  return app;
};
const drop = (name: string, ...lines: string[]) => {
  writeFileSync(join(dropped.folder, name), csv(...lines));
  dropped.mark(name);
};
const COLUMNS = { Nr: 'ExternalId', Login: 'Username', Mail: 'Email' };

test('by the longest pattern, before the settings of the schedule, and else by IMPORT_OPTIONS', async () => {
  const before = await TestApp.on(database);
  const save = (name: string, profile: object) => before.key.put(`/import_profiles/${name}`, profile);
  await save('any-hr', {
    dataset: 'any',
    columns: { ...COLUMNS, Nr: 'Phone', Id: 'ExternalId' },
    pattern: 'hr*',
  });
  await save('hr', { dataset: 'hr', missing: 'report', columns: COLUMNS, pattern: 'HR-????.csv' });
  await save('others', { dataset: 'rest', columns: { Key: 'ExternalId', Login: 'Username', Mail: 'Email' } });
  await save('careless', { dry_run: true, columns: COLUMNS });
  await before.stop();
  await firstStart(database, settings());
  drop('hr-2026.csv', 'Nr,Login,Mail', 'h1,h1,h1@example.org');
  drop('sales.csv', 'Key,Login,Mail', 's1,s1,s1@example.org');
  const app = await start({ IMPORT_OPTIONS: 'profile=others&missing=block&dataset=default' });
  await dropped.until(() => dropped.names('done').length === 2);
  const runs = (await app.key.get('/imports')).body.Results as Json[];
  const shown = runs.map(({ file, profile, options }) => [
    file.name,
    profile,
    options.dataset,
    options.missing,
  ]);
  expect(shown.sort()).toEqual([
    ['hr-2026.csv', 'hr', 'hr', 'report'],
    ['sales.csv', 'others', 'default', 'block'],
  ]);
  expect([(await linked(app.key, 'h1')).username, (await linked(app.key, 's1')).username]).toEqual([
    'h1',
    's1',
  ]);
});

test('a profile that is gone, or is not for schedules, holds up nothing', async () => {
  const before = await TestApp.on(database);
  await before.key.put('/import_profiles/careless', { dry_run: true, columns: COLUMNS });
  await before.key.put('/import_profiles/good', { columns: COLUMNS, pattern: 'z*' });
  await before.stop();
  await firstStart(database, settings());
  drop('a.csv', 'Nr,Login,Mail', 'a1,a1,a1@example.org');
  drop('z.csv', 'Nr,Login,Mail', 'z1,z1,z1@example.org');
  const app = await start({ IMPORT_OPTIONS: 'profile=careless' });
  await dropped.until(() => dropped.names('done').length + dropped.names('failed').length === 2);
  expect([dropped.names('failed').length, (await app.key.get('/imports')).body.Count]).toEqual([1, 1]);
  expect((await linked(app.key, 'z1')).username).toBe('z1');
});
