import { describe, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { csv, upload } from '../support/app/imports.js';
import { databaseOf, fieldErrorsOf, inSeconds } from '../support/app/people.js';
import { sendChunked } from '../support/app/raw.js';

/** The REST API of import profiles. */
const app = setUpApp({ IMPORT_OPTIONS: 'profile=nightly' });

const save = (name: string, profile: object) => app.key.put(`/import_profiles/${name}`, profile);
const COLUMNS = { Nr: 'ExternalId', Login: 'Username', Mail: 'Email' };

describe('saved import profiles', () => {
  test('can be read, replaced, deleted and listed', async () => {
    const profile = { dataset: 'hr', columns: COLUMNS, values: { Mail: { '-': '' } }, skip_lines: 1 };
    const saved = await save('hr', profile);
    expect(saved.status).toBe(200);
    expect(saved.body).toEqual({ name: 'hr', ready: false, updated: expect.any(String), profile });
    expect((await app.key.get('/import_profiles/hr')).body).toEqual(saved.body);
    const { Results } = (await app.key.get('/import_profiles')).body;
    const builtIn = ['auth0', 'canvas', 'entra', 'google', 'microsoft365', 'moodle', 'okta', 'oneroster'];
    const all = builtIn.toSpliced(4, 0, 'hr').map((name) => [name, name !== 'hr']);
    expect(Results.map(({ name, ready }: Json) => [name, ready])).toEqual(all);
    await save('hr', { columns: COLUMNS });
    expect((await app.key.get('/import_profiles/hr')).body.profile).toEqual({ columns: COLUMNS });
    expect((await app.key.delete('/import_profiles/hr')).status).toBe(204);
    expect((await app.key.delete('/import_profiles/hr')).status).toBe(404);
    expect((await app.key.get('/import_profiles/hr')).status).toBe(404);
  });

  test('override a built-in profile of the same name', async () => {
    const ready = (await app.key.get('/import_profiles/canvas')).body;
    expect((await save('canvas', { ...ready.profile, dataset: 'campus' })).status).toBe(200);
    const own = (await app.key.get('/import_profiles/canvas')).body;
    expect(own).toMatchObject({ ready: false, profile: { dataset: 'campus' } });
    await app.key.delete('/import_profiles/canvas');
    expect((await app.key.get('/import_profiles/canvas')).body).toEqual(ready);
    expect((await app.key.delete('/import_profiles/canvas')).status).toBe(404);
  });

  test('are limited to 200', async () => {
    const insert = 'INSERT INTO import_profiles (name, id, document, created, updated)';
    for (let n = 0; n < 200; n++) {
      const values = [`many-${n}`, uuidv7(), '{}', inSeconds(0), inSeconds(0)];
      await databaseOf(app).execute(`${insert} VALUES (?, ?, ?, ?, ?)`, values);
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
    expect(rows.map(({ action, changes }) => [action, ...(JSON.parse(changes) as Json[])])).toEqual([
      ['import_profile.deleted', { field: 'name', old: 'audited' }],
      ['import_profile.saved', { field: 'name', new: 'audited' }, { field: 'dataset', new: 'x' }],
      ['import_profile.saved', { field: 'name', new: 'audited' }, { field: 'columns', new: COLUMNS }],
    ]);
  });
});

/** Saves an invalid profile. @returns the field and code of each error. */
async function saveInvalid(profile: object): Promise<string[]> {
  const answer = await save('bad', profile);
  expect(answer.status).toBe(422);
  return fieldErrorsOf(answer).map((error) => error.join(' '));
}

describe('saving an import profile', () => {
  const withColumns = (more: object) => ({ columns: { ...COLUMNS, ...more } });
  test.each<[string, object, string[]]>([
    ['no columns', { columns: undefined }, ['columns required']],
    ['no ExternalId column', { columns: { Mail: 'Email' } }, ['columns required']],
    ['an unknown field', { colums: {} }, ['colums unknown_field']],
    ['an unknown target', withColumns({ 'Given Name': 'Forname' }), ['columns.Given Name invalid_value']],
    ['a number as target', withColumns({ x: 7 }), ['columns.x invalid_type']],
    ['one column twice', withColumns({ 'E-M': 'Phone', 'e m': 'Mobile' }), ['columns.e m invalid_value']],
    ['a password column', withColumns({ Kennwort: 'KnownAs' }), ['columns.Kennwort invalid_value']],
    ['a password in a template', { set: { KnownAs: '{Nr} || {password}' } }, ['set.KnownAs invalid_value']],
    ['a text as identifier', { set: { Authname: '{Nr} || none' } }, ['set.Authname invalid_value']],
    ['an invalid fallback text', { set: { HideEmail: '{Nr} || maybe' } }, ['set.HideEmail invalid_type']],
    ['a broken template', { set: { KnownAs: '{Login' } }, ['set.KnownAs invalid_format']],
    ['a function after unique', { set: { KnownAs: '{Nr:unique:lower}' } }, ['set.KnownAs invalid_format']],
    ['unique in another column', { set: { KnownAs: '{Nr:unique}' } }, ['set.KnownAs invalid_value']],
    ['a year of two digits', { date_format: 'DD.MM.YY' }, ['date_format invalid_value']],
    ['a date format without separators', { date_format: 'DMYYYY' }, ['date_format invalid_value']],
    ['a password as date', { active_until: 'Passwort' }, ['active_until invalid_value']],
    ['a manager key without managers', { manager_key: 'Mail' }, ['manager_key invalid_value']],
    ['two sources of one column', { set: { Email: '{Login}' } }, ['set.Email invalid_value']],
    ['a constant login', { set: { Authname: 'x' } }, ['set.Authname invalid_value']],
    ['an invalid constant status', { set: { Status: 'Aktiv' } }, ['set.Status invalid_value']],
    ['an unknown role', { set: { Roles: 'Emperor' } }, ['set.Roles unknown_role']],
    [
      'a value with an invalid status',
      { ...withColumns({ State: 'Status' }), values: { State: { A: 'Active', T: 'Bloked' } } },
      ['values.State.T invalid_value'],
    ],
    ['values of an unknown column', { values: { Stat: { A: 'Active' } } }, ['values.Stat unknown_field']],
    ['values of the wrong type', { values: { Mail: 'x' } }, ['values.Mail invalid_type']],
    ['a prefix of two characters', { strip_prefix: '""' }, ['strip_prefix invalid_value']],
    ['a negative number of lines', { skip_lines: -1 }, ['skip_lines invalid_value']],
    ['the reserved data set scim', { dataset: 'scim' }, ['dataset invalid_format']],
    ['an option with an invalid value', { missing: 'delete' }, ['missing invalid_value']],
    ['an unknown default role', { default_roles: ['Emperor'] }, ['default_roles unknown_role']],
    ['a path as pattern', { pattern: '../*.csv' }, ['pattern invalid_format']],
    ['a pattern with a dry run', { pattern: '*', dry_run: true }, ['dry_run invalid_value']],
    ['guards of the wrong type', { guards: 7 }, ['guards invalid_type']],
    ['a reference to another profile', { profile: 'moodle' }, ['profile unknown_field']],
  ])('with %s is refused', async (_, profile, errors) => {
    expect(await saveInvalid({ columns: COLUMNS, ...profile })).toEqual(errors);
  });

  test.each<[string, unknown, string]>([
    ['deactivation', { rows: 1 }, 'deactivation unknown_field'],
    ['constructor', {}, 'constructor unknown_field'],
    ['errors', { total: 1 }, 'errors.total unknown_field'],
    ['old_file', [], 'old_file invalid_type'],
    ['errors', { rows: -1 }, 'errors.rows invalid_value'],
    ['errors', { percent: 101 }, 'errors.percent invalid_value'],
    ['week', { rows: 1 }, 'week unknown_field'],
    ['slid_column', { rows: 1.5 }, 'slid_column.rows invalid_value'],
    ['changed_field', { rows: '9' }, 'changed_field.rows invalid_value'],
    ['after_revert', { rows: 1_000_001 }, 'after_revert.rows invalid_value'],
    ['emptied_field', { rows: null }, 'emptied_field.rows invalid_value'],
  ])('with the guard %s and limits %j is refused', async (guard, limits, error) => {
    expect(await saveInvalid({ columns: COLUMNS, guards: { [guard]: limits } })).toEqual([`guards.${error}`]);
  });

  const PERCENTAGE = 'must be a percentage from 0 to 100';
  test.each<[string, object, string]>([
    ['column', withColumns({ x: 'Forname' }), 'must be an import column or ignore; did you mean ForeName?'],
    ['guard', { guards: { deactivation: {} } }, 'is not a guard; did you mean deactivations?'],
    ['old guard', { guards: { week: { rows: 1 } } }, 'is not a guard; use deactivations instead'],
    ['limit', { guards: { old_file: { row: 1 } } }, 'is not a limit of old_file; did you mean rows?'],
    ['percentage', { guards: { errors: { percent: 200 } } }, `${PERCENTAGE}, with at most one decimal`],
  ])('with an invalid %s explains the valid values', async (_, profile, message) => {
    const answer = await save('bad', { columns: COLUMNS, ...profile });
    expect(answer.body.errors.map((error: Json) => error.message)).toEqual([message]);
  });

  test('with several errors reports all errors', async () => {
    const profile = { columns: { a: 'b' }, set: { c: 'd' }, values: { e: {} }, pattern: '/' };
    const fields = (await saveInvalid(profile)).map((error) => error.split(' ')[0]);
    expect(fields.sort()).toEqual(['columns', 'columns.a', 'pattern', 'set.c', 'values.e']);
    expect((await app.key.get('/import_profiles/bad')).status).toBe(404);
    expect((await save('a%20b', { columns: COLUMNS })).status).toBe(400);
    const repeat = (name: string, value: string) =>
      Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${name}${at}`, value]));
    const [large, words] = [repeat('c', 'ignore'), repeat('w'.repeat(240), 'x'.repeat(200))];
    expect((await save('bad', { columns: { ...COLUMNS, ...large } })).status).toBe(422);
    expect((await save('bad', { columns: COLUMNS, values: { Mail: words } })).status).toBe(422);
  });
});

test('a key for one data set cannot save profiles of other data sets', async () => {
  const { client: narrow } = await aKey(app, 'imports:write:hr');
  const put = async (name: string, profile: object) =>
    (await narrow.put(`/import_profiles/${name}`, profile)).status;
  expect(await put('own', { dataset: 'hr', columns: COLUMNS })).toBe(200);
  expect(await put('own', { columns: COLUMNS })).toBe(403);
  expect(await put('own', { dataset: 'hr', columns: COLUMNS, allow_privileged: true })).toBe(403);
  expect(await put('canvas', { dataset: 'hr', columns: COLUMNS })).toBe(403); // replaces a built-in profile
  expect(await put('nightly', { dataset: 'hr', columns: COLUMNS })).toBe(403); // the schedule uses this name
  expect((await upload(narrow, csv('Nr', 'x'), 'profile=own')).status).toBe(202);
});

test.each(['.', '..'])('an import profile with the name %s is refused', async (name) => {
  const headers = { ...app.key.headers, 'content-type': 'application/json' };
  const path = `/api/0.3/import_profiles/${name}`;
  const { status } = await sendChunked(app.url, 'PUT', path, headers, [JSON.stringify({ columns: COLUMNS })]);
  expect(status).toBe(400);
});
