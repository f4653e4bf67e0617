import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { csv, runImport } from '../support/app/imports.js';
import { databaseOf } from '../support/app/people.js';

/** Guard limits that a profile sets. */
const app = setUpApp();

const COLUMNS = { Nr: 'ExternalId', Login: 'Username', Mail: 'Email', Tel: 'Phone' };
const save = (name: string, guards: object | undefined) =>
  app.key.put(`/import_profiles/${name}`, { dataset: name, columns: COLUMNS, ...(guards && { guards }) });
const file = (name: string, phone: (i: number) => string) =>
  csv(
    'Nr,Login,Mail,Tel',
    ...Array.from({ length: 10 }, (_, i) => `${name}${i},${name}${i},${name}${i}@example.org,${phone(i)}`),
  );
const guardOf = (run: Json, name: string) =>
  (run.guards as { name: string; limit: number; hit: boolean; hint: string }[]).find(
    (guard) => guard.name === name,
  );
/** Returns a file that changes seven of ten phones. The default limit is two. */
const changedFile = (name: string) => file(name, (i) => (i < 7 ? `2${i}` : `1${i}`));

test('guard limits of an import profile override the service settings', async () => {
  for (const name of ['usual', 'lax', 'strict']) {
    await save(name, undefined);
    await runImport(
      app.key,
      file(name, (i) => `1${i}`),
      `profile=${name}`,
    );
  }
  await save('lax', { changed_field: { rows: 7 } });
  await save('strict', { changed_field: { rows: 6, percent: 60 } });
  const runs = [];
  for (const name of ['usual', 'lax', 'strict'])
    runs.push(await runImport(app.key, changedFile(name), `profile=${name}`));
  const [usual, lax, strict] = runs;
  expect(runs.map(({ state }) => state)).toEqual(['needs_approval', 'completed', 'needs_approval']);
  expect(runs.map((run) => guardOf(run, 'changed_field')?.limit)).toEqual([2, 7, 6]);
  expect(runs.map((run) => run.guard_limits)).toEqual([
    null,
    { changed_field: { rows: 7 } },
    { changed_field: { rows: 6, percent: 60 } },
  ]);
  expect(guardOf(usual ?? {}, 'changed_field')?.hint).not.toContain('profile');
  expect(guardOf(lax ?? {}, 'changed_field')?.hint).toMatch(/ The profile lax sets the limit\.$/);
  expect(guardOf(strict ?? {}, 'changed_field')?.hint).toMatch(/ The profile strict sets the limit\.$/);
  expect(guardOf(strict ?? {}, 'errors')?.hint).not.toContain('profile');
});

test('previews and the audit show the guard limits of a profile', async () => {
  await save('shown', { errors: { rows: 1 } });
  const send = async (query: string) =>
    (await app.key.send('POST', `/imports/preview?${query}`, 'Nr\r\nx\r\n', { 'content-type': 'text/csv' }))
      .body;
  expect((await send('profile=shown')).guard_limits).toEqual({ errors: { rows: 1 } });
  expect((await send('ignore_unknown_columns=true')).guard_limits).toBeNull();
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
