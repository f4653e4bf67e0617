import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { LAX_GUARDS } from '../support/app/guards.js';
import { countsOf, csv, decide, expectRun, guardOf, runImport, findUser } from '../support/app/imports.js';
import { databaseOf, inSeconds } from '../support/app/people.js';
import { scimOf } from '../support/app/scim.js';
import { HEAD, people as peopleOf, person } from '../support/data/user-file.js';

/** Users who are missing from a file and return in a later file (interface §6, "Leavers and returners"). */
const app = setUpApp(LAX_GUARDS);

const COLUMNS = `${HEAD},Surname`;
const people = (dataset: string, count = 60) => peopleOf(`${dataset}-`, count, (i) => [`Name${i}`]);
const file = (rows: readonly string[]) => csv(COLUMNS, ...rows);
const statusOf = async (id: string) => (await findUser(app.key, id)).status;
const problemsOf = (run: { problems: { code: string; line: number | null }[] }) =>
  run.problems.map(({ code, line }) => `${code} ${line}`);

/** Imports a data set whose first two users are then blocked as missing. @returns all its rows. */
async function blockTwo(dataset: string): Promise<string[]> {
  const rows = people(dataset);
  await runImport(app.key, file(rows), `dataset=${dataset}`);
  const later = await runImport(app.key, file(rows.slice(2)), `dataset=${dataset}&missing=block`);
  expect([later.state, later.missing]).toEqual(['completed', { reported: 2, blocked: 2 }]);
  return rows;
}

test('an import reactivates and updates a user blocked as missing', async () => {
  const rows = await blockTwo('back');
  const married = file([person('back-0', 'Married'), ...rows.slice(1)]);
  const back = await runImport(app.key, married, 'dataset=back&missing=block');
  expectRun(back, 'completed', { reactivated: 2, unchanged: 58 });
  expect(back.problems).toEqual([]);
  expect(await findUser(app.key, 'back-0')).toMatchObject({ status: 'Active', surname: 'Married' });
  expect(await statusOf('back-1')).toBe('Active');
  const again = await runImport(app.key, married, 'dataset=back&missing=block');
  expect([countsOf(again), again.missing]).toEqual([{ unchanged: 60 }, { reported: 0, blocked: 0 }]);
});

test('an import with returning=report leaves returning users blocked', async () => {
  const run = await runImport(app.key, file(await blockTwo('noted')), 'dataset=noted&returning=report');
  expect([run.state, countsOf(run)]).toEqual(['completed', { unchanged: 60 }]);
  expect(problemsOf(run)).toEqual(['returned 2', 'returned 3']);
  expect(await statusOf('noted-0')).toBe('Blocked');
});

test.each([
  ['and then by hand stays blocked', ['Active', 'Blocked'], 'blocked_elsewhere 2'],
  ['and saved as Blocked is reactivated', ['Blocked'], undefined],
])('a user blocked as missing %s', async (how, statuses, warned) => {
  const dataset = how.includes('saved') ? 'saved' : 'twice';
  const rows = await blockTwo(dataset);
  const { uuid } = await findUser(app.key, `${dataset}-0`);
  for (const status of statuses) await app.key.put(`/users/${uuid as string}`, { status });
  const run = await runImport(app.key, file(rows), `dataset=${dataset}`);
  expect(problemsOf(run)).toEqual(warned === undefined ? [] : [warned]);
  expect(await statusOf(`${dataset}-0`)).toBe(warned === undefined ? 'Active' : 'Blocked');
});

test('an import with too many users who return after two weeks waits for approval', async () => {
  const rows = people('many', 40);
  await runImport(app.key, file(rows), 'dataset=many');
  const sendShort = async () => runImport(app.key, file(rows.slice(4)), 'dataset=many&missing=block');
  expect((await sendShort()).state).toBe('completed');
  expect(countsOf(await runImport(app.key, file(rows), 'dataset=many'))).toMatchObject({ reactivated: 4 });
  expect((await sendShort()).state).toBe('completed');
  const twoWeeksAgo = [inSeconds(-15 * 24 * 3600)];
  await databaseOf(app).execute("UPDATE users SET updated = ? WHERE external_id LIKE 'many-%'", twoWeeksAgo);
  const back = await runImport(app.key, file(rows), 'dataset=many');
  expect(back.state).toBe('needs_approval');
  expect(guardOf(back, 'reactivations')).toMatchObject({ value: 4, hit: true });
  expect(await statusOf('many-0')).toBe('Blocked');
});

/** Builds a file with a Status column. @param states the first cells of the column. All other cells are blank. */
const statusFile = (rows: readonly string[], ...states: string[]) =>
  csv(`${COLUMNS},Status`, ...rows.map((row, i) => `${row},${states[i] ?? ''}`));

