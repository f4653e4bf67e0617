import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { awaitRun, codesOf, csv, decide, expectRun, findUser, runImport } from '../support/app/imports.js';
import { HEAD, people, person } from '../support/data/user-file.js';
import { databaseOf } from '../support/app/people.js';

/** Runs whose stored file is missing, for example because an operator has deleted its rows. */
const app = setUpApp();

const COLUMNS = `${HEAD},AboutMe`;
const deleteParts = (id: string, part = '') =>
  databaseOf(app).execute(`DELETE FROM import_file_parts WHERE run_id = ?${part}`, [id]);

test.each([
  ['its file', ''],
  ['the end of its file', ' AND part = 1'],
  ['the beginning of its file', ' AND part = 0'],
])('an applied dry run fails without %s', async (_, part) => {
  const rows = people('l', 80, () => ['x'.repeat(9000)]);
  const planned = await runImport(app.key, csv(COLUMNS, ...rows), 'dry_run=true&dataset=lost');
  await deleteParts(planned.id, part);
  const run = await decide(app.key, planned.id, 'apply');
  expect(run).toMatchObject({ state: 'failed', problems: [{ code: 'file_lost' }] });
  expect((await app.key.get('/users/search?managed_by=lost')).body.Count).toBe(0);
});

test('failed.csv returns 410 if the file of the import was lost', async () => {
  await runImport(app.key, csv(COLUMNS, person('m1', '1'), person('m2', '1')), 'dataset=m');
  const change = csv(COLUMNS, person('m1', '2'), person('m2', '2'));
  const { id } = await runImport(app.key, change, 'dry_run=true&dataset=m');
  await app.key.put(`/users/${(await findUser(app.key, 'm1')).uuid}`, { about_me: '3' });
  await deleteParts(id);
  // The state that a killed instance leaves.
  await databaseOf(app).execute("UPDATE import_runs SET state = 'applying' WHERE id = ?", [id]);
  const run = await awaitRun(app.key, id);
  expectRun(run, 'completed_with_errors', { updated: 1, error: 1 });
  expect(codesOf(run)).toEqual(['file_lost', 'precondition_failed']);
  expect((await findUser(app.key, 'm1')).about_me).toBe('3');
  const answer = await app.key.get(`/imports/${id}/failed.csv`);
  expect([answer.status, answer.body.code]).toEqual([410, 'file_lost']);
  expect(answer.headers['content-type']).toContain('application/problem+json');
});
