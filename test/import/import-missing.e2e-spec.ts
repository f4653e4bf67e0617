import { expect, test } from '@jest/globals';
import { UserDirectory } from '../../src/users/search/user-directory.service.js';
import { setUpApp } from '../support/app/app.js';
import { countsOf, csv, runImport, findUser, rowsOf } from '../support/app/imports.js';
import { PASSWORD } from '../support/app/people.js';
import { RARE, seedUsers } from '../support/app/seed.js';
import { create } from '../support/data/factories.js';
import { HEAD, fileOf, people, person } from '../support/data/user-file.js';

/** Users of a data set who are missing from its file. */
const app = setUpApp();

const statusOf = async (id: string) => (await findUser(app.key, id)).status;

test.each([
  ['keep', 'Active', { reported: 0, blocked: 0 }, []],
  ['report', 'Active', { reported: 1, blocked: 0 }, ['missing']],
  ['block', 'Blocked', { reported: 1, blocked: 1 }, ['missing']],
])('after an import with missing=%s, missing users are %s', async (missing, after, counts, listed) => {
  const dataset = `dataset=${missing}`;
  const rows = people(`${missing}-`, 9);
  await runImport(app.key, csv(HEAD, ...rows), dataset);
  const run = await runImport(app.key, csv(HEAD, ...rows.slice(1)), `${dataset}&missing=${missing}`);
  expect([run.state, countsOf(run), run.missing]).toEqual(['completed', { unchanged: 8 }, counts]);
  const missingId = `${missing}-0`;
  expect(await statusOf(missingId)).toBe(after);
  expect(await statusOf(`${missing}-1`)).toBe('Active');
  expect((await rowsOf(app.key, run.id)).map((row) => [row.line, row.outcome, row.external_id])).toEqual(
    listed.map((outcome) => [null, outcome, missingId]),
  );
});

test('a user blocked as missing is logged out', async () => {
  const rows = people('l-', 9);
  await runImport(app.key, csv(HEAD, ...rows), 'dataset=l');
  await app.key.put(`/users/${(await findUser(app.key, 'l-0')).uuid}`, { password: PASSWORD });
  const session = await app.login('l-0', PASSWORD);
  await runImport(app.key, csv(HEAD, ...rows.slice(1)), 'dataset=l&missing=block');
  expect((await session.get('/users/me')).status).toBe(401);
  expect((await app.key.get('/users/search?managed_by=l')).body.Count).toBe(8);
  const again = await runImport(app.key, csv(HEAD, ...rows.slice(1)), 'dataset=l&missing=block');
  expect([again.missing, countsOf(again)]).toEqual([{ reported: 0, blocked: 0 }, { unchanged: 8 }]);
});

test('rows of out-of-scope users do not reduce the missing count', async () => {
  const options = 'dataset=hidden&allow_privileged=true';
  const [blocked, master, other] = ['h-blocked', 'h-master', 'h-other'];
  await runImport(app.key, csv(HEAD, person('h-gone'), person('h-twice')), options);
  const rows = [`${person(blocked)},Blocked,`, `${person(master)},,Webmaster`, `${person(other)},,`];
  await runImport(app.key, csv(`${HEAD},Status,Roles`, ...rows.slice(0, 2)), options);
  await runImport(app.key, csv(`${HEAD},Status,Roles`, rows[2] ?? ''), 'dataset=another');
  const names = [blocked, master, other, 'h-twice', 'h-twice'];
  const file = csv(HEAD, ...names.map((name) => person(name)));
  const run = await runImport(app.key, file, `${options}&missing=report`);
  expect(run.missing).toEqual({ reported: 1, blocked: 0 });
});

test('Webmasters and users of other data sets are never missing', async () => {
  await runImport(app.key, fileOf('o-1'), 'dataset=other');
  const roles = csv(`${HEAD},Roles`, person('o-2', 'Webmaster'), person('o-3', ''));
  await runImport(app.key, roles, 'dataset=own&allow_privileged=true');
  const run = await runImport(app.key, fileOf('o-3'), 'dataset=own&missing=report');
  expect(run.missing).toEqual({ reported: 0, blocked: 0 });
  expect(await statusOf('o-1')).toBe('Active');
  expect(await statusOf('o-2')).toBe('Active');
});

test('importing an API-created user sets the data set of the user', async () => {
  const user = await create(app.key, { username: 'api', email: 'api@example.org', external_id: 'api' });
  const before = (await app.key.get(`/users/${user.uuid as string}`)).body;
  expect(countsOf(await runImport(app.key, fileOf('api'), 'dataset=claims'))).toEqual({ unchanged: 1 });
  const after = (await app.key.get(`/users/${user.uuid as string}`)).body;
  expect(after).toEqual({ ...before, managed_by: 'claims' });
  expect((await app.key.get('/users/search?managed_by=claims')).body.Count).toBe(1);
});

test('UserDirectory.countManaged() counts all users of a large data set', async () => {
  await seedUsers(app, 0, 4500);
  expect(await app.app.get(UserDirectory).countByPart('default')).toEqual(new Map([['', 4500 - RARE]]));
});
