import { expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { countsOf, csv, decide, findUser, readFailed, runImport } from '../support/app/imports.js';

/** `failed.csv` of imports with a profile, which can be corrected and sent again with the same profile. */
const app = setUpApp();

const save = (name: string, profile: object) =>
  app.key.put(`/import_profiles/${name}`, { dataset: name, ...profile });
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
    set: { Username: '{First:lower}.{Last:lower}', Email: '{Mail:lower} || {Private mail:lower}' },
  });
  const quote = (cell: string) => (cell.includes(delimiter) ? `"${cell}"` : cell);
  const cells = (...row: string[]) => row.map((cell) => quote(`${prefix}${cell}`)).join(delimiter);
  const user = (id: string, last: string, mail: string) =>
    cells(id, 'in', last, 'SECRET', name, mail, `${name}-${id}@example.org`);
  const head = ['Nr', 'State', 'Last', 'Secret', 'First', 'Mail', 'Private mail'].join(delimiter);
  const users = [user(`${name}1`, 'Lee;Low,x', ''), user(`${name}2`, '=Sum', 'wrong')];
  const last = user(`${name}3`, '+Plus;1,2', 'wrong');
  const file = csv('Report', '', head, ...users, last, `Total${delimiter}3`);
  const run = await runImport(app.key, file, `profile=${name}`);
  expect(countsOf(run)).toEqual({ created: 1, error: 2 });
  const failed = await readFailed(app.key, run.id);
  expect(failed).not.toContain('SECRET');
  expect(failed).toContain(['Nr', 'State', 'Last', 'First', 'Mail', 'Private mail', '_run'].join(delimiter));
  const again = await runImport(app.key, failed, `profile=${name}`);
  expect([again.problems.length, countsOf(again)]).toEqual([2, { error: 2 }]);
  // A corrected cell of the first column replaces the fallback, and a blank one selects the fallback.
  const correction = failed.replace('wrong', '').replace('wrong', `new@${name}.example`);
  const corrected = await runImport(app.key, correction, `profile=${name}`);
  expect([corrected.problems, countsOf(corrected)]).toEqual([[], { created: 2 }]);
  expect(await findUser(app.key, `${name}2`)).toMatchObject({
    surname: '=Sum',
    username: `${name}.=sum`,
    status: 'Active',
    email: `${name}-${name}2@example.org`,
  });
  expect((await findUser(app.key, `${name}3`)).email).toBe(`new@${name}.example`);
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
  const run = await runImport(app.key, csv(...[header, ...rows].map((row) => row.join())), 'profile=moved');
  expect(countsOf(run)).toEqual({ created: 55, error: 5 });
  const failed = await readFailed(app.key, run.id);
  expect(failed).not.toContain('SECRET');
  for (const [row, cells] of [
    [5, ['x', 'n']],
    [6, ['a6', 'n']],
    [7, ['a7', 'u7']],
    [8, ['u8', 'm8']],
  ] as const)
    for (const cell of cells) expect(failed.split('\r\n')[row - 4]).toContain(cell);
});

const HEAD = ['_id', 'Vorname', 'Nachname', 'Login', 'E-Mail', 'Tel', 'Stand', 'Chef', 'Gehalt', 'Notiz'];
const PROFILE = {
  ...{ skip_lines: 2, skip_last_lines: 1, strip_prefix: '=', delimiter: ';', encoding: 'windows-1252' },
  columns: {
    ...{ _id: 'ExternalId', Vorname: 'ForeName', Nachname: 'Surname', Login: 'ignore', Tel: 'Phone' },
    ...{ Stand: 'Status', Chef: 'Manager', Gehalt: 'ignore' },
  },
  values: { Stand: { da: 'Active', weg: 'Blocked' } },
  set: { Username: '{Login:lower}', Email: '{E-Mail}', AboutMe: '{Vorname}: {Notiz}' },
};
const FAULTS: Record<string, number> = { '': 0, wrong: 4, '1.5E+12': 5, Current: 6, nobody: 7, extra: 10 };
const person = fc.record({
  names: fc.constantFrom(['Jörg', 'Müller; jr'], ['', '+Plus'], ['Ann "A"', "'Lee"], ['Zoë', '-']),
  status: fc.constantFrom('da', 'weg', ''),
  manager: fc.integer({ min: -3, max: 5 }),
  isKnown: fc.boolean(),
  fault: fc.constantFrom(...Object.keys(FAULTS), 'none', 'none', 'none', 'twin'),
});
const cases = fc.record({
  people: fc.array(person, { minLength: 2, maxLength: 7 }),
  sends: fc.constantFrom('', 'same profile', 'corrects'),
  delimiter: fc.constantFrom(';', ',', '\t'),
  bom: fc.constantFrom('', '\ufeff'),
});
let caseCount = 0;

