import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app.js';
import type { Json } from '../support/client.js';
import { counted, csv, imported, linked, settled, upload } from '../support/imports.js';
import { databaseOf, fieldErrorsOf } from '../support/people.js';

let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

const save = (name: string, profile: object) => app.key.put(`/import_profiles/${name}`, profile);
const COLUMNS = { Nr: 'ExternalId', Login: 'Username', Mail: 'Email' };

describe('saved profiles', () => {
  test('are listed beside those that ship, read, replaced and deleted', async () => {
    const profile = { dataset: 'hr', columns: COLUMNS, values: { Mail: { '-': '' } }, skip_lines: 1 };
    const saved = await save('hr', profile);
    expect([saved.status, saved.body]).toEqual([
      200,
      { name: 'hr', ready: false, updated: expect.any(String), profile },
    ]);
    expect((await app.key.get('/import_profiles/hr')).body).toEqual(saved.body);
    const list = (await app.key.get('/import_profiles')).body as { Count: number; Results: Json[] };
    expect(list.Results.map(({ name, ready }) => [name, ready])).toEqual([
      ...['auth0', 'canvas', 'entra', 'google'].map((name) => [name, true]),
      ['hr', false],
      ...['microsoft365', 'moodle', 'okta'].map((name) => [name, true]),
    ]);
    await save('hr', { columns: COLUMNS });
    expect((await app.key.get('/import_profiles/hr')).body.profile).toEqual({ columns: COLUMNS });
    expect((await app.key.delete('/import_profiles/hr')).status).toBe(204);
    expect((await app.key.delete('/import_profiles/hr')).status).toBe(404);
    expect((await app.key.get('/import_profiles/hr')).status).toBe(404);
  });

  test('take the place of one that ships, until they are deleted', async () => {
    const ready = (await app.key.get('/import_profiles/canvas')).body;
    expect((await save('canvas', { ...ready.profile, dataset: 'campus' })).status).toBe(200);
    expect((await app.key.get('/import_profiles/canvas')).body).toMatchObject({
      ready: false,
      profile: { dataset: 'campus' },
    });
    await app.key.delete('/import_profiles/canvas');
    expect((await app.key.get('/import_profiles/canvas')).body).toEqual(ready);
    expect((await app.key.delete('/import_profiles/canvas')).status).toBe(404);
  });

  test('are recorded in the audit', async () => {
    await save('audited', { columns: COLUMNS });
    await save('audited', { columns: COLUMNS, dataset: 'x' });
    await app.key.delete('/import_profiles/audited');
    const rows = await databaseOf(app).query<{ action: string; changes: string }>(
      "SELECT action, changes FROM audit_events WHERE action LIKE 'import_profile.%' ORDER BY id DESC LIMIT 3",
    );
    expect(rows.map(({ action, changes }) => [action, JSON.parse(changes)])).toEqual([
      ['import_profile.deleted', [{ field: 'name', old: 'audited' }]],
      [
        'import_profile.saved',
        [
          { field: 'name', new: 'audited' },
          { field: 'dataset', new: 'x' },
        ],
      ],
      [
        'import_profile.saved',
        [
          { field: 'name', new: 'audited' },
          { field: 'columns', new: COLUMNS },
        ],
      ],
    ]);
  });
});

