import { afterEach, expect, jest, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import {
  codesOf,
  countsOf,
  csv,
  decide,
  expectRun,
  findUser,
  readFailed,
  runImport,
  sendPreview,
  upload,
} from '../support/app/imports.js';
import { ALL_BUT_DATE } from '../support/app/clock.js';
import { databaseOf } from '../support/app/people.js';

/** Imports with a profile. */
const app = setUpApp({ IMPORT_TIME_ZONE: 'Asia/Tokyo' });
afterEach(() => void jest.useRealTimers());

const save = (name: string, profile: object) => app.key.put(`/import_profiles/${name}`, profile);
const COLUMNS = { Nr: 'ExternalId', Login: 'Username', Mail: 'Email' };

test('the options of a request override the import profile', async () => {
  await save('p', { dataset: 'p', missing: 'report', blank_cells: 'keep', columns: COLUMNS });
  const file = csv('Mail;Nr;Login', 'p1@example.org;p1;p1');
  const run = await runImport(app.key, file, 'profile=p&missing=keep');
  const options = { dataset: 'p', missing: 'keep', blank_cells: 'keep' };
  expect(run).toMatchObject({ state: 'completed', profile: 'p', options });
  expect(run.options.profile).toBeUndefined();
  expect((await upload(app.key, 'x', 'profile=q')).body.detail).toBe(
    'profile: there is no import profile q. Did you mean p?',
  );
});

test('an applied dry run ignores later changes of its import profile', async () => {
  await save('moving', { columns: COLUMNS });
  const file = csv('Nr,Login,Mail', 'm1,m1,m1@example.org');
  const plan = await runImport(app.key, file, 'profile=moving&dry_run=true');
  await save('moving', { columns: { Nr: 'ExternalId', Login: 'Email', Mail: 'Username' } });
  const run = await decide(app.key, plan.id, 'apply');
  expect([run.state, run.problems]).toEqual(['completed', []]);
  expect(await findUser(app.key, 'm1')).toMatchObject({ username: 'm1', email: 'm1@example.org' });
});

test('an import blocks a user if either status column means Blocked', async () => {
  await save('words', {
    dataset: 'words',
    columns: { ...COLUMNS, Left: 'Status', Locked: 'Status', Groups: 'Roles' },
    values: {
      Left: { '': 'Active', '*': 'Blocked' },
      Locked: { yes: 'Blocked', no: 'Active' },
      Roles: { editors: 'Editor', authors: 'Author', '*': '' },
    },
    set: { AboutMe: 'from words' },
  });
  const file = csv(
    'Nr,Login,Mail,Left,Locked,Groups',
    'w-1,w-1,w-1@example.org,,no,editors;others;authors',
    'w-2,w-2,w-2@example.org,2026-01-01,no,',
    'w-3,w-3,w-3@example.org,,YES,authors',
  );
  const run = await runImport(app.key, file, 'profile=words');
  expect([run.problems, countsOf(run)]).toEqual([[], { created: 3 }]);
  const first = { roles: ['Author', 'Editor'], status: 'Active', about_me: 'from words' };
  expect(await findUser(app.key, 'w-1')).toMatchObject(first);
  for (const id of ['w-2', 'w-3']) expect((await findUser(app.key, id)).status).toBe('Blocked');
  expect(countsOf(await runImport(app.key, file, 'profile=words'))).toEqual({ unchanged: 3 });
});

test('an import blocks a user after the last day in the time zone of the schedule', async () => {
  const setClock = (time: string) =>
    jest.useFakeTimers({ now: Date.parse(time), advanceTimers: true, doNotFake: ALL_BUT_DATE });
  const columns = { ...COLUMNS, State: 'Status' };
  await save('dated', { dataset: 'dated', columns, active_until: 'End', date_format: 'D.M.YYYY' });
  const file = csv(
    'Nr,Login,Mail,State,End',
    't1,t1,t1@example.org,Active,1.3.2027',
    't2,t2,t2@example.org,,',
    't3,t3,t3@example.org,Blocked,30.2.2027',
  );
  setClock('2027-03-01T14:59:00Z'); // 23:59 in Tokyo
  const first = await runImport(app.key, file, 'profile=dated');
  expect(countsOf(first)).toEqual({ created: 2, error: 1 });
  const message = 'is not a date in the format D.M.YYYY';
  expect(first.problems).toMatchObject([{ line: 4, field: 'status', value: '30.2.2027', message }]);
  setClock('2027-03-01T15:01:00Z');
  const next = await runImport(app.key, file, 'profile=dated');
  expect(countsOf(next)).toEqual({ blocked: 1, unchanged: 1, error: 1 });
  const extended = await runImport(app.key, file.replace('1.3.2027', ''), 'profile=dated');
  expect(countsOf(extended)).toEqual({ reactivated: 1, unchanged: 1, error: 1 });
});

test.each([
  ['Mail', 'm', 'M2@example.org', 'm9@example.org'],
  ['Code', 'n', 'c2', 'n9'],
])('an import finds managers by the column %s', async (manager_key, id, inFile, elsewhere) => {
  const name = `managers-${id}`;
  const others = id === 'm' ? {} : { Code: 'ignore' };
  const columns = { ...COLUMNS, Boss: 'Manager', ...others };
  await save(name, { dataset: name, columns, manager_key, guards: { errors: { rows: 9 } } });
  const row = (number: number, boss: string, code = `c${number}`) =>
    `${id}${number},${id}${number},${id}${number}@example.org,${boss},${code}`;
  const query = `profile=${name}&ignore_unknown_columns=true`;
  const head = 'Nr,Login,Mail,Boss,Code';
  await runImport(app.key, csv(head, row(9, '')), query);
  const valid = [row(1, inFile), row(2, ''), row(3, elsewhere)];
  const invalid = [row(4, `${id}2`), row(5, 'c0', 'c0'), row(6, 'x', 'x'), row(7, 'x', 'x')];
  const run = await runImport(app.key, csv(head, ...valid, ...invalid), query);
  const managerOf = async (number: number) => (await findUser(app.key, `${id}${number}`))?.manager_uuid;
  expect(await managerOf(1)).toBe((await findUser(app.key, `${id}2`)).uuid);
  const boss = id === 'm' ? (await findUser(app.key, `${id}9`)).uuid : undefined;
  expect(await managerOf(3)).toBe(boss);
  const failed = boss === undefined ? [4, 5, 6, 7, 8] : [5, 6, 7, 8];
  expect(run.problems).toMatchObject(failed.map((line) => ({ line, field: 'manager_uuid' })));
});

test('an import fails if the header does not match the profile', async () => {
  const columns = { ...COLUMNS, E: 'Email' };
  await save('strict', { skip_lines: 1, columns, set: { KnownAs: '{Nick|Alias}' } });
  const file = csv('title', 'Nr,Login,Mail,E,Mail,Pay', 'a,b,c,d,e,f');
  const run = await runImport(app.key, file, 'profile=strict');
  const text = JSON.stringify(run.problems);
  expect([run.state, run.problems[0].line]).toEqual(['failed', 2]);
  for (const part of ['Mail', 'Nick', 'Alias', 'Pay', 'both mean Email']) expect(text).toContain(part);
});

test('cells of ignored and password columns are never stored', async () => {
  await save('dropped', { ignore_unknown_columns: true, columns: { ...COLUMNS, Salary: 'ignore' } });
  const file = csv(
    'Nr,Login,Mail,Salary,Password,Note',
    's1,s1,wrong,SECRET-1,SECRET-2,SECRET-3',
    's2,s2,s2@example.org,,,',
  );
  const run = await runImport(app.key, file, 'profile=dropped');
  expect(countsOf(run)).toEqual({ created: 1, error: 1 });
  const failed = await readFailed(app.key, run.id);
  expect(failed).toContain(`,_run,_line,_code,_message\r\ns1,s1,wrong,${run.id},2,invalid_format`);
  expect(failed + JSON.stringify(run)).not.toContain('SECRET');
  for (const table of ['import_rows', 'import_runs', 'audit_events']) {
    expect(JSON.stringify(await databaseOf(app).query(`SELECT * FROM ${table}`))).not.toContain('SECRET');
  }
  const corrected = failed.replace('wrong', 's1@example.org');
  expect(countsOf(await runImport(app.key, corrected, 'profile=dropped'))).toEqual({ created: 1 });
  // Without a profile too, because an unknown column may contain passwords.
  const unmapped = csv('ExternalId,Email,Initial passwd', 's9,wrong,SECRET-9');
  const other = await runImport(app.key, unmapped, 'ignore_unknown_columns=true');
  expect(await readFailed(app.key, other.id)).not.toContain('SECRET');
});

test('a wrong cell count does not make the user missing', async () => {
  await save('wide', { dataset: 'wide', missing: 'block', columns: COLUMNS, ignore_unknown_columns: true });
  const good = (id: string) => `${id},x,${id},${id}@example.org`;
  await runImport(app.key, csv('Login,Note,Nr,Mail', good('w1'), good('w2'), good('w3')), 'profile=wide');
  // An unquoted comma before the column of the ExternalId.
  const file = csv('Login,Note,Nr,Mail', good('w1'), 'w2,SECRET, x,w2,w2@example.org', good('w3'));
  const run = await runImport(app.key, file, 'profile=wide');
  const none = { reported: 0, blocked: 0 };
  expectRun(run, 'completed_with_errors', { unchanged: 2, error: 1 }, none);
  const message = expect.stringContaining('5 cells, but the header has 4');
  expect(run.problems).toMatchObject([{ line: 3, code: 'wrong_cell_count', message }]);
  expect(await readFailed(app.key, run.id)).not.toContain('SECRET');
});

test.each<[string, boolean | undefined, string | undefined, boolean]>([
  ['is true if only the request sets true', undefined, 'true', true],
  ['is true if the request overrides false in the profile', false, 'true', true],
  ['is false if the request overrides true in the profile', true, 'false', false],
  ['is false if only the request sets false', undefined, 'false', false],
  ['is true if only the profile sets true', true, undefined, true],
  ['is false by default', undefined, undefined, false],
])('the option ignore_unknown_columns %s', async (_, stored, sent, ignored) => {
  const name = `ignore-${String(stored)}-${String(sent)}`;
  await save(name, { dataset: name, columns: COLUMNS, ignore_unknown_columns: stored });
  const query = `profile=${name}${sent === undefined ? '' : `&ignore_unknown_columns=${sent}`}`;
  const file = csv('Nr,Login,Mail,Extra', `${name},${name},${name}@example.org,x`);
  const run = await runImport(app.key, file, query);
  const codes = ignored ? [] : ['unknown_column'];
  expect(run).toMatchObject({
    state: ignored ? 'completed' : 'failed',
    options: { ignore_unknown_columns: ignored },
  });
  expect(codesOf(run)).toEqual(codes);
  const { problems } = (await sendPreview(app.key, file, query)).body;
  expect(codesOf({ problems: problems.filter(({ refuses }: Json) => refuses) })).toEqual(codes);
});
