import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { aKey } from '../support/app/credentials.js';
import { csv, decide, guardOf, readRun, runImport } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';
import { people } from '../support/data/user-file.js';

/** Guard limits that a profile sets. */
const app = setUpApp();

const COLUMNS = { Nr: 'ExternalId', Login: 'Username', Mail: 'Email', Tel: 'Phone' };
const save = (name: string, guards: object | undefined) =>
  app.key.put(`/import_profiles/${name}`, { dataset: name, columns: COLUMNS, ...(guards && { guards }) });
const file = (name: string, phone: (i: number) => string) =>
  csv('Nr,Login,Mail,Tel', ...people(name, 10, (i) => [phone(i)]));
const firstFile = (name: string) => file(name, (i) => `1${i}`);
/** Returns a file that changes seven of ten phones. The default limit is three. */
const changedFile = (name: string) => file(name, (i) => (i < 7 ? `2${i}` : `1${i}`));

test('guard limits of an import profile override the service settings', async () => {
  for (const name of ['usual', 'lax', 'strict']) {
    await save(name, undefined);
    await runImport(app.key, firstFile(name), `profile=${name}`);
  }
  await save('lax', { changed_field: { rows: 7 } });
  await save('strict', { changed_field: { rows: 6, percent: 60 } });
  const runs = [];
  for (const name of ['usual', 'lax', 'strict'])
    runs.push(await runImport(app.key, changedFile(name), `profile=${name}`));
  expect(runs.map(({ state }) => state)).toEqual(['needs_approval', 'completed', 'needs_approval']);
  expect(runs.map((run) => guardOf(run, 'changed_field').limit)).toEqual([3, 7, 6]);
  const limits = [{ changed_field: { rows: 7 } }, { changed_field: { rows: 6, percent: 60 } }];
  expect(runs.map((run) => run.guard_limits)).toEqual([null, ...limits]);
});

test('the preset of an import profile replaces the preset of the service', async () => {
  await save('preset', { preset: 'strict', errors: { rows: 9 } });
  const buildFile = (changed: number) => file('preset', (i) => `0113 496 ${i < changed ? 2 : 1}00${i}`);
  const send = (changed: number) => runImport(app.key, buildFile(changed), 'profile=preset');
  await send(0);
  const run = await send(3);
  expect([run.state, guardOf(run, 'changed_field').hit]).toEqual(['needs_approval', true]);
  expect(guardOf(run, 'errors').limit).toBe(9);
  await save('preset', { preset: 'normal' });
  expect((await send(3)).state).toBe('completed');
});

test('a new word that only * matches needs approval once', async () => {
  await app.key.put('/import_profiles/words', {
    dataset: 'words',
    columns: { ...COLUMNS, State: 'Status' },
    values: { State: { a: 'Active', '*': 'Active' } },
  });
  const send = async (...words: string[]) => {
    const rows = people('words', 10, (i) => ['', words[i] ?? 'a']);
    return runImport(app.key, csv('Nr,Login,Mail,Tel,State', ...rows), 'profile=words');
  };
  expect((await send('b', 'b', 'b', 'b')).state).toBe('completed'); // the first file
  expect((await send('b', 'b', 'b', 'b', 'b')).state).toBe('completed');
  const few = await send('c', 'c', 'd');
  expect([few.state, guardOf(few, 'unknown_word').value]).toEqual(['completed', 3]);
  const run = await send('e', 'e', 'e', 'f', 'c');
  expect(run.state).toBe('needs_approval');
  expect(guardOf(run, 'unknown_word')).toMatchObject({ value: 4, limit: 3, hit: true });
  expect(guardOf(run, 'unknown_word').hint).toContain('"e" in State (3 rows), "f" in State (1 rows)');
  const { client: reader } = await aKey(app, 'imports:read'); // without users:read
  const masked = guardOf(await readRun(reader, run.id), 'unknown_word');
  expect(masked.hint).toMatch(/^The file contains words/);
  expect((await decide(app.key, run.id, 'apply')).state).toBe('completed');
  expect((await send('e', 'e', 'e', 'f', 'f', 'f')).state).toBe('completed');
});

test('the audit shows the guard limits of a profile', async () => {
  await save('shown', { errors: { rows: 1 } });
  await save('shown', { errors: { rows: 900 } });
  const [row] = await databaseOf(app).query<{ changes: string; actor_kind: string }>(
    "SELECT changes, actor_kind FROM audit_events WHERE action = 'import_profile.saved' ORDER BY id DESC LIMIT 1",
  );
  expect([JSON.parse(row?.changes ?? ''), row?.actor_kind]).toEqual([
    [
      { field: 'name', new: 'shown' },
      { field: 'guards', old: { errors: { rows: 1 } }, new: { errors: { rows: 900 } } },
    ],
    'key',
  ]);
});
