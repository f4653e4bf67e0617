import { describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import {
  codesOf,
  countsOf,
  csv,
  expectRun,
  findUser,
  readFailed,
  runImport,
} from '../support/app/imports.js';

/** Rows with a wrong number of cells, and truncated files. Every test has its own data set. */
const app = setUpApp();
let n = 0;

const HEAD = 'ExternalId,Username,Email,Phone,Surname';
/** Returns rows of a new data set, with functions that use it. */
function people(count: number) {
  const dataset = `cells${++n}`;
  const row = (i: number, phone = '1') =>
    `${dataset}-${i},${dataset}-${i},${dataset}-${i}@example.org,${phone},Lee`;
  const rows = Array.from({ length: count }, (_, i) => row(i));
  const run = (file: string, options = '') => runImport(app.key, file, `dataset=${dataset}${options}`);
  return { dataset, row, rows, run, id: (i: number) => `${dataset}-${i}` };
}
const statesOf = async (ids: string[]) =>
  Promise.all(ids.map(async (id) => (await findUser(app.key, id)).status));

describe('a row with a wrong cell count', () => {
  test('does not make the user missing', async () => {
    const { rows, run, row, id } = people(20);
    await run(csv(HEAD, ...rows));
    const cut = `${id(3)},${id(3)},`;
    const shifted = `Smith, ${row(4, '2')}`; // an unquoted comma in front
    const wide = `${row(5, '2')},more`;
    const file = csv(HEAD, ...rows.slice(0, 3), cut, shifted, wide, ...rows.slice(6));
    const after = await run(file, '&missing=block');
    const none = { reported: 0, blocked: 0 };
    expectRun(after, 'completed_with_errors', { unchanged: 17, error: 3 }, none);
    expect(after.problems).toMatchObject([5, 6, 7].map((line) => ({ line, code: 'wrong_cell_count' })));
    expect(after.problems[0].message).toMatch(/^has 3 cells, but the header has 5; /);
    expect(await statesOf([id(3), id(4), id(5)])).toEqual(['Active', 'Active', 'Active']);
    expect((await findUser(app.key, id(5))).phone).toBe('1');
  });

  test('makes no other row a duplicate', async () => {
    const { rows, run, id } = people(3);
    const others = [`${rows[0]},`, `${id(0)},x`, `${rows[1]},nobody`, `nobody,x,x`, `${rows[2]},`];
    const after = await run(csv(`${HEAD},Manager`, ...others));
    expect(countsOf(after)).toEqual({ created: 2, error: 3 });
    expect(after.problems).toMatchObject([
      { line: 3, code: 'wrong_cell_count' },
      { line: 4, code: 'unknown_reference' },
      { line: 5, code: 'wrong_cell_count' },
    ]);
  });

  test('is written unchanged to failed.csv', async () => {
    const { rows, run, id } = people(2);
    const short = `${id(7)},seven,${id(7)}@example.org`;
    const long = `${id(8)},eight,${id(8)}@example.org,1,Lee, Jr`;
    const note = 'correct the cells of this row, then remove this cell';
    const first = await run(csv(HEAD, rows[0] ?? '', short, long, rows[1] ?? ''));
    const failed = await readFailed(app.key, first.id);
    const lines = failed.split('\r\n');
    expect(lines[0]).toBe(`\ufeff${HEAD},_run,_line,_code,_message`);
    expect(lines[1]).toMatch(new RegExp(`^${short},,,[0-9a-f-]{36},3,wrong_cell_count,".*",".*${note}"$`));
    expect(lines[2]).toMatch(new RegExp(`^${long.replace(', Jr', '')},[0-9a-f-]{36},4,wrong_cell_count,`));
    expect(lines[2]?.endsWith(`," Jr","${note}"`)).toBe(true);
    // Once unchanged, and once as a spreadsheet saves it, with all lines padded to the longest line.
    const width = 5 + 4 + 2;
    const filled = lines
      .slice(0, 3)
      .map((line, index) => line + ','.repeat(width - (index === 0 ? 9 : index === 1 ? 10 : 11)));
    for (const again of [failed, csv(...filled)]) {
      const run2 = await run(again);
      expect(codesOf(run2)).toEqual(['wrong_cell_count', 'wrong_cell_count']);
      expect(run2.state).toBe('completed_with_errors');
      const [, line] = (await readFailed(app.key, run2.id)).split('\r\n');
      expect(line?.split(',').length).toBe(lines[1]?.split(',').length);
    }
    const corrected = failed
      .replace(`," Jr","${note}"`, '')
      .replace(`,"${note}"`, '')
      .replace(/Lee,([^,]+,4)/, '"Lee, Jr",$1');
    expect(countsOf(await run(corrected))).toEqual({ created: 2 });
    expect((await findUser(app.key, id(8))).surname).toBe('Lee, Jr');
  });
});

describe('a missing final newline', () => {
  test('fails an import after a file with a newline', async () => {
    const { rows, run } = people(9);
    const file = csv(HEAD, ...rows);
    await run(file);
    const after = await run(file.slice(0, -3));
    expect(after).toMatchObject({ state: 'failed', problems: [{ code: 'cut_short' }] });
    expect(countsOf(await run(file))).toEqual({ unchanged: 9 });
  });
  test('is accepted if the last completed file lacked it', async () => {
    const { rows, run } = people(9);
    const file = csv(HEAD, ...rows);
    expect((await run(file.trimEnd())).state).toBe('completed');
    await run(file, '&dry_run=true');
    expect((await run(file, '&expected_rows=1')).state).toBe('failed');
    expect((await run(file.trimEnd())).state).toBe('completed');
    expect((await run(file)).state).toBe('completed');
    expect((await run(file.trimEnd())).problems[0]?.code).toBe('cut_short');
  });
  test('is accepted regardless of other data sets', async () => {
    const [a, b] = [people(3), people(3)];
    await a.run(csv(HEAD, ...a.rows));
    expect((await b.run(csv(HEAD, ...b.rows).trimEnd())).state).toBe('completed');
  });
});

test('the import option delimiter overrides the detected delimiter', async () => {
  const text = csv('ExternalId;Username;Email', 'f1;f1;f1@example.org');
  const run = await runImport(app.key, text, 'delimiter=,');
  expect([run.state, codesOf(run)]).toEqual(['failed', ['missing_column', 'unknown_column']]);
});