test('only the status Active reactivates a user who returned as Blocked', async () => {
  const rows = await blockTwo('decided');
  const run = await runImport(app.key, statusFile(rows, 'Blocked'), 'dataset=decided');
  expect([run.state, countsOf(run)]).toEqual(['completed', { updated: 1, reactivated: 1, unchanged: 58 }]);
  for (const night of [statusFile(rows, 'Blocked'), file(rows), statusFile(rows)]) {
    const same = await runImport(app.key, night, 'dataset=decided');
    expect([countsOf(same), same.problems]).toEqual([{ unchanged: 60 }, []]);
  }
  const active = await runImport(app.key, statusFile(rows, 'Active'), 'dataset=decided');
  expect(countsOf(active)).toEqual({ reactivated: 1, unchanged: 59 });
});

test('only the status Active of the same data set reactivates a user whom a file blocked by Status', async () => {
  const rows = people('own', 4);
  const [external_id, username, email] = (rows[1] ?? '').split(',');
  await app.key.post('/users', { external_id, username, email, firstname: 'A', surname: 'Name1' });
  await runImport(app.key, statusFile(rows, 'Blocked', 'Blocked'), 'dataset=own');
  const same = await runImport(app.key, file(rows), 'dataset=own');
  expect([countsOf(same), same.problems]).toEqual([{ unchanged: 4 }, []]);
  const other = await runImport(app.key, statusFile(rows, 'Active', 'Active'), 'dataset=payroll');
  expect(problemsOf(other)).toEqual(['blocked_elsewhere 2', 'blocked_elsewhere 3']);
  const back = await runImport(app.key, statusFile(rows, 'Active', 'Active'), 'dataset=own');
  expect([countsOf(back), back.problems]).toEqual([{ reactivated: 2, unchanged: 2 }, []]);
});

test.each(['hand', 'data set'])('no file lifts a block by another %s', async (kind) => {
  const dataset = `foreign-${kind.slice(0, 4)}`;
  const rows = people(dataset, 3);
  await runImport(app.key, file(rows), `dataset=${dataset}`);
  const { uuid } = await findUser(app.key, `${dataset}-0`);
  if (kind === 'hand') await app.key.put(`/users/${uuid as string}`, { status: 'Blocked' });
  else await runImport(app.key, statusFile(rows.slice(0, 1), 'Blocked'), 'dataset=payroll');
  // The data set also calls the user Blocked, but does not take over the block.
  const blocked = await runImport(app.key, statusFile(rows, 'Blocked'), `dataset=${dataset}`);
  expect([countsOf(blocked), blocked.problems]).toEqual([{ unchanged: 3 }, []]);
  const later = await runImport(app.key, file(rows), `dataset=${dataset}`);
  expect(problemsOf(later)).toEqual(['blocked_elsewhere 2']);
  const married = rows.with(0, person(`${dataset}-0`, 'Married'));
  const active = await runImport(app.key, statusFile(married, 'Active'), `dataset=${dataset}`);
  expect([countsOf(active), problemsOf(active)]).toEqual([{ updated: 1, unchanged: 2 }, problemsOf(later)]);
  expect(await findUser(app.key, `${dataset}-0`)).toMatchObject({ status: 'Blocked', surname: 'Married' });
});

test('nights with returning=report, and updates by another source, keep a block as missing', async () => {
  const rows = await blockTwo('nights');
  const changed = rows.map((row) => `${row}2`);
  await runImport(app.key, file(rows), 'dataset=nights&returning=report');
  await runImport(app.key, file(changed), 'dataset=nights&returning=report');
  const other = await runImport(app.key, file(rows.slice(0, 1)), 'dataset=payroll');
  expect(problemsOf(other)).toEqual(['blocked_elsewhere 2']);
  const { uuid } = await findUser(app.key, 'nights-1');
  await scimOf(app).patch(`/Users/${uuid as string}`, { op: 'replace', path: 'nickName', value: 'Ann' });
  const back = await runImport(app.key, file(changed), 'dataset=nights');
  expect([countsOf(back), back.problems]).toEqual([{ reactivated: 2, unchanged: 58 }, []]);
});

test('a user whom a revert blocked stays blocked', async () => {
  const rows = people('undone', 3);
  const { id } = await runImport(app.key, statusFile(rows, 'Blocked'), 'dataset=undone');
  const phones = csv('ExternalId,Phone', ...rows.map((row) => `${row.split(',')[0] ?? ''},1`));
  await runImport(app.key, phones, 'dataset=undone');
  await decide(app.key, id, 'revert');
  const run = await runImport(app.key, file(rows), 'dataset=undone');
  expect(problemsOf(run)).toEqual([2, 3, 4].map((line) => `blocked_elsewhere ${line}`));
});

test.each(['reactivate', 'report'])(
  'mode=create_only with returning=%s reports and skips returning users',
  async (returning) => {
    const dataset = `only-${returning}`;
    const rows = await blockTwo(dataset);
    const { uuid } = await findUser(app.key, `${dataset}-9`);
    await app.key.put(`/users/${uuid as string}`, { status: 'Blocked' });
    const query = `dataset=${dataset}&mode=create_only&returning=${returning}`;
    const run = await runImport(app.key, file(rows), query);
    expect([run.state, countsOf(run)]).toEqual(['completed', { skipped: 60 }]);
    expect(problemsOf(run)).toEqual(['returned 2', 'returned 3', 'blocked_elsewhere 11']);
  },
);
