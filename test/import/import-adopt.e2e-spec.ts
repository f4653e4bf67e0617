import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { aKey } from '../support/app/credentials.js';
import { UNKNOWN, create } from '../support/data/factories.js';
import { countsOf, csv, readFailed, runImport, findUser, rowsOf, upload } from '../support/app/imports.js';

/** Files with the option `adopt`, which link existing users without an `external_id` to their rows. */
const app = setUpApp();

const HEAD = 'ExternalId,Username,Email,Manager';
/** Creates users without an `external_id`, named `<prefix>0` and so on. */
const createUnlinked = async (prefix: string, count: number) =>
  Promise.all(
    Array.from({ length: count }, async (_, i) =>
      create(app.key, { username: `${prefix}${i}`, email: `${prefix}${i}@example.org` }),
    ),
  );
const row = (prefix: string, i: number, manager: string) =>
  `${prefix}${i},${prefix}${i},${prefix}${i}@example.org,${manager}`;

test('with adopt=email, a manager can be in a later row', async () => {
  const users = await createUnlinked('a', 3);
  const file = csv(HEAD, row('a', 0, 'a1'), row('a', 1, 'a2'), row('a', 2, ''), row('a', 3, 'a0'));
  const run = await runImport(app.key, file, 'adopt=email');
  expect([run.problems, countsOf(run)]).toEqual([[], { created: 1, updated: 3 }]);
  const managers = await Promise.all(
    [0, 1, 2, 3].map(async (i) => (await findUser(app.key, `a${i}`)).manager_uuid),
  );
  expect(managers).toEqual([users[1]?.uuid, users[2]?.uuid, null, users[0]?.uuid]);
  expect(countsOf(await runImport(app.key, file, 'adopt=email'))).toEqual({ unchanged: 4 });
});

test('with adopt=email, a manager in an invalid row is reported as unknown', async () => {
  await createUnlinked('b', 3);
  const bad = row('b', 1, '').replace('b1,b1', `b1,${'x'.repeat(300)}`);
  const run = await runImport(app.key, csv(HEAD, row('b', 0, 'b1'), bad, row('b', 2, '')), 'adopt=email');
  expect(run.problems).toMatchObject([
    { line: 2, field: 'manager_uuid', code: 'unknown_reference' },
    { line: 3, field: 'username', code: 'too_long' },
  ]);
  expect(await findUser(app.key, 'b0')).toBeUndefined();
  expect((await findUser(app.key, 'b2')).username).toBe('b2');
});

test('with adopt=email, a row that creates a manager cycle fails', async () => {
  const [first, second] = await createUnlinked('c', 2);
  await app.key.put(`/users/${first?.uuid}`, { manager_uuid: second?.uuid });
  const file = csv('ExternalId,Email,Manager', 'c1,c1@example.org,c0', 'c0,c0@example.org,');
  const run = await runImport(app.key, file, 'adopt=email&blank_cells=keep');
  expect(run.problems).toMatchObject([{ line: 2, code: 'cycle' }]);
});

test('with adopt=email, a row of another person fails, and so does a row with that manager', async () => {
  const names = { firstname: 'Anna', surname: 'Bell' };
  const createAnna = async (id: string) =>
    create(app.key, { ...names, username: id, email: `${id}@example.org` });
  const users = await Promise.all(['n1', 'n2', 'n3', 'n4', 'n5'].map(createAnna));
  const line = (id: string, ...cells: string[]) => [id, id, `${id}@example.org`, ...cells].join(',');
  const file = csv(
    `${HEAD},ForeName,Surname`,
    line('n1', '', 'Bernd', 'Bell'),
    line('n2', '', 'Anna', 'Cook'),
    line('n3', 'n1', 'ANNA', 'Béll'),
    line('n4', '', 'Bell', 'Anna'),
    line('n5', '', '', 'Bell'),
  );
  const run = await runImport(app.key, file, 'adopt=email&blank_cells=keep');
  expect(run.problems).toMatchObject([
    { line: 2, field: 'email', code: 'unlinked_conflict', uuid: users[0]?.uuid },
    { line: 3, field: 'email', code: 'unlinked_conflict', uuid: users[1]?.uuid },
    { line: 4, field: 'manager_uuid', code: 'unknown_reference' },
  ]);
  expect(countsOf(run)).toEqual({ updated: 2, error: 3 });
  const first = await app.key.get(`/users/${users[0]?.uuid}`);
  expect(first.body).toMatchObject({ ...names, external_id: '' });
});