test('failed.csv with corrected cells has the result of the correct file', async () => {
  await save('property', { ...PROFILE, dataset: 'property', part: 'p', missing: 'block' });
  const quote = (cells: string[], delimiter: string) =>
    cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter);
  const toFile = (rows: string[][]) =>
    Buffer.from(csv('Bericht', '', ...[HEAD, ...rows].map((row) => quote(row, ';')), 'Ende'), 'latin1');
  const importAll = async (file: string | Uint8Array, query: string): Promise<Json> => {
    const run = await runImport(app.key, file, query);
    if (run.state !== 'needs_approval') return run;
    return decide(app.key, run.id, 'apply');
  };
  const readUsers = async (prefix: string): Promise<Json[]> => {
    const { text } = await app.key.get('/users/export.csv?managed_by=property&all=true');
    const lines = text.split('\r\n').filter((line) => line.includes(prefix));
    return lines.map((line) => line.replaceAll(prefix, '')).sort();
  };
  await fc.assert(
    fc.asyncProperty(cases, async ({ people, sends, delimiter, bom }) => {
      const prefix = `c${++caseCount}`;
      const build = (half: string): string[][] =>
        people.map(({ names: [first = '', last = ''], status, manager }, i) => {
          const login = `${prefix}${half}${i}`;
          const chief = manager >= 0 && manager < i ? `${prefix}${half}${manager}` : '';
          return [login, first, last, login, `${login}@x.example`, '+49 1', status, chief, 'SECRET', 'a\n=b'];
        });
      const results = [];
      for (const half of ['x', 'y']) {
        const right = build(half);
        const earlier = right.filter((_, i) => people[i]?.isKnown).map((row) => row.with(5, '').with(7, ''));
        if (earlier.length > 0) await importAll(toFile(earlier), 'profile=property&missing=keep');
        const query = 'profile=property&missing=keep&blank_cells=keep';
        if (half === 'x') await importAll(toFile(right), query);
        else {
          const wrong = right.map((row, i) => {
            const { fault = '' } = people[i] ?? {};
            if (fault === 'twin') return row.with(3, right[(i + 1) % right.length]?.[3] ?? '');
            return fault in FAULTS ? row.toSpliced(FAULTS[fault] ?? 0, 1, fault) : row;
          });
          const run = await importAll(toFile([...wrong, [...(wrong[0] ?? [])]]), query);
          const failed = (await readFailed(app.key, run.id)).slice(1);
          expect(failed).not.toContain('SECRET');
          const format = { delimiter: ';', relax_column_count: true };
          const [head = [], ...rows]: string[][] = parse(failed, format);
          const lineOf = (row: string[]): number => Number(row[head.indexOf('_line')]);
          // Skip cases in which a wrong cell is valid: a username can repeat the username of a failed row.
          const lines = new Set(rows.map(lineOf));
          fc.pre(wrong.every((row, i) => row === right[i] || lines.has(i + 4)));
          const corrected = rows.map((row) => {
            const source = right[(lineOf(row) - 4) % right.length] ?? [];
            return head.map((name, i) =>
              HEAD.includes(name) ? (source[HEAD.indexOf(name)] ?? '') : (row[i] ?? ''),
            );
          });
          const file = bom + csv(...[head, ...corrected].map((row) => quote(row, delimiter)));
          const link = { '': '', 'same profile': 'profile=property', corrects: `corrects=${run.id}` }[sends];
          if (rows.length > 0) {
            const again = await importAll(file, link);
            expect([again.problems, again.corrects]).toEqual([[], run.id]);
          }
        }
        results.push(await readUsers(`${prefix}${half}`));
      }
      expect([results[0]?.length, results[1]]).toEqual([people.length, results[0]]);
    }),
    { numRuns: 30 },
  );
});

test('a correction is read with the words that the profile of its run has since gained', async () => {
  const profile = { columns: { ...COLUMNS, State: 'Status' } };
  await save('translated', profile);
  const file = csv('Nr,Login,Mail,State', 'tr1,tr1,tr1@example.org,Extern');
  const run = await runImport(app.key, file, 'profile=translated');
  expect(run.problems[0].message).toContain('translate this word in the values of the profile');
  await save('translated', { ...profile, dataset: 'other', values: { State: { Extern: 'Active' } } });
  const again = await runImport(app.key, await readFailed(app.key, run.id), `corrects=${run.id}`);
  expect([again.problems, again.options.dataset, countsOf(again)]).toEqual([
    [],
    'translated',
    { created: 1 },
  ]);
  // Another profile with the same name is not the profile of the run.
  await app.key.send('DELETE', '/import_profiles/translated');
  await save('translated', {
    ...profile,
    columns: { Number: 'ExternalId' },
    values: { State: { Extern: 'Active' } },
  });
  const last = await runImport(app.key, await readFailed(app.key, run.id), `corrects=${run.id}`);
  expect(last.problems).toHaveLength(1);
});
