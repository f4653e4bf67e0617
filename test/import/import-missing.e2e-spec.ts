import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { UserDirectory } from '../../src/users/directory/user-directory.service.js';
import { TestApp } from '../support/app/app.js';
import { counted, csv, imported, linked, rowsOf } from '../support/app/imports.js';
import { PASSWORD } from '../support/app/people.js';
import { RARE, seedUsers } from '../support/app/seed.js';

/** Users that a data set manages and that are not in its file. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());

const HEAD = 'ExternalId,Username,Email';
const person = (id: string) => `${id},${id},${id}@example.org`;
const status = async (id: string) => (await linked(app.key, id)).status;

test.each([
  ['keep', { reported: 0, blocked: 0 }, 'Active', []],
  ['report', { reported: 1, blocked: 0 }, 'Active', ['missing']],
  ['block', { reported: 1, blocked: 1 }, 'Blocked', ['missing']],
])('missing=%s', async (missing, numbers, after, listed) => {
  const dataset = `dataset=${missing}`;
  const [a, b] = [`${missing}-a`, `${missing}-b`];
  await imported(app.key, csv(HEAD, person(a), person(b)), dataset);
  const run = await imported(app.key, csv(HEAD, person(a)), `${dataset}&missing=${missing}`);
  // Half of the file is missing: the guard for shrunken files may park the run, which another test covers.
  const settled = run.state === 'needs_approval' ? await approved(run.id) : run;
  expect([settled.state, counted(settled), settled.missing]).toEqual([
    'completed',
    { unchanged: 1 },
    numbers,
  ]);
  expect([await status(a), await status(b)]).toEqual(['Active', after]);
  expect((await rowsOf(app.key, run.id)).map((row) => [row.line, row.outcome, row.external_id])).toEqual(
    listed.map((outcome) => [null, outcome, b]),
  );
});

async function approved(id: string) {
  await app.key.post(`/imports/${id}/apply`);
  await app.key.get(`/imports/${id}/events`);
  return (await app.key.get(`/imports/${id}`)).body;
}

test('a missing user is blocked, loses the session, and is active again with the next file', async () => {
  const head = `${HEAD},Status`;
  const rows = Array.from({ length: 9 }, (_, i) => `${person(`l-${i}`)},Active`);
  await imported(app.key, csv(head, ...rows), 'dataset=l');
  const leaver = await linked(app.key, 'l-0');
  await app.key.put(`/users/${leaver.uuid}`, { password: PASSWORD });
  const session = await app.login('l-0', PASSWORD);
  const gone = await imported(app.key, csv(head, ...rows.slice(1)), 'dataset=l&missing=block');
  expect([gone.state, gone.missing]).toEqual(['completed', { reported: 1, blocked: 1 }]);
  expect((await session.get('/users/me')).status).toBe(401);
  expect((await app.key.get('/users/search?managed_by=l')).body.Count).toBe(8);
  const again = await imported(app.key, csv(head, ...rows.slice(1)), 'dataset=l&missing=block');
  expect([again.missing, counted(again)]).toEqual([{ reported: 0, blocked: 0 }, { unchanged: 8 }]);
  const back = await imported(app.key, csv(head, ...rows), 'dataset=l&missing=block');
  expect(counted(back)).toEqual({ reactivated: 1, unchanged: 8 });
});

test('a user who is blocked already is not missing', async () => {
  const rows = Array.from({ length: 6 }, (_, i) => person(`s-${i}`));
  await imported(app.key, csv(HEAD, ...rows), 'dataset=s');
  const { uuid } = await linked(app.key, 's-0');
  await app.key.put(`/users/${uuid as string}`, { status: 'Blocked' });
  const run = await imported(app.key, csv(HEAD, ...rows.slice(1)), 'dataset=s&missing=block');
  expect([run.state, run.missing]).toEqual(['completed', { reported: 0, blocked: 0 }]);
  expect((await app.key.get('/users/search?managed_by=s')).body.Count).toBe(6);
});

test('users in the file who could not be missing hide nobody who is missing', async () => {
  const options = 'dataset=hidden&allow_privileged=true';
  const [blocked, master, other] = ['h-blocked', 'h-master', 'h-other'];
  await imported(app.key, csv(HEAD, person('h-gone'), person('h-twice')), options);
  const rows = [`${person(blocked)},Blocked,`, `${person(master)},,Webmaster`, `${person(other)},,`];
  await imported(app.key, csv(`${HEAD},Status,Roles`, ...rows.slice(0, 2)), options);
  await imported(app.key, csv(`${HEAD},Status,Roles`, rows[2] ?? ''), 'dataset=another');
  const names = [blocked, master, other, 'h-twice', 'h-twice'];
  const run = await imported(app.key, csv(HEAD, ...names.map(person)), `${options}&missing=report`);
  expect(run.missing).toEqual({ reported: 1, blocked: 0 });
});

test('only the data set itself is in scope, and never a Webmaster', async () => {
  await imported(app.key, csv(HEAD, person('o-1')), 'dataset=other');
  await imported(
    app.key,
    csv(`${HEAD},Roles`, `${person('o-2')},Webmaster`, `${person('o-3')},`),
    'dataset=own&allow_privileged=true',
  );
  const run = await imported(app.key, csv(HEAD, person('o-3')), 'dataset=own&missing=report');
  expect(run.missing).toEqual({ reported: 0, blocked: 0 });
  expect([await status('o-1'), await status('o-2')]).toEqual(['Active', 'Active']);
});

test('a user created over the API is managed once a file has it, without a visible change', async () => {
  const created = await app.key.post('/users', {
    username: 'api',
    email: 'api@example.org',
    external_id: 'api',
  });
  const before = (await app.key.get(`/users/${created.body.uuid}`)).body;
  const run = await imported(app.key, csv(HEAD, person('api')), 'dataset=claims');
  expect(counted(run)).toEqual({ unchanged: 1 });
  expect((await app.key.get(`/users/${created.body.uuid}`)).body).toEqual(before);
  expect((await app.key.get('/users/search?managed_by=claims')).body.Count).toBe(1);
});

test('the users of a data set are counted, however many there are', async () => {
  await seedUsers(app, 0, 4500);
  expect(await app.app.get(UserDirectory).countManaged('default')).toEqual(new Map([['', 4500 - RARE]]));
});
