import { beforeEach, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { countsOf, csv, runImport, findUser, rowsOf } from '../support/app/imports.js';
import { HEAD, setUpIds } from '../support/data/user-file.js';

/** Outcomes of single rows. Every test has its own external ids. */
const app = setUpApp();
const { toId, person } = setUpIds();
const outcomesOf = async (run: Json) =>
  (await rowsOf(app.key, run.id)).map(({ line, outcome, errors }) => [line, outcome, errors[0]?.code]);

test('each import row counts towards one outcome', async () => {
  const send = (...rows: [name: string, status: string, phone: string][]) =>
    runImport(app.key, csv(`${HEAD},Status,Phone`, ...rows.map((row) => person(...row))));
  await send(['a', 'Active', '1'], ['b', 'Active', '1'], ['c', 'Active', '1'], ['d', 'Blocked', '1']);
  const run = await send(
    ['a', 'Active', '2'],
    ['b', 'Blocked', '1'],
    ['c', 'Active', '1'],
    ['d', 'Active', '1'],
    ['e', 'Active', '1'],
    ['e', 'Active', '1'],
    ['f', 'Sleeping', '1'],
  );
  expect(run.state).toBe('completed_with_errors');
  const once = { created: 1, updated: 1, unchanged: 1, blocked: 1, reactivated: 1, skipped: 1, error: 1 };
  expect(run.counts).toEqual({ ...once, deleted: 0, restored: 0 });
  expect(await outcomesOf(run)).toEqual([
    [2, 'updated', undefined],
    [3, 'blocked', undefined],
    [5, 'reactivated', undefined],
    [6, 'created', undefined],
    [7, 'skipped', undefined],
    [8, 'error', 'invalid_value'],
  ]);
  expect((await findUser(app.key, toId('b'))).status).toBe('Blocked');
  expect((await findUser(app.key, toId('d'))).status).toBe('Active');
});

test('import rows list changes and errors with values', async () => {
  await runImport(app.key, csv(`${HEAD},Phone`, person('a', '+44 1')));
  const lines = [person('a', '+44 2', '"two\nlines"'), '', `${toId('b')},,bad,,`];
  const run = await runImport(app.key, csv(`${HEAD},Phone,AboutMe`, ...lines));
  const [a, b] = await rowsOf(app.key, run.id);
  expect(a).toMatchObject({ line: 2, outcome: 'updated', external_id: toId('a') });
  expect(a.changes).toEqual([
    { field: 'phone', old: '+44 1', new: '+44 2' },
    { field: 'about_me', old: '', new: 'two\nlines' },
  ]);
  expect(b).toMatchObject({ line: 4, outcome: 'error', external_id: toId('b'), uuid: null });
  expect(b.errors).toEqual([
    { field: 'username', code: 'required', message: 'is required' },
    { field: 'email', code: 'invalid_format', message: 'must be an e-mail address', value: 'bad' },
  ]);
  expect(run.problems).toEqual(
    b.errors.map((error: object) => ({ line: 4, external_id: toId('b'), name: '', ...error })),
  );
});

describe('an import of an existing user', () => {
  const FULL = `${HEAD},Status,Roles,ForeName,Phone,Authname,HideEmail,Linkedin,AboutMe`;
  const blank = () => `${toId('a')},,,,,,,,,,`;
  beforeEach(async () => {
    const cells = ['Blocked', 'Editor', 'Ann', '1', toId('saml'), 'yes', 'https://l.test/a', 'x'];
    await runImport(app.key, csv(FULL, person('a', ...cells)));
  });
  const getKept = () => {
    const username = toId('a');
    return { username, email: `${username}@example.org`, status: 'Blocked', roles: ['Editor'] };
  };
  test('clears fields with blank cells', async () => {
    expect(countsOf(await runImport(app.key, csv(FULL, blank())))).toEqual({ updated: 1 });
    const empty = {
      firstname: '',
      phone: '',
      authname: {},
      hide_email: false,
      social_media: {},
      about_me: '',
    };
    expect(await findUser(app.key, toId('a'))).toMatchObject({ ...getKept(), ...empty });
  });
  test('with blank_cells=keep ignores blank cells', async () => {
    const before = await findUser(app.key, toId('a'));
    const run = await runImport(app.key, csv(FULL, blank().replace(/,$/, ',new')), 'blank_cells=keep');
    expect(countsOf(run)).toEqual({ updated: 1 });
    const { about_me, updated: _, version: _v, ...rest } = await findUser(app.key, toId('a'));
    expect([about_me, rest]).toEqual(['new', expect.objectContaining({ ...getKept(), phone: '1' })]);
    expect(before).toMatchObject(rest);
  });
  test('keeps the fields of missing columns', async () => {
    const run = await runImport(app.key, csv('ExternalId,ForeName', `${toId('a')},Anne`));
    expect(countsOf(run)).toEqual({ updated: 1 });
    expect(await findUser(app.key, toId('a'))).toMatchObject({ ...getKept(), firstname: 'Anne', phone: '1' });
  });
});

describe('the import mode', () => {
  const file = (phone: string) => csv(`${HEAD},Phone`, person('old', phone), person('new', phone));
  beforeEach(() => runImport(app.key, csv(HEAD, person('old'))));
  test.each([
    ['upsert', { updated: 1, created: 1 }],
    ['create_only', { skipped: 1, created: 1 }],
    ['update_only', { updated: 1, skipped: 1 }],
  ])('%s results in %j', async (mode, counts) => {
    expect(countsOf(await runImport(app.key, file('7'), `mode=${mode}`))).toEqual(counts);
  });
});

describe('duplicate import rows', () => {
  test('all fail if other values differ', async () => {
    const all = [person('a', '1'), person('a', '1'), person('a', '2'), person('b', '1')];
    const run = await runImport(app.key, csv(`${HEAD},Phone`, ...all));
    expect(countsOf(run)).toEqual({ created: 1, error: 3 });
    const rows = (await rowsOf(app.key, run.id)).slice(0, 3);
    const duplicate = { field: 'external_id', code: 'duplicate', value: toId('a') };
    const messages = [3, 2, 2].map((line) => `is also set by another change: line ${line}`);
    expect(rows.map(({ errors }) => errors)).toEqual(messages.map((message) => [{ ...duplicate, message }]));
    expect(rows.map(({ line, outcome }) => `${line} ${outcome}`)).toEqual(['2 error', '3 error', '4 error']);
  });
  test('all fail if only one row equals the stored user', async () => {
    await runImport(app.key, csv(`${HEAD},Phone`, person('a', '1')));
    const run = await runImport(app.key, csv(`${HEAD},Phone`, person('a', '1'), person('a', '2')));
    expect(countsOf(run)).toEqual({ error: 2 });
    expect((await rowsOf(app.key, run.id)).map((row) => row.external_id)).toEqual([toId('a'), toId('a')]);
    expect((await findUser(app.key, toId('a'))).phone).toBe('1');
  });
  test('are found by username or e-mail, ignoring case', async () => {
    const [a, b, c, d, e, f] = ['a', 'b', 'c', 'd', 'e', 'f'].map(toId);
    const file = csv(
      HEAD,
      `${a},SAME-${a},${a}@example.org`,
      `${b},same-${a},${b}@example.org`,
      `${c},${c},${c}@example.org`,
      `${d},${d},${c?.toUpperCase()}@example.org`,
      `${e},${f}@example.org,${e}@example.org`,
      `${f},${f},${f}@example.org`,
      person('g'),
    );
    const run = await runImport(app.key, file);
    expect(countsOf(run)).toEqual({ created: 1, error: 6 });
    const fields = ['username', 'username', 'email', 'email', 'username', 'email'];
    expect(run.problems).toMatchObject(fields.map((field) => ({ field, code: 'duplicate' })));
  });
});

test('an import with adopt=email does not adopt a user by username', async () => {
  const name = `${toId('u')}@example.org`;
  const user = await create(app.key, { username: name, email: `${toId('u')}@example.com` });
  const run = await runImport(app.key, csv(HEAD, `${toId('a')},${toId('a')},${name}`), 'adopt=email');
  expect(run.problems).toMatchObject([{ field: 'email', code: 'unlinked_conflict', uuid: user.uuid }]);
});
