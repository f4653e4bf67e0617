import { expect, test } from '@jest/globals';
import { join } from 'node:path';
import { setUpApp } from '../support/app/app.js';
import { csv, findUser, writeFile } from '../support/app/imports.js';
import { runCommand } from '../support/process/command.js';
import { ROOT } from '../support/process/process.js';

/** Profiles and previews on the command line. */
const app = setUpApp();

const rollcall = (...args: string[]) => runCommand(app.database, args);

test('rollcall import --profile accepts a built-in profile or a JSON file', async () => {
  const moodle = join(ROOT, 'samples/exports/moodle.csv');
  const preview = await rollcall('import', moodle, '--preview', '--profile', 'moodle');
  expect(preview.out).toContain('No problems found.');
  expect(preview).toMatchObject({ code: 0, err: '' });
  const ready = await rollcall('import', moodle, '--profile', 'moodle', '--json');
  expect(JSON.parse(ready.out)).toMatchObject({ profile: 'moodle', counts: { created: 5 } });

  const file = writeFile(app.database, 'people.csv', csv('Nr;Mail', 'c1;C1@example.org'));
  const good = { columns: { Nr: 'ExternalId' }, set: { Username: '{Nr}', Email: '{Mail:lower}' } };
  const profile = writeFile(app.database, 'payroll.json', JSON.stringify(good));
  const shown = await rollcall('import', file, '--preview', '--json');
  expect([shown.code, JSON.parse(shown.out).columns[1].suggestion]).toEqual([2, 'Email']);
  const run = await rollcall('import', file, '--profile', profile, '--dataset', 'pay', '--json');
  expect([run.code, JSON.parse(run.out)]).toEqual([
    0,
    expect.objectContaining({ profile: 'payroll', options: expect.objectContaining({ dataset: 'pay' }) }),
  ]);
  expect((await findUser(app.key, 'c1')).email).toBe('c1@example.org');

  for (const [text, message] of [
    ['{', 'is not JSON'],
    [
      '{"columns": {"Nr": "ExternalID", "M": "Emial"}}',
      'columns.M must be an import column or ignore; did you mean Email?',
    ],
  ]) {
    const bad = await rollcall('import', file, '--profile', writeFile(app.database, 'bad.json', text ?? ''));
    expect([bad.code === 0, bad.err]).toEqual([false, expect.stringContaining(message ?? '')]);
  }
});
