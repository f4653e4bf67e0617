import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { LAX_GUARDS } from '../support/app/guards.js';
import type { Json } from '../support/app/client.js';
import {
  awaitRun,
  codesOf,
  countsOf,
  csv,
  decide,
  expectRun,
  findUser,
  guardOf,
  rowsOf,
  runImport,
} from '../support/app/imports.js';
import { aKey } from '../support/app/credentials.js';
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

const revert = ({ id }: Json) => decide(app.key, id, 'revert');
async function deleteInBulk(uuid: string): Promise<Json> {
  const body = { uuids: [uuid], change: { delete: true }, reason: 'Left' };
  return awaitRun(app.key, (await app.key.post('/imports', body)).body.id);
}
const deleteByKey = (uuid: string) => app.key.delete(`/users/${uuid}`);
const restore = (uuid: string) => app.key.post(`/users/${uuid}/restore`);

let created = 0;
/** Builds the file of a new user. @returns the file with a surname, and the file with another spelling of its ExternalId. */
function createFiles() {
  const name = `gone${++created}`;
  const build = (externalId: string, surname = 'Gone') =>
    file([`${externalId},${name},${name}@example.org,${surname}`]);
  return { id: `Zo\u00eb-${name}`, name, build, again: build(`Zoe\u0308-${name}`, 'Again') };
}

type Deletion = (uuid: string, run: Json) => Promise<unknown>;
test.each<[outcome: string, deleter: string, remove: Deletion, creator?: string]>([
  ['skipped', 'an operator', async (uuid) => (await app.login()).delete(`/users/${uuid}`)],
  ['skipped', 'an API key', deleteByKey],
  ['skipped', 'SCIM', (uuid) => scimOf(app).delete(`/Users/${uuid}`)],
  ['skipped', 'a bulk change', deleteInBulk],
  [
    'skipped',
    'the revert of the revert of a bulk change',
    async (uuid) => revert(await revert(await deleteInBulk(uuid))),
  ],
  ['skipped', 'a revert of another data set', (_, run) => revert(run), 'payroll'],
  ['created', 'a revert of the data set', (_, run) => revert(run)],
  ['created', 'a third revert of the data set', async (_, run) => revert(await revert(await revert(run)))],
  [
    'skipped',
    'an API key, after a revert and a restore,',
    async (uuid, run) => {
      await revert(run);
      await restore(uuid);
      await deleteByKey(uuid);
    },
  ],
])('a row is %s if %s deleted its user', async (outcome, _, remove, creator = 'staff') => {
  const { id, name, build, again } = createFiles();
  const first = await runImport(app.key, build(id), `dataset=${creator}`);
  const { uuid } = await findUser(app.key, id);
  await remove(uuid, first);
  expect(await findUser(app.key, id)).toBeUndefined();
  const plan = await runImport(app.key, again, 'dataset=staff&dry_run=true');
  const run = await runImport(app.key, again, 'dataset=staff');
  expect([plan, run].map(countsOf)).toEqual([{ [outcome]: 1 }, { [outcome]: 1 }]);
  if (outcome === 'created') return;
  const message = expect.stringMatching(`${name} \\(Gone, ${uuid}\\).*rollcall users restore ${uuid}`);
  const reason = {
    field: 'external_id',
    code: 'deleted_elsewhere',
    uuid,
    value: `Zoe\u0308-${name}`,
    message,
  };
  expect([run.state, run.problems]).toEqual(['completed', [expect.objectContaining({ line: 2, ...reason })]]);
  expect(await rowsOf(app.key, run.id)).toMatchObject([{ outcome: 'skipped', errors: [reason] }]);
  await restore(uuid);
  expect(countsOf(await runImport(app.key, again, 'dataset=staff'))).toEqual({ updated: 1 });
  expect(await findUser(app.key, id)).toMatchObject({ uuid, surname: 'Again' });
});

/** Imports a new user into the data set `staff` and deletes the user. */
async function deleteNewUser() {
  const files = createFiles();
  await runImport(app.key, files.build(files.id), 'dataset=staff');
  const { uuid } = await findUser(app.key, files.id);
  await deleteByKey(uuid);
  return { ...files, uuid: uuid as string };
}

test('a row changes the active user who has the ExternalId of a deleted user', async () => {
  const { id, name, again } = await deleteNewUser();
  await app.key.post('/users', { external_id: id, username: name, email: `${name}@example.org` });
  expect(countsOf(await runImport(app.key, again, 'dataset=staff'))).toEqual({ updated: 1 });
});

test.each(['restored', 'deleted'])('a plan is void if its user is %s before the approval', async (how) => {
  const { uuid, again } = await deleteNewUser();
  if (how === 'deleted') await restore(uuid);
  const plan = await runImport(app.key, again, 'dataset=staff&dry_run=true');
  await (how === 'deleted' ? deleteByKey(uuid) : restore(uuid));
  const { state, problems } = await decide(app.key, plan.id, 'apply');
  expect([state, problems[0].code]).toEqual(['superseded', 'plan_changed']);
});

test('the ExternalId of a deleted user can neither adopt a user nor name a manager', async () => {
  const { id, name } = await deleteNewUser();
  await app.key.post('/users', { username: name, email: `${name}@example.org` });
  const rows = [`${id},${name},${name}@example.org,`, `${person(`report-${name}`)},${id}`];
  const table = csv(`${HEAD},Manager`, ...rows);
  const send = (options: string) => runImport(app.key, table, `dataset=staff&${options}`);
  const run = await send('adopt=email');
  expect(codesOf(run)).toEqual(['deleted_elsewhere', 'unknown_reference']);
  const preview = await app.key.send('POST', '/imports/preview?dataset=staff', table, {
    'content-type': 'text/csv',
  });
  expect([preview.body.rows[0].outcome, codesOf(preview.body)]).toEqual(['skipped', ['deleted_elsewhere']]);
  expect(countsOf(await send('adopt_rows=2'))).toEqual({ updated: 1, created: 1 });
});

test.each([
  ['is not in the file', 'ExternalId', undefined],
  ['is in the file', 'ExternalId', 3],
  ['is in the file, which names managers by their usernames', 'Username', 3],
])('the error of a row names its deleted manager, who %s', async (_, manager_key, line) => {
  const { id, name, uuid } = await deleteNewUser();
  const columns = Object.fromEntries([...HEAD.split(','), 'Manager'].map((column) => [column, column]));
  await app.key.put(`/import_profiles/${name}`, { dataset: 'staff', columns, manager_key });
  const report = person(`left-${name}`, manager_key === 'Username' ? name : id);
  const manager = line === undefined ? [] : [`${id},${name},${name}@example.org,`];
  const run = await runImport(app.key, csv(`${HEAD},Manager`, report, ...manager), `profile=${name}`);
  const [{ depends_on_line: on, ...error }] = (await rowsOf(app.key, run.id, 'outcome=error'))[0].errors;
  const message = expect.stringContaining(`the deleted user ${name} (Gone, ${uuid}). To restore the user, `);
  expect([on, error]).toEqual([line, expect.objectContaining({ code: 'unknown_reference', uuid, message })]);
  const { client } = await aKey(app, 'imports:read');
  expect(JSON.stringify(await rowsOf(client, run.id, 'outcome=error'))).not.toContain(name);
});
