import { expect, test } from '@jest/globals';
import { buildMatcher } from '../../../src/scim/protocol/filter.js';
import type { ScimObject } from '../../../src/scim/protocol/attribute.js';
import { parseFilter, parsePath } from '../../../src/scim/protocol/filter-parser.js';
import { readPatch } from '../../../src/scim/protocol/patch.js';
import { GROUP, USER, problemOf } from './resources.js';

const holds = (filter: string, resource: ScimObject) => buildMatcher(parseFilter(filter, USER))(resource);

test.each([
  ['texts fold their case as Unicode does', 'title eq "STRASSE"', { title: 'Straße' }, true],
  ['composed and decomposed letters are one', 'title eq "\u00e9"', { title: 'e\u0301' }, true],
  ['the order is that of code points', 'title gt "\uffff"', { title: '\u{1F600}' }, true],
  ['a value of another type contains no text', 'title co "undefined"', { title: true }, false],
  ['an empty text is not present', 'title pr', { title: '' }, false],
  ['an empty object is not present', 'name pr', { name: {} }, false],
  ['lines may be broken between words', 'title\r\neq\n"x"', { title: 'x' }, true],
])('%s', (_what, filter, resource, expected) => {
  expect(holds(filter, resource)).toBe(expected);
});

test.each([
  ['userName NE "x"', { kind: 'not', filter: { kind: 'none' } }],
  ['userName Eq "x"', { kind: 'none' }],
])('an operator on an attribute of other types is read in any case: %s', (filter, expected) => {
  expect(parseFilter(filter, GROUP, [USER])).toEqual(expected);
});

test('blanks around an external id do not count', () => {
  expect(holds('externalId eq " Ext-1 "', { externalId: 'Ext-1' })).toBe(true);
});

test('a path may have blanks around it and 2,048 characters, and nothing behind its end', () => {
  const long = `emails[value eq "${'x'.repeat(2048 - 'emails[value eq ""]'.length)}"]`;
  expect(parsePath(long, USER)).toMatchObject({ kind: 'attribute' });
  expect(parsePath(' title ', USER)).toMatchObject({ attribute: { name: 'title' } });
  const behind = problemOf(() => parsePath('emails[value eq "x"].type more', USER));
  expect(behind.code).toBe('invalid_path');
});

test('a PATCH may have 1,000 operations', () => {
  const body = Array.from({ length: 1000 }, () => ({ op: 'remove', path: 'title' }));
  const options = { resource: USER, ignoreUnknown: false, deviation: () => undefined };
  expect(readPatch(body, options)).toHaveLength(1000);
});
