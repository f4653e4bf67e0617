import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { aroundApply } from '../support/app/around-apply.js';
import type { Json } from '../support/app/client.js';
import { LAX_GUARDS } from '../support/app/guards.js';
import {
  countsOf,
  csv,
  expectRun,
  guardOf,
  readFailed,
  runImport,
  findUser,
  rowsOf,
  awaitRun,
} from '../support/app/imports.js';
import { UserRecords } from '../../src/users/search/user-records.service.js';
import { create } from '../support/data/factories.js';
import { HEAD, people, person } from '../support/data/user-file.js';

/** Reverts, which undo a run in a new run. */
const app = setUpApp({ ...LAX_GUARDS, FUSE_MIN: '0' });

const managerOf = (user: Json): string | null => user.manager_uuid;
const COLUMNS = `${HEAD},Phone,Authname,Status,Manager`;
async function revert(id: string) {
  const answer = await app.key.post(`/imports/${id}/revert`);
  expect([answer.status, answer.body.reverts]).toEqual([202, id]);
  expect(answer.headers['location']).toBe(`/api/0.3/imports/${answer.body.id}`);
  return awaitRun(app.key, answer.body.id);
}

test('an import revert deletes new users and restores old values', async () => {
  const first = [
    'a,a,a@example.org,1,one|two,Active,',
    'b,b,b@example.org,1,,Active,a',
    'c,c,c@example.org,1,,Blocked,',
    'd,d,d@example.org,1,,Active,',
  ];
  await runImport(app.key, csv(COLUMNS, ...first));
  const before = await Promise.all(['a', 'b', 'c', 'd'].map((id) => findUser(app.key, id)));
  const second = [
    'a,b,a@example.org,2,three,Active,',
    'b,a,b2@example.org,2,,Blocked,',
    'c,c,c@example.org,1,,Active,d',
    'd,d,d@example.org,2,,Active,',
    'e,e,e@example.org,1,,Active,',
  ];
  const run = await runImport(app.key, csv(COLUMNS, ...second));
  expect(countsOf(run)).toEqual({ created: 1, updated: 2, blocked: 1, reactivated: 1 });
  await app.key.put(`/users/${before[3].uuid}`, { phone: '3' });
  const undone = await revert(run.id);
  const counts = { updated: 1, blocked: 1, reactivated: 1, deleted: 1, error: 1 };
  expectRun(undone, 'completed_with_errors', counts);
  const after = await Promise.all(['a', 'b', 'c', 'd'].map((id) => findUser(app.key, id)));
  const values = (user: object) => ({ ...user, updated: '' });
  expect(after.slice(0, 3).map(values)).toEqual(before.slice(0, 3).map(values));
  expect([after[3].phone, await findUser(app.key, 'e')]).toEqual(['3', undefined]);
  expect((await app.key.post(`/imports/${run.id}/revert`)).body.code).toBe('wrong_state');
});

test('an import revert skips only values that have changed since', async () => {
  await runImport(app.key, csv(`${HEAD},Phone,Mobile`, person('f', '1', '1')), 'dataset=f');
  const run = await runImport(app.key, csv('ExternalId,Phone,Mobile', 'f,2,2'), 'dataset=f');
  await app.key.put(`/users/${(await findUser(app.key, 'f')).uuid}`, { mobile: '3' });
  const undone = await revert(run.id);
  const [row] = await rowsOf(app.key, undone.id);
  const conflict = {
    field: 'mobile',
    code: 'changed_since',
    message:
      'has changed since the import and is not reverted. Set the earlier value manually if it is right',
    value: '1',
  };
  const changes = [{ field: 'phone', old: '2', new: '1' }];
  expect([row.outcome, row.changes, row.errors]).toEqual(['error', changes, [conflict]]);
  expect(await findUser(app.key, 'f')).toMatchObject({ phone: '1', mobile: '3' });
  expectRun(undone, 'completed_with_errors', { error: 1 });
  expect(undone.problems).toEqual([{ line: 1, external_id: 'f', name: 'f', ...conflict }]);
  expect(await readFailed(app.key, undone.id)).toBe(
    '\ufeffExternalId,_uuid,_field,_value,_line,_code,_message\r\n' +
      `f,${(await findUser(app.key, 'f')).uuid},mobile,1,1,changed_since,${conflict.message}\r\n`,
  );
  const again = await revert(undone.id);
  expect([again.state, countsOf(again)]).toEqual(['completed', { updated: 1 }]);
  expect(await findUser(app.key, 'f')).toMatchObject({ phone: '2', mobile: '3' });
});

