import { expect, test } from '@jest/globals';
import { etagOf, isNotModified, versionsIn } from '../../src/users/user.view.js';
import { newUser } from '../../src/users/input/user-rules.js';

const USER = { ...newUser('00000000-0000-4000-8000-000000000001', '2026-01-01 00:00:00.000'), version: 7 };

test('a tag is strong and quoted', () => {
  expect(etagOf(USER, 'self')).toMatch(/^"[\x21\x23-\x7e]+"$/);
});

test('a tag changes with the version, the reader and what the reader sees of last_access', () => {
  const seen = { ...USER, last_access: '2026-01-02 00:00:00.000' };
  const tags = [
    etagOf(USER, 'self'),
    etagOf(USER, 'colleague'),
    etagOf({ ...USER, version: 8 }, 'self'),
    etagOf(seen, 'self'),
  ];
  expect(new Set(tags).size).toBe(tags.length);
  expect(etagOf(seen, 'colleague')).toBe(etagOf(USER, 'colleague'));
});

test('the tag of a representation allows a change of its version', () => {
  expect(versionsIn(etagOf(USER, 'self'))).toEqual([7]);
});

test.each([
  [undefined, undefined],
  ['*', undefined],
  [' * ', undefined],
  ['"7.0.self"', [7]],
  ['"7.0.self", "9.20260101.colleague"', [7, 9]],
  ['W/"7.0.self"', []], // If-Match compares strongly
  ['"abc"', []],
  ['7', []],
  ['', []],
])('If-Match %j allows the versions %j', (header, versions) => {
  expect(versionsIn(header)).toEqual(versions);
});

test.each([
  [undefined, false],
  ['"7.0.self"', true],
  ['W/"7.0.self"', true],
  ['"x", "7.0.self"', true],
  ['*', true],
  ['"8.0.self"', false],
  ['7.0.self', false],
  ['', false],
])('If-None-Match %j knows the representation: %s', (header, known) => {
  expect(isNotModified(header, '"7.0.self"')).toBe(known);
});