describe('what is wrong with a profile is said when it is saved', () => {
  test.each<[string, object, [string, string][]]>([
    ['no columns', {}, [['columns', 'required']]],
    ['no ExternalId', { columns: { Mail: 'Email' } }, [['columns', 'required']]],
    ['an unknown field', { columns: COLUMNS, colums: {} }, [['colums', 'unknown_field']]],
    [
      'an unknown column',
      { columns: { ...COLUMNS, 'Given Name': 'Forname' } },
      [['columns.Given Name', 'invalid_value']],
    ],
    ['a number', { columns: { ...COLUMNS, x: 7 } }, [['columns.x', 'invalid_type']]],
    [
      'a name twice',
      { columns: { ...COLUMNS, 'E-Mail': 'Phone', 'e mail': 'Mobile' } },
      [['columns.e mail', 'invalid_value']],
    ],
    ['a password', { columns: { ...COLUMNS, Kennwort: 'KnownAs' } }, [['columns.Kennwort', 'invalid_value']]],
    [
      'a password in a template',
      { columns: COLUMNS, set: { KnownAs: '{password}' } },
      [['set.KnownAs', 'invalid_value']],
    ],
    [
      'a broken template',
      { columns: COLUMNS, set: { KnownAs: '{Login' } },
      [['set.KnownAs', 'invalid_format']],
    ],
    [
      'a column that is filled twice',
      { columns: COLUMNS, set: { Email: '{Login}' } },
      [['set.Email', 'invalid_value']],
    ],
    ['one login for all', { columns: COLUMNS, set: { Authname: 'x' } }, [['set.Authname', 'invalid_value']]],
    ['a bad constant', { columns: COLUMNS, set: { Status: 'Aktiv' } }, [['set.Status', 'invalid_value']]],
    ['an unknown role', { columns: COLUMNS, set: { Roles: 'Emperor' } }, [['set.Roles', 'unknown_role']]],
    [
      'a word that means nothing',
      { columns: { ...COLUMNS, State: 'Status' }, values: { State: { A: 'Active', T: 'Bloked' } } },
      [['values.State.T', 'invalid_value']],
    ],
    [
      'words of no column',
      { columns: COLUMNS, values: { Stat: { A: 'Active' } } },
      [['values.Stat', 'unknown_field']],
    ],
    ['words that are none', { columns: COLUMNS, values: { Mail: 'x' } }, [['values.Mail', 'invalid_type']]],
    ['a long prefix', { columns: COLUMNS, strip_prefix: '""' }, [['strip_prefix', 'invalid_value']]],
    ['a bad number of lines', { columns: COLUMNS, skip_lines: -1 }, [['skip_lines', 'invalid_value']]],
    ['an option of no value', { columns: COLUMNS, missing: 'delete' }, [['missing', 'invalid_value']]],
    [
      'a role that there is not',
      { columns: COLUMNS, default_roles: ['Emperor'] },
      [['default_roles', 'unknown_role']],
    ],
    ['a path', { columns: COLUMNS, pattern: '../*.csv' }, [['pattern', 'invalid_format']]],
    [
      'what is not for schedules',
      { columns: COLUMNS, pattern: '*', dry_run: true },
      [['dry_run', 'invalid_value']],
    ],
    ['another profile', { columns: COLUMNS, profile: 'moodle' }, [['profile', 'unknown_field']]],
  ])('%s', async (_, profile, errors) => {
    const answer = await save('bad', profile);
    expect([answer.status, fieldErrorsOf(answer)]).toEqual([422, errors]);
  });

  test('with what was probably meant', async () => {
    const answer = await save('bad', { columns: { ...COLUMNS, 'Given Name': 'Forname' } });
    expect(answer.body.errors[0].message).toBe('must be a column of ours or ignore; did you mean ForeName?');
  });

  test('all at once, and nothing is saved', async () => {
    const answer = await save('bad', {
      columns: { a: 'b' },
      set: { c: 'd' },
      values: { e: {} },
      pattern: '/',
    });
    expect(
      fieldErrorsOf(answer)
        .map(([field]) => field)
        .sort(),
    ).toEqual(['columns', 'columns.a', 'pattern', 'set.c', 'values.e'].sort());
    expect((await app.key.get('/import_profiles/bad')).status).toBe(404);
    expect((await save('a%20b', { columns: COLUMNS })).status).toBe(400);
    const large = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`c${at}`, 'ignore']));
    const words = Object.fromEntries(
      Array.from({ length: 200 }, (_, at) => [`${'w'.repeat(240)}${at}`, 'x'.repeat(200)]),
    );
    expect((await save('bad', { columns: { ...COLUMNS, ...large } })).status).toBe(422);
    expect((await save('bad', { columns: COLUMNS, values: { Mail: words } })).status).toBe(422);
  });
});

test('a run by a profile: options before those of the profile, its copy, and its name', async () => {
  await save('p', { dataset: 'p', missing: 'report', blank_cells: 'keep', columns: COLUMNS });
  const run = await imported(app.key, csv('Mail;Nr;Login', 'p1@example.org;p1;p1'), 'profile=p&missing=keep');
  expect([run.state, run.profile, run.options]).toEqual([
    'completed',
    'p',
    expect.objectContaining({ dataset: 'p', missing: 'keep', blank_cells: 'keep' }),
  ]);
  expect(run.options.profile).toBeUndefined();
  expect((await upload(app.key, 'x', 'profile=q')).body.detail).toBe(
    'profile: there is no import profile q. Did you mean p?',
  );
});

test('a plan is applied as it was made, whatever became of the profile', async () => {
  await save('moving', { columns: COLUMNS });
  const file = csv('Nr,Login,Mail', 'm1,m1,m1@example.org');
  const plan = await imported(app.key, file, 'profile=moving&dry_run=true');
  await save('moving', { columns: { Nr: 'ExternalId', Login: 'Email', Mail: 'Username' } });
  await app.key.post(`/imports/${plan.id}/apply`);
  const run = await settled(app.key, plan.id);
  expect([run.state, run.problems]).toEqual(['completed', []]);
  expect(await linked(app.key, 'm1')).toMatchObject({ username: 'm1', email: 'm1@example.org' });
});

