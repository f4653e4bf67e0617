import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { countsOf, csv, runImport, rowsOf } from '../support/app/imports.js';
import { HEAD, setUpIds } from '../support/data/user-file.js';

/** Cells that a spreadsheet or a wrong encoding has damaged. Every test has its own external ids. */
const app = setUpApp();
const { toId, person } = setUpIds();
const COLUMNS = `${HEAD},ForeName,Surname,MiddleName,KnownAs,Phone,Mobile,Authname,Manager,HideEmail,Linkedin,ImageUrl,AboutMe`;
const NAMES = 'external_id username email firstname surname middle_name known_as';
const OTHERS = 'phone mobile authname manager_uuid hide_email linkedin user_avatar about_me';
const FIELDS = `${NAMES} ${OTHERS}`.split(' ');
const rowWith = (index: number, cell: string) => {
  const cells = [...person(`d${index}`).split(','), ...Array.from({ length: 12 }, () => '')];
  cells[index] = cell;
  return cells.join(',');
};

test.each([
  ['#N/A', 'spreadsheet_error'],
  [' #REF! ', 'spreadsheet_error'],
  ['#NAME?', 'spreadsheet_error'],
  ['#VALUE!', 'spreadsheet_error'],
  ['#DIV/0!', 'spreadsheet_error'],
  ['#NULL!', 'spreadsheet_error'],
  ['#num!', 'spreadsheet_error'],
  ['#NV', 'spreadsheet_error'],
  ['#¿NOMBRE?', 'spreadsheet_error'],
  ['Err:508', 'spreadsheet_error'],
  ['M\ufffdller', 'broken_character'],
])('an import rejects the cell %j with %s', async (cell, code) => {
  const rows = FIELDS.map((_, index) => rowWith(index, cell));
  const run = await runImport(app.key, csv(COLUMNS, ...rows), 'dry_run=true');
  const found = (await rowsOf(app.key, run.id)).map(({ errors }) =>
    errors.filter((error: Json) => error.code === code).map(({ field, value }: Json) => [field, value]),
  );
  expect(found).toEqual(FIELDS.map((field) => [[field, cell.trim()]]));
});

test('an import accepts text that resembles a spreadsheet error', async () => {
  const values = ['#N/A is not a name', '#', '#1!', '#GO!', 'n/a', 'Err:', '1E5', '?'];
  const rows = values.map((value, i) => person(`x${i}`, value));
  const run = await runImport(app.key, csv(`${HEAD},AboutMe`, ...rows));
  expect([countsOf(run), run.problems]).toEqual([{ created: values.length }, []]);
});

test('an import accepts spreadsheet errors in ignored columns', async () => {
  const file = csv(`${HEAD},_x,Shoe size`, person('a', '#N/A', '#REF!'));
  const run = await runImport(app.key, file, 'ignore_unknown_columns=true');
  expect(countsOf(run)).toEqual({ created: 1 });
});

test('an import accepts a spreadsheet error that the user already has', async () => {
  const known = { firstname: '#N/A', surname: 'M\ufffdller', phone: '1E5', authname: { saml: ['#REF!'] } };
  await create(app.key, { ...known, external_id: toId('k') });
  const file = (phone: string, mobile = '') =>
    csv(
      'ExternalId,ForeName,Surname,Phone,Authname,Mobile',
      `${toId('k')},#N/A,M\ufffdller,${phone},#REF!,${mobile}`,
    );
  expect(countsOf(await runImport(app.key, file('1E5', '7')))).toEqual({ updated: 1 });
  const run = await runImport(app.key, file('2E5', '#N/A'));
  expect(run.problems).toMatchObject([
    { field: 'phone', code: 'spreadsheet_number' },
    { field: 'mobile', code: 'spreadsheet_error' },
  ]);
});

test.each([
  ['ForeName', 'firstname', 'Zoë', 'ZoÃ«'],
  ['Surname', 'surname', 'Müller', 'M?ller'],
  ['MiddleName', 'middle_name', 'Иван', ' ???? '],
  ['KnownAs', 'known_as', 'Søren', 'S├©ren'],
  ['AboutMe', 'about_me', 'Likes «Zürich».', 'Likes Â«ZÃ¼richÂ».'],
  ['Authname', 'authname', 'jörg@idp', 'jÃ¶rg@idp'],
])(
  'an import rejects the column %s with the value of the user in a wrong encoding',
  async (column, field, old, now) => {
    const file = (cell: string) => csv(`${HEAD},${column}`, person('a', cell), person('b', now));
    await runImport(app.key, file(old));
    const run = await runImport(app.key, file(now), 'blank_cells=keep');
    expect(countsOf(run)).toEqual({ unchanged: 1, error: 1 });
    expect(await rowsOf(app.key, run.id, 'outcome=error')).toMatchObject([
      { line: 2, errors: [{ field, code: 'broken_character', value: now }] },
    ]);
    expect(countsOf(await runImport(app.key, file(old)))).toEqual({ unchanged: 2 });
  },
);
