import { describe, expect, test } from '@jest/globals';
import { parseFilter } from '../../../src/scim/protocol/filter-parser.js';
import { USER, problemOf } from './resources.js';

const problemIn = (filter: string) => problemOf(() => parseFilter(filter, USER));

describe('an invalid SCIM filter', () => {
  test.each([
    ['', 1],
    ['   ', 4],
    ['userName', 9],
    ['userName eq', 12],
    ['userName xx "a"', 10],
    ['userName eq "a', 13],
    ['userName eq "a" and', 20],
    ['userName eq "a" userName eq "b"', 17],
    ['userName eq "a"and title pr', 16],
    ['userName eq"a"', 12],
    ['(userName eq "a"', 17],
    ['userName eq "a")', 16],
    ['userName eq (', 13],
    ['userName eq "\\x"', 13],
    ['userName eq "\\ud800"', 13],
    ['userName eq "a\tb"', 13],
    ['userName eq\u00a0"a"', 12],
    ['not userName eq "a"', 1],
    ['not', 1],
    ['and title pr', 1],
    ['emails[type eq "work"', 22],
    ['emails[]', 8],
    ['emails[type eq "work"] .value eq "x"', 24],
    ['emails[type eq "work"].nothing eq "x"', 23],
    ['emails[type[value eq "x"]]', 12],
    ['emails[emails eq "x"]', 8],
    ['emails.type[value eq "x"]', 12],
    ['colour eq "red"', 1],
    ['title pr and name.colour eq "red"', 14],
    ['employeeNumber eq "1"', 1],
    ['name eq "x"', 6],
    ['addresses co "x"', 11],
    ['active gt true', 8],
    ['active co "t"', 8],
    ['active eq "yes"', 11],
    ['title gt null', 10],
    ['meta.created gt "yesterday"', 17],
    ['meta.created gt "2026-13-01"', 17],
    ['meta.created co "2026"', 14],
    ['x509Certificates gt "a"', 18],
    ['password eq "secret"', 10],
    ['password pr', 10],
    ['__proto__ pr', 1],
    ['name.__proto__ pr', 1],
    ['emails[constructor pr]', 8],
  ])('%j is refused at position %d', (filter, position) => {
    const { code, detail } = problemIn(filter);
    expect(code).toBe('invalid_filter');
    expect(detail).toMatch(new RegExp(`^At position ${position} of the filter: `));
  });
});

describe('a SCIM filter', () => {
  const conditions = (count: number) => Array.from({ length: count }, () => 'title pr').join(' and ');
  const levels = (depth: number) => `${'('.repeat(depth)}title pr${')'.repeat(depth)}`;
  const long = (length: number) => `title eq "${'x'.repeat(length - 11)}"`;

  test('may have at most 20 comparisons', () => {
    expect(parseFilter(conditions(20), USER)).toBeDefined();
    expect(problemIn(conditions(21)).detail).toMatch(/20 comparisons/);
  });
  test('may have at most 10 nested levels', () => {
    expect(parseFilter(levels(10), USER)).toBeDefined();
    expect(problemIn(levels(11)).detail).toMatch(/position 11 .*10 levels/);
    expect(problemIn(`not (${levels(10)})`).detail).toMatch(/10 levels/);
    expect(problemIn('('.repeat(2000)).detail).toMatch(/10 levels/);
    expect(parseFilter(conditions(4).replaceAll('title pr', levels(8)), USER)).toBeDefined();
  });
  test('may have at most 2,048 characters', () => {
    expect(parseFilter(long(2048), USER)).toBeDefined();
    expect(problemIn(long(2049)).detail).toMatch(/position 2049 .*2048 characters/);
  });
});

test('a parsed SCIM filter replaces emails by emails.value', () => {
  const attribute = USER.findAttribute('emails');
  const path = { attribute, sub: attribute?.findSub('value') };
  expect(parseFilter('EMAILS eq "X"', USER)).toEqual({ kind: 'compare', path, op: 'eq', value: 'X' });
  const created = parseFilter('meta.created lt "2026-01-01T01:00:00+01:00"', USER);
  expect(created).toMatchObject({ op: 'lt', value: '2026-01-01T00:00:00.000Z' });
});

test('a SCIM filter decodes escapes like JSON', () => {
  expect(parseFilter('title eq "a\\\\b\\u0041\\/\\"\\n"', USER)).toMatchObject({ value: 'a\\bA/"\n' });
});
