import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_KEY, setUpApp } from '../support/app/app.js';
import { csv, findUser, writeFile } from '../support/app/imports.js';
import { runCommand } from '../support/process/command.js';
import { ROOT } from '../support/process/process.js';

/** Profiles and previews on the command line. */
const app = setUpApp();

const rollcall = (...args: string[]) => runCommand(app.database, args);
const edit = (editor: string, ...args: string[]) =>
  runCommand(app.database, ['profiles', 'edit', ...args], { EDITOR: editor });

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
  expect(run.code).toBe(0);
  expect(JSON.parse(run.out)).toMatchObject({ profile: 'payroll', options: { dataset: 'pay' } });
  expect((await findUser(app.key, 'c1')).email).toBe('c1@example.org');

  const misspelt = 'columns.M must be an import column or ignore; did you mean Email?';
  for (const [text, message] of [
    ['{', 'is not JSON'],
    ['{"columns": {"Nr": "ExternalID", "M": "Emial"}}', misspelt],
  ]) {
    const bad = await rollcall('import', file, '--profile', writeFile(app.database, 'bad.json', text ?? ''));
    expect([bad.code === 0, bad.err]).toEqual([false, expect.stringContaining(message ?? '')]);
  }
});

test.each([
  ['the database', []],
  ['a service', ['--url', '--key', API_KEY]],
])('rollcall profiles suggests, saves, edits, shows and checks a profile of %s', async (_, target) => {
  const to = target.flatMap((each) => (each === '--url' ? [each, app.url] : [each]));
  const name = `hr${to.length}`;
  const rows = ['Liste', 'Nr;Vorname;Nachname;Mail', '1;Ann;Ray;a@example.org'];
  const file = writeFile(app.database, 'hr-2026.csv', csv(...rows));
  const suggested = join(app.database.folder, `${name}.json`);
  const shown = await rollcall('import', file, '--suggest', suggested, ...to);
  expect(shown.code).toBe(2);
  expect(shown.out).toMatch(/skip_lines +1\n.*{Vorname:ascii:lower}.{Nachname:ascii:lower:unique} +ann.ray/s);
  expect(await rollcall('profiles', 'check', file, '--profile', suggested, ...to)).toMatchObject({ code: 0 });
  const saved = await rollcall('profiles', 'edit', name, '--file', suggested, ...to);
  expect(saved).toMatchObject({ code: 0, out: `Saved the profile ${name}.\n` });
  expect(await edit("sed -i 's/hr-\\*/staff-*/'", name, ...to)).toMatchObject({ code: 0 });
  expect(await edit('true', name, ...to)).toMatchObject({ code: 0, out: '' });
  const wrong = await edit("sed -i 's/ForeName/Forname/'", name, ...to);
  expect(wrong.code).toBe(2);
  expect(wrong.err).toMatch(
    /did you mean ForeName\?.* are in (.*json)\. Correct this file, and save it with --file \1\.\n/s,
  );
  const without = await edit('', name, ...to);
  expect([without.code, without.err]).toEqual([2, expect.stringContaining('Set VISUAL or EDITOR')]);
  const { out } = await rollcall('profiles', 'show', name, ...to);
  expect(JSON.parse(out)).toEqual({ ...JSON.parse(readFileSync(suggested, 'utf8')), pattern: 'staff-*.csv' });
  const list = (await rollcall('profiles', 'list', ...to)).out;
  expect(list).toMatch(new RegExp(`^${name} .* hr +staff-\\*\\.csv$`, 'm'));
  expect(await rollcall('profiles', 'check', file, '--profile', name, ...to)).toMatchObject({ code: 0 });
});
