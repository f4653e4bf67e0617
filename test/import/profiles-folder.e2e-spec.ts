import { expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScheduleFixture } from '../support/app/drop-folder.js';
import { csv, findUser } from '../support/app/imports.js';

/** A file in the drop folder uses the profile whose pattern matches its name. */
const scheduled = new ScheduleFixture();
const COLUMNS = { Nr: 'ExternalId', Login: 'Username', Mail: 'Email' };
const save = (name: string, profile: object) => scheduled.app.key.put(`/import_profiles/${name}`, profile);
const dropFile = (name: string, ...lines: string[]) => {
  writeFileSync(join(scheduled.drop.folder, name), csv(...lines));
  scheduled.drop.markDone(name);
};
test('a dropped file uses the profile with the longest matching pattern', async () => {
  const columns = { ...COLUMNS, Nr: 'Phone', Id: 'ExternalId' };
  await save('any-hr', { dataset: 'any', columns, pattern: 'hr*' });
  await save('hr', { dataset: 'hr', missing: 'report', columns: COLUMNS, pattern: 'HR-????.csv' });
  await save('others', { dataset: 'rest', columns: { Key: 'ExternalId', Login: 'Username', Mail: 'Email' } });
  dropFile('hr-2026.csv', 'Nr,Login,Mail', 'h1,h1,h1@example.org');
  dropFile('sales.csv', 'Key,Login,Mail', 's1,s1,s1@example.org');
  await scheduled.start({ IMPORT_OPTIONS: 'profile=others&missing=block&dataset=default' });
  await scheduled.waitForFiles(2);
  const runs = (await scheduled.listRuns()).sort((a, b) => (a.file.name < b.file.name ? -1 : 1));
  expect(runs).toMatchObject([
    { file: { name: 'hr-2026.csv' }, profile: 'hr', options: { dataset: 'hr', missing: 'report' } },
    { file: { name: 'sales.csv' }, profile: 'others', options: { dataset: 'default', missing: 'block' } },
  ]);
  for (const id of ['h1', 's1']) expect((await findUser(scheduled.app.key, id)).username).toBe(id);
});

test('a dropped file fails if its profile sets dry_run', async () => {
  await save('careless', { dry_run: true, columns: COLUMNS });
  await save('good', { columns: COLUMNS, pattern: 'z*' });
  dropFile('a.csv', 'Nr,Login,Mail', 'a1,a1,a1@example.org');
  dropFile('z.csv', 'Nr,Login,Mail', 'z1,z1,z1@example.org');
  await scheduled.start({ IMPORT_OPTIONS: 'profile=careless' });
  await scheduled.waitForFiles(1, 1);
  expect(scheduled.drop.list('failed')).toEqual([expect.stringMatching(/^a\..*\.csv$/)]);
  expect(await findUser(scheduled.app.key, 'a1')).toBeUndefined();
  expect((await findUser(scheduled.app.key, 'z1')).username).toBe('z1');
});