test('adopt_rows of a correction links the conflicting users of failed rows', async () => {
  const head = `${HEAD},ForeName,Surname`;
  const line = (id: string, name: string, manager = '', first = '', last = '') =>
    [id, name, `${name}@example.org`, manager, first, last].join();
  await runImport(app.key, csv(head, line('p1', 'p1', '', 'Ann', 'Lee')), 'dataset=people');
  const rehired = await findUser(app.key, 'p1');
  const unlinked = await create(app.key, { username: 'q1', email: 'q1@example.org', surname: 'Poe' });
  const rows = [line('p2', 'p1', '', 'Ann', 'Lee'), line('q1', 'q1', '', 'Bo', 'Bell')];
  const file = csv(head, ...rows, line('r1', 'r1', 'p2'));
  const run = await runImport(app.key, file, 'dataset=people&mode=upsert&blank_cells=keep');
  expect(run.causes).toEqual([{ line: 2, failures: 1 }]);
  const ann = { username: 'p1', name: 'Ann Lee' };
  expect(run.problems).toMatchObject([
    { line: 2, name: 'Ann Lee', code: 'username_taken', value: 'p1', uuid: rehired.uuid, user: ann },
    { line: 2, code: 'email_taken', value: 'p1@example.org', user: ann },
    { line: 3, name: 'Bo Bell', code: 'unlinked_conflict', user: { username: 'q1', name: 'Poe' } },
    { line: 3, code: 'unlinked_conflict', value: 'q1@example.org' },
    { line: 4, code: 'unknown_reference', value: 'p2', depends_on_line: 2 },
  ]);
  const failed = await readFailed(app.key, run.id);
  const plan = await runImport(app.key, failed, 'adopt_rows=2,3&dry_run=true');
  expect([plan.corrects, countsOf(plan), plan.problems]).toEqual([run.id, { created: 1, updated: 2 }, []]);
  const codeFor = async (query: string) => (await upload(app.key, failed, query)).body.code;
  expect(await codeFor(`corrects=${UNKNOWN}`)).toBe('validation_failed');
  const waiting = await runImport(app.key, csv(head, line('z', 'z')), 'dry_run=true');
  expect(await codeFor(`corrects=${waiting.id}`)).toBe('wrong_state');
  const { client } = await aKey(app, 'imports:write', 'imports:read');
  expect((await upload(client, failed)).body.code).toBe('insufficient_scope');
  const both = csv(head, line('p2', 'p1'), line('p1', 'p1'));
  const clash = await runImport(app.key, both, `corrects=${run.id}&adopt_rows=2&dry_run=true`);
  expect(clash.problems).toMatchObject([{ line: 3, code: 'duplicate' }]);
  const again = await runImport(app.key, failed, `missing=block&adopt_rows=2,3`);
  expect([countsOf(again), again.options.missing]).toEqual([{ created: 1, updated: 2 }, 'keep']);
  expect((await findUser(app.key, 'p2')).uuid).toBe(rehired.uuid);
  expect((await findUser(app.key, 'q1')).uuid).toBe(unlinked.uuid);
  expect((await findUser(app.key, 'r1')).manager_uuid).toBe(rehired.uuid);
});

test('a plan shows the usernames of managers whom the same file creates', async () => {
  const file = csv(HEAD, row('s', 0, 's1'), row('s', 1, ''));
  const { id } = await runImport(app.key, file, 'dry_run=true');
  const [{ changes }] = await rowsOf(app.key, id);
  expect(changes).toContainEqual(expect.objectContaining({ field: 'manager_uuid', new_name: 's1' }));
});