test('lines around the table, prefixes, several statuses, words and templates', async () => {
  await save('all', {
    dataset: 'all',
    skip_lines: 2,
    skip_last_lines: 1,
    strip_prefix: "'",
    ignore_unknown_columns: true,
    columns: {
      Nr: 'ExternalId',
      First: 'ForeName',
      Last: 'Surname',
      Left: 'Status',
      Locked: 'Status',
      Groups: 'Roles',
    },
    values: {
      Left: { '': 'Active', '*': 'Blocked' },
      Locked: { yes: 'Blocked', no: 'Active' },
      Roles: { editors: 'Editor', authors: 'Author', '*': '' },
    },
    set: {
      Username: '{First:ascii:lower}.{Last:ascii:lower}',
      Email: '{Mail|Private mail:lower}',
      AboutMe: 'from all',
    },
  });
  const file = [
    'Report of "all" employees',
    '',
    'Nr,First,Last,Left,Locked,Groups,Mail,Private mail,Shoe size',
    "'1,'Zoë,'Søby,,no,editors;others;authors,'Z@Example.org,,43",
    "'2,'Bo,'=Lee,2026-01-01,no,,,'B@Example.org,44",
    "'3,'Cy,'Low,,YES,authors,c@example.org,,45",
    'Total: 3,"',
  ].join('\n');
  const run = await imported(app.key, file, 'profile=all');
  expect([run.problems, counted(run)]).toEqual([[], { created: 3 }]);
  expect(await linked(app.key, '1')).toMatchObject({
    username: 'zoe.soby',
    email: 'z@example.org',
    roles: ['Author', 'Editor'],
    status: 'Active',
    about_me: 'from all',
  });
  expect(await linked(app.key, '2')).toMatchObject({
    surname: '=Lee',
    email: 'b@example.org',
    status: 'Blocked',
  });
  expect(await linked(app.key, '3')).toMatchObject({ status: 'Blocked' });
  expect(counted(await imported(app.key, file, 'profile=all'))).toEqual({ unchanged: 3 });
});

test('the header of a file is refused with everything that does not fit the profile', async () => {
  await save('strict', {
    skip_lines: 1,
    columns: { ...COLUMNS, E: 'Email' },
    set: { KnownAs: '{Nick|Alias}' },
  });
  const run = await imported(
    app.key,
    csv('title', 'Nr,Login,Mail,E,Mail,Pay', 'a,b,c,d,e,f'),
    'profile=strict',
  );
  const text = JSON.stringify(run.problems);
  expect([run.state, run.problems[0].line]).toEqual(['failed', 2]);
  for (const part of ['Mail', 'Nick', 'Alias', 'Pay', 'both mean Email']) expect(text).toContain(part);
});

test('ignored columns, and those that may hold passwords, are in no table and no file', async () => {
  await save('dropped', { ignore_unknown_columns: true, columns: { ...COLUMNS, Salary: 'ignore' } });
  const file = csv(
    'Nr,Login,Mail,Salary,Password,Note',
    's1,s1,wrong,SECRET-1,SECRET-2,SECRET-3',
    's2,s2,s2@example.org,,,',
  );
  const run = await imported(app.key, file, 'profile=dropped');
  expect(counted(run)).toEqual({ created: 1, error: 1 });
  const failed = (await app.key.get(`/imports/${run.id}/failed.csv`)).text;
  expect(failed).toContain('ExternalId,Username,Email,_line,_code,_message\r\ns1,s1,wrong,2,invalid_format');
  expect(failed + JSON.stringify(run)).not.toContain('SECRET');
  for (const table of ['import_rows', 'import_runs', 'audit_events']) {
    const rows = await databaseOf(app).query(`SELECT * FROM ${table}`);
    expect(JSON.stringify(rows)).not.toContain('SECRET');
  }
  const corrected = failed.replace('wrong', 's1@example.org');
  expect(counted(await imported(app.key, corrected))).toEqual({ created: 1 });
  // Without a profile too: a column that nobody knows may hold passwords.
  const other = await imported(
    app.key,
    csv('ExternalId,Email,Initial passwd', 's9,wrong,SECRET-9'),
    'ignore_unknown_columns=true',
  );
  expect((await app.key.get(`/imports/${other.id}/failed.csv`)).text).not.toContain('SECRET');
});

test('a key for one data set saves profiles of that data set, and none that choose files', async () => {
  const made = await app.key.post('/api_keys', { name: 'hr', scopes: ['imports:write:hr'] });
  const narrow = app.nobody.with({ 'x-api-key': made.body.key });
  const put = async (name: string, profile: object) =>
    (await narrow.put(`/import_profiles/${name}`, profile)).status;
  expect(await put('own', { dataset: 'hr', columns: COLUMNS })).toBe(200);
  expect(await put('own', { dataset: 'sales', columns: COLUMNS })).toBe(403);
  expect(await put('own', { columns: COLUMNS })).toBe(403);
  expect(await put('own', { dataset: 'hr', columns: COLUMNS, pattern: '*' })).toBe(403);
  await save('theirs', { dataset: 'sales', columns: COLUMNS });
  expect(await put('theirs', { dataset: 'hr', columns: COLUMNS })).toBe(403);
  expect((await narrow.delete('/import_profiles/theirs')).status).toBe(403);
  expect((await upload(narrow, csv('Nr', 'x'), 'profile=theirs')).status).toBe(403);
  expect((await upload(narrow, csv('Nr', 'x'), 'profile=own')).status).toBe(202);
});
