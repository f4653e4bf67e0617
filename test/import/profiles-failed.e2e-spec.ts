import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { countsOf, csv, runImport, findUser } from '../support/app/imports.js';

/** `failed.csv` of imports with a profile, which can be corrected and sent again with the same profile. */
const app = setUpApp();

const save = (name: string, profile: object) =>
  app.key.put(`/import_profiles/${name}`, { dataset: name, ...profile });
const readFailed = async (id: string) => (await app.key.get(`/imports/${id}/failed.csv`)).text;
const COLUMNS = { Nr: 'ExternalId', Login: 'Username', Mail: 'Email' };

test.each([
  ['comma delimiter, apostrophe prefix', {}, ',', "'"],
  ['semicolon delimiter, apostrophe prefix', { delimiter: ';' }, ';', "'"],
  ['tab delimiter, minus prefix', { delimiter: 'tab', strip_prefix: '-' }, '\t', '-'],
])('failed.csv can be imported with the original profile: %s', async (what, more, delimiter, prefix) => {
  const name = `form-${what.length}`;
  await save(name, {
    strip_prefix: prefix,
    ...more,
    skip_lines: 2,
    skip_last_lines: 1,
    columns: { Nr: 'ExternalId', State: 'Status', Last: 'Surname', Secret: 'ignore' },
    values: { State: { in: 'Active', '*': 'Blocked' } },
    set: { Username: '{First:lower}.{Last:lower}', Email: '{Mail|Private mail:lower}' },
  });
  const quote = (cell: string) => (cell.includes(delimiter) ? `"${cell}"` : cell);
  const cells = (...row: string[]) => row.map((cell) => quote(`${prefix}${cell}`)).join(delimiter);
  const user = (id: string, last: string, mail: string) =>
    cells(id, 'in', last, 'SECRET', name, mail, `${name}-${id}@example.org`);
  const head = ['Nr', 'State', 'Last', 'Secret', 'First', 'Mail', 'Private mail'].join(delimiter);
  const file = csv(
    'Report',
    '',
    head,
    user(`${name}1`, 'Lee;Low,x', ''),
    user(`${name}2`, '=Sum', 'wrong'),
    user(`${name}3`, '+Plus;1,2', 'wrong'),
    `Total${delimiter}3`,
  );
  const run = await runImport(app.key, file, `profile=${name}`);
  expect(countsOf(run)).toEqual({ created: 1, error: 2 });
  const failed = await readFailed(run.id);
  expect(failed).not.toContain('SECRET');
  expect(failed).toContain(['Nr', 'State', 'Last', 'First', 'Mail', 'Private mail', '_line'].join(delimiter));
  const again = await runImport(app.key, failed, `profile=${name}`);
  expect([again.problems.length, countsOf(again)]).toEqual([2, { error: 2 }]);
  const corrected = await runImport(app.key, failed.replaceAll('wrong', ''), `profile=${name}`);
  expect([corrected.problems, countsOf(corrected)]).toEqual([[], { created: 2 }]);
  expect(await findUser(app.key, `${name}2`)).toMatchObject({
    surname: '=Sum',
    username: `${name}.=sum`,
    status: 'Active',
    email: `${name}-${name}2@example.org`,
  });
});

test('failed.csv omits cells of ignored columns if the cell count is wrong', async () => {
  const header = ['A', 'Login', 'Nr', 'Salary', 'Mail', 'Note'];
  await save('moved', { columns: { ...COLUMNS, Salary: 'ignore', A: 'KnownAs', Note: 'AboutMe' } });
  const good = (i: number) => [`a${i}`, `u${i}`, `m${i}`, 'SECRET', `m${i}@example.org`, 'n'];
  const rows = Array.from({ length: 60 }, (_, i) => good(i));
  // Rows with additional or missing cells in different places.
  rows[5]?.splice(0, 0, 'x');
  rows[6]?.splice(3, 0, 'x', 'y');
  rows[7]?.splice(5, 0, 'x');
  rows[8]?.splice(0, 1);
  rows[9]?.splice(1, 2);
  const run = await runImport(
    app.key,
    csv(header.join(','), ...rows.map((row) => row.join(','))),
    'profile=moved',
  );
  expect(countsOf(run)).toEqual({ created: 55, error: 5 });
  const failed = await readFailed(run.id);
  expect(failed).not.toContain('SECRET');
  for (const [row, cells] of [
    [5, ['x', 'n']],
    [6, ['a6', 'n']],
    [7, ['a7', 'u7']],
    [8, ['u8', 'm8']],
  ] as const)
    for (const cell of cells) expect(failed.split('\r\n')[row - 4]).toContain(cell);
});
