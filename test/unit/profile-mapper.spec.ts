import { describe, expect, test } from '@jest/globals';
import { unescapeFormula } from '../../src/platform/common/csv.js';
import { combineStatuses, RecordMapper } from '../../src/import/mapping/record-mapper.js';
import { FUNCTION_NAMES } from '../../src/import/mapping/template-functions.js';
import { StatusDates } from '../../src/import/mapping/status-dates.js';
import { isDateFormat } from '../../src/import/runs/import-profile.js';
import { matchesPattern } from '../../src/import/runs/import-options.js';
import { isPasswordHeader } from '../../src/import/file/columns.js';
import { isLinear } from '../support/data/growth.js';

const STRICT = { ignore_unknown_columns: false, today: '2026-11-27' };
const CELLS = ['', ' ', '=1', "'=1", "''=1", "'", "'a", '+44', "'+44", 'a', '-', '\tx', '@a', 'x\ny'];

describe('a mapped cell', () => {
  test('is copied unchanged without a template', () => {
    const { mapCells: cells } = new RecordMapper(
      { name: 'p', columns: { a: 'ExternalId', b: 'KnownAs' } },
      ['b', 'a'],
      STRICT,
    );
    for (const cell of CELLS) expect(cells([cell, '1'])).toEqual(['1', cell]);
  });

  test('loses only the prefix that strip_prefix names', () => {
    const { mapCells: cells } = new RecordMapper(
      { name: 'p', strip_prefix: "'", columns: { a: 'ExternalId' } },
      ["'a"],
      STRICT,
    );
    for (const cell of CELLS) expect(unescapeFormula(cells([`'${cell}`])[0] ?? '')).toBe(cell);
  });

  test('is inserted into a template unchanged unless blank', () => {
    const profile = { name: 'p', columns: {}, set: { ExternalId: '{a}' } };
    const { mapCells: cells } = new RecordMapper(profile, ['a'], STRICT);
    for (const cell of CELLS) {
      expect(unescapeFormula(cells([cell])[0] ?? '')).toBe(cell.trim() === '' ? '' : unescapeFormula(cell));
    }
  });
});

describe('an unknown template function', () => {
  const faultsOf = (text: string, header: string[]) =>
    new RecordMapper(
      { name: 'p', columns: { id: 'ExternalId' }, set: { Surname: text } },
      ['id', ...header],
      { ...STRICT, ignore_unknown_columns: true },
    ).errors.map(({ message }) => message);
  const refusalFor = (columns: string, name: string) =>
    `The file has no column ${columns}, from which the profile p builds Surname. "${name}" is not a function. ` +
    `The functions are ${FUNCTION_NAMES}.`;

  test.each([
    ['{F:reverse}', '"F:reverse"', 'reverse'],
    ['{F:lower:reverse}', '"F:lower:reverse"', 'reverse'],
    ['{ F : reverse }', '"F : reverse"', 'reverse'],
    ['x{G}.{F:camel}', '"F:camel"', 'camel'],
    ['{None|F:reverse}', '"None" or "F:reverse"', 'reverse'],
  ])('in %j is named in the error', (text, columns, name) => {
    expect(faultsOf(text, ['F', 'G'])).toEqual([refusalFor(columns, name)]);
  });

  test.each([
    ['{F:reverse}', ['F:reverse']],
    ['{F:reverse}', ['F', 'F:reverse']],
    ['{urn:ietf:name}', ['urn:ietf:name']],
    ['{F:work|F}', ['F']],
  ])('in %j is accepted if the header %j matches', (text, header) => {
    expect(faultsOf(text, header)).toEqual([]);
  });

  test('is not named if the column is missing', () => {
    expect(faultsOf('{F:reverse}', ['G'])).toEqual([
      'The file has no column "F:reverse", from which the profile p builds Surname.',
    ]);
  });
});

test.each([
  ['YYYY-MM-DD', '2026-11-27', '2026-11-27', 'Active'],
  ['YYYY-MM-DD', '', '2026-11-26', 'Blocked'],
  ['DD.MM.YYYY', '28.11.2026', '', 'Blocked'],
  ['D.M.YYYY', ' 1.9.2026 ', '31.12.9999', 'Active'],
  ['MM/DD/YYYY', '11/27/2026', '12/01/2026', 'Active'],
  ['yyyymmdd', '20260901', '20261126', 'Blocked'],
  ['DD.MM.YYYY', '', '', 'Active'],
  ['DD.MM.YYYY', '1.9.2026', '', '1.9.2026'],
  ['DD.MM.YYYY', '', '31.02.2027', '31.02.2027'],
  ['YYYY-MM-DD', '0000-00-00', '', '0000-00-00'],
])(
  'in the format %s, the dates from %j until %j evaluate to %s on 2026-11-27',
  (date_format, from, until, expected) => {
    expect(isDateFormat(date_format)).toBe(true);
    expect(new StatusDates({ date_format }, STRICT.today).evaluate(from, until)).toBe(expected);
  },
);

test.each([
  [['Active', 'Blocked'], 'Blocked'],
  [['blocked', 'Active'], 'blocked'],
  [['', ' '], ''],
  [['', 'Active'], 'Active'],
  [['Active', 'on leave'], 'on leave'],
  [['on leave', 'BLOCKED'], 'BLOCKED'],
])('the cells %j of several status columns are combined to %j', (cells, expected) => {
  expect(combineStatuses(cells)).toBe(expected);
});

test.each([
  ['*.csv', 'a.CSV'],
  ['hr-*.csv', 'hr-.csv'],
  ['hr-??.csv', 'hr-12.csv'],
  ['*a*b*', 'xxaxxbxx'],
  ['', ''],
  ['ü?*', 'Üx'],
])('the file name pattern %j matches %j', (pattern, name) => {
  expect(matchesPattern(pattern, name)).toBe(true);
});

test.each([
  ['hr-*.csv', 'xhr-1.csv'],
  ['hr-??.csv', 'hr-123.csv'],
  ['*a*b*', 'xxbxxaxx'],
  ['a.c', 'abc'],
])('the file name pattern %j does not match %j', (pattern, name) => {
  expect(matchesPattern(pattern, name)).toBe(false);
});

test('a file name pattern with many stars is matched in linear time', () => {
  const pattern = `${'*a'.repeat(120)}b`;
  expect(matchesPattern(pattern, 'a'.repeat(250))).toBe(false);
  const createMatch = (length: number) => () => matchesPattern(pattern, 'a'.repeat(length));
  expect(isLinear(64_000, createMatch)).toBe(true);
});

test('a column name that suggests a password is detected', () => {
  for (const name of [
    'Password',
    'ssha_password',
    'Password Hash Function [UPLOAD ONLY]',
    'Initial PassWd',
    'Kennwort',
    'mot de passe',
  ])
    expect([name, isPasswordHeader(name)]).toEqual([name, true]);
  for (const name of ['Passport number', 'Email', 'Compass', 'Bypass', 'Shashi'.slice(0, 2)])
    expect([name, isPasswordHeader(name)]).toEqual([name, false]);
});
