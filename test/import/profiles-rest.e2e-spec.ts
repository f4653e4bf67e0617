import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { csv, upload } from '../support/app/imports.js';
import { databaseOf, fieldErrorsOf, inSeconds } from '../support/app/people.js';
import { sendChunked } from '../support/app/raw.js';

/** Profiles over REST. */
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

  test('are at most 200', async () => {
    const rows = Array.from({ length: 200 }, (_, index) => [`many-${index}`, uuidv7()] as const);
    for (const [name, id] of rows) {
      await databaseOf(app).execute(
        "INSERT INTO import_profiles (name, id, document, created, updated) VALUES (?, ?, '{}', ?, ?)",
        [name, id, inSeconds(0), inSeconds(0)],
      );
    }
    const { status, body } = await app.key.put('/import_profiles/one-more', { columns: COLUMNS });
    expect([status, body.code]).toEqual([409, 'wrong_state']);
    await databaseOf(app).execute("DELETE FROM import_profiles WHERE name LIKE 'many-%'");
    expect((await save('one-more', { columns: COLUMNS })).status).toBe(200);
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
    ['the data set of providers', { columns: COLUMNS, dataset: 'scim' }, [['dataset', 'invalid_format']]],
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
    ['guards that are none', { columns: COLUMNS, guards: 7 }, [['guards', 'invalid_type']]],
    [
      'a guard that there is not',
      { columns: COLUMNS, guards: { deactivation: { rows: 1 }, constructor: {} } },
      [
        ['guards.deactivation', 'unknown_field'],
        ['guards.constructor', 'unknown_field'],
      ],
    ],
    [
      'limits that a guard has not',
      { columns: COLUMNS, guards: { errors: { total: 1, factor: 2 }, week: { rows: 1 }, old_file: [] } },
      [
        ['guards.errors.total', 'unknown_field'],
        ['guards.errors.factor', 'unknown_field'],
        ['guards.week.rows', 'unknown_field'],
        ['guards.old_file', 'invalid_type'],
      ],
    ],
    [
      'limits out of bounds',
      {
        columns: COLUMNS,
        guards: {
          errors: { rows: -1, percent: 101 },
          week: { factor: 0 },
          moved_values: { rows: 1.5 },
          same_value: { rows: '9' },
          after_revert: { rows: 1_000_001 },
          emptied_field: { rows: null },
        },
      },
      [
        'errors.rows',
        'errors.percent',
        'week.factor',
        'moved_values.rows',
        'same_value.rows',
        'after_revert.rows',
        'emptied_field.rows',
      ].map((name) => [`guards.${name}`, 'invalid_value']),
    ],
    ['another profile', { columns: COLUMNS, profile: 'moodle' }, [['profile', 'unknown_field']]],
  ])('%s', async (_, profile, errors) => {
    const answer = await save('bad', profile);
    expect([answer.status, fieldErrorsOf(answer).sort()]).toEqual([422, errors.sort()]);
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

test.each(['.', '..'])('no profile is named %s, which clients take out of a path', async (name) => {
  const headers = { ...app.key.headers, 'content-type': 'application/json' };
  const path = `/api/0.3/import_profiles/${name}`;
  const { status } = await sendChunked(app.url, 'PUT', path, headers, [JSON.stringify({ columns: COLUMNS })]);
  expect(status).toBe(400);
});