test('an import revert reactivates users who were blocked as missing', async () => {
  const rows = people('h-', 9);
  await runImport(app.key, csv(HEAD, ...rows), 'dataset=h');
  const run = await runImport(app.key, csv(HEAD, ...rows.slice(1)), 'dataset=h&missing=block');
  expect((await findUser(app.key, 'h-0')).status).toBe('Blocked');
  expect(countsOf(await revert(run.id))).toEqual({ reactivated: 1 });
  expect((await app.key.get('/users/search?managed_by=h&status=Active')).body.Count).toBe(9);
});

test.each([
  ['an import dry run', 'dry_run=true', 'x1,x1,x1@example.org'],
  ['an import that changed nothing', '', 'a,,'],
])('%s cannot be reverted', async (_, options, row) => {
  const run = await runImport(app.key, csv(HEAD, row), options);
  const { status, body } = await app.key.post(`/imports/${run.id}/revert`);
  expect([status, body.code]).toEqual([409, 'wrong_state']);
});

test('an import revert deletes only unused new users, and its own revert restores them', async () => {
  const file = (managerOfBoss: string, ...rows: string[]) =>
    csv(`${HEAD},Manager`, person('boss', managerOfBoss), ...rows);
  const older = ['aide,aide,old@example.org,', 'guest,guest,older@example.org,'];
  await runImport(app.key, file('aide', ...older), 'dataset=new');
  // An older user reports to the first new user. Each other new user reports to the previous new user.
  const chain = people('n', 60, (i) => [i > 0 ? `n${i - 1}` : '']);
  chain.push(person('aide', ''), person('guest', ''));
  const hired = await runImport(app.key, file('n0', ...chain), 'dataset=new');
  expect(countsOf(hired)).toEqual({ created: 60, updated: 3 });
  await runImport(app.key, file('n0', ...chain), 'dataset=new'); // changes no user
  const read = () =>
    Promise.all(['n23', 'n59', 'n3', 'aide', 'guest', 'boss'].map((id) => findUser(app.key, id)));
  const [signedIn, changed, unused, aide, guest] = await read();
  await app.app.get(UserRecords).updateLastAccess(signedIn.uuid);
  await app.key.put(`/users/${changed.uuid}`, { phone: '1' });
  await app.key.put(`/users/${aide.uuid}`, { manager_uuid: unused.uuid });
  await app.key.put(`/users/${guest.uuid}`, { manager_uuid: unused.uuid, email: 'new@example.org' });
  const managers = (await read()).map(managerOf);
  const undone = await revert(hired.id);
  expect(countsOf(undone)).toEqual({ deleted: 58, updated: 2, error: 3 });
  const [blocked, , deleted, ...left] = await read();
  expect([blocked.status, deleted]).toEqual(['Blocked', undefined]);
  expect([blocked, ...left].map(managerOf)).toEqual([null, null, null, aide.uuid]);
  const messages = [
    /^The user has signed in \(last on 2.*Z\) since/,
    /^The user was changed \(last on 2.*Z\) since/,
  ];
  expect(await rowsOf(app.key, undone.id, 'outcome=error')).toMatchObject([
    ...messages.map((message) => ({
      errors: [{ field: '', code: 'changed_since', message: expect.stringMatching(message) }],
      changes: ['status', 'managed_by', 'manager_uuid'].map((field) => ({ field })),
    })),
    { errors: [{ field: 'email', code: 'changed_since' }], changes: [] },
  ]);

  const repeated = await runImport(app.key, file('n0', ...chain), 'dataset=new&dry_run=true');
  expect(guardOf(repeated, 'after_revert')).toMatchObject({ value: 59 });
  const back = await revert(undone.id);
  expectRun(back, 'completed', { restored: 58, updated: 3, reactivated: 2 });
  expect([back.problems, (await read()).map(managerOf)]).toEqual([[], managers]);
  expect(await findUser(app.key, 'n3')).toEqual({ ...unused, updated: expect.any(String) });
});

test('an import revert counts deleted new users as undone, and names the user who has a value now', async () => {
  await runImport(app.key, csv(HEAD, person('v0')));
  const run = await runImport(app.key, csv(HEAD, 'v0,v0new,v0@example.org', ...people('v', 4).slice(1)));
  const [, gone, late] = await Promise.all([0, 1, 2].map((i) => findUser(app.key, `v${i}`)));
  await app.key.delete(`/users/${gone.uuid}`);
  const { uuid, username } = await create(app.key, { username: 'v0' });
  aroundApply(app, () => app.key.delete(`/users/${late.uuid}`));
  const undone = await revert(run.id);
  expectRun(undone, 'completed_with_errors', { deleted: 1, unchanged: 2, error: 1 });
  const message = `belongs to user ${username} (${username}, ${uuid}), so this row is not reverted. Resolve the conflict, then undo the change manually`;
  const conflict = { field: 'username', code: 'changed_since', message, user: { username } };
  expect(undone.problems).toMatchObject([{ external_id: 'v0', ...conflict }]);
});
