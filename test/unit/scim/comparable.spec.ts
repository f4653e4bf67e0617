import { expect, test } from '@jest/globals';
import { buildMatcher } from '../../../src/scim/protocol/filter.js';
import type { ScimObject } from '../../../src/scim/protocol/attribute.js';
import { parseFilter, parsePath } from '../../../src/scim/protocol/filter-parser.js';
import { readPatch } from '../../../src/scim/protocol/patch.js';
import { GROUP, USER, problemOf } from './resources.js';

const matches = (filter: string, resource: ScimObject) => buildMatcher(parseFilter(filter, USER))(resource);

test.each([
  ['ignores case as Unicode does', 'title eq "STRASSE"', { title: 'Straße' }, true],
  ['treats composed and decomposed letters as equal', 'title eq "\u00e9"', { title: 'e\u0301' }, true],
  ['orders texts by code point', 'title gt "\uffff"', { title: '\u{1F600}' }, true],
  ['finds no text in a value of another type', 'title co "undefined"', { title: true }, false],
  ['treats an empty text as absent', 'title pr', { title: '' }, false],
  ['treats an empty object as absent', 'name pr', { name: {} }, false],
  ['accepts line endings between words', 'title\r\neq\n"x"', { title: 'x' }, true],
])('a SCIM filter %s', (_case, filter, resource, expected) => {
  expect(matches(filter, resource)).toBe(expected);
});

test.each([
  ['userName NE "x"', { kind: 'not', filter: { kind: 'none' } }],
  ['userName Eq "x"', { kind: 'none' }],
])('a SCIM group filter ignores the case of an operator: %s', (filter, expected) => {
  expect(parseFilter(filter, GROUP, [USER])).toEqual(expected);
});

test('a SCIM filter ignores blanks around an external id', () => {
  expect(matches('externalId eq " Ext-1 "', { externalId: 'Ext-1' })).toBe(true);
});

test('a SCIM PATCH path may have 2,048 characters', () => {
  const long = `emails[value eq "${'x'.repeat(2048 - 'emails[value eq ""]'.length)}"]`;
  expect(parsePath(long, USER)).toMatchObject({ kind: 'attribute' });
  expect(parsePath(' title ', USER)).toMatchObject({ attribute: { name: 'title' } });
  expect(problemOf(() => parsePath('emails[value eq "x"].type more', USER)).code).toBe('invalid_path');
});

test('a SCIM PATCH may have 1,000 operations', async () => {
  const body = Array.from({ length: 1000 }, () => ({ op: 'remove', path: 'title' }));
  const options = { resource: USER, ignoreUnknown: false, countDeviation: () => undefined };
  expect(await readPatch(body, options)).toHaveLength(1000);
});
