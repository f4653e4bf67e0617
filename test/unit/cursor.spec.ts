import { expect, test } from '@jest/globals';
import { type Cursor, decodeCursor, encodeCursor } from '../../src/users/search/cursor.js';

const CURSOR: Cursor = {
  sort: 'surname',
  order: 'asc',
  segment: 0,
  key: 'doe',
  uuid: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10',
};
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const PARTS = ['surname', 'asc', 0, 'doe', CURSOR.uuid];
const refused = expect.objectContaining({ code: 'invalid_parameter' }) as unknown;

function decode(text: string, sort: Cursor['sort'] = 'surname'): unknown {
  try {
    return decodeCursor(text, sort, 'asc');
  } catch (error) {
    return error;
  }
}

test.each<[Cursor['sort'], Cursor['key']]>([
  ['surname', 'doe'],
  ['surname', ''],
  ['firstname', 'ø 😀 "\\'],
  ['external_id', null],
  ['relevance', 0],
  ['relevance', 12],
  ['updated', '2026-01-31 08:15:30.123'],
])('a cursor of %s with the key %j comes back as it was', (sort, key) => {
  const cursor = { ...CURSOR, sort, key };
  const text = encodeCursor(cursor);
  expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(decodeCursor(text, sort, 'asc')).toEqual(cursor);
});

test.each<[Cursor['sort'], unknown]>([
  ['surname', 5],
  ['surname', null],
  ['relevance', '5'],
  ['updated', 'abc'],
  ['created', 7],
  ['surname', 'a\0b'],
  ['surname', '\ud800'],
])('a forged key of %s is refused: %j', (sort, key) => {
  expect(decode(encoded([sort, 'asc', 0, key, CURSOR.uuid]), sort)).toEqual(refused);
});

test.each<[string, Partial<Cursor>]>([
  ['another sort', { sort: 'firstname' }],
  ['another order', { order: 'desc' }],
])('a cursor of %s is refused', (_, other) => {
  expect(decode(encodeCursor({ ...CURSOR, ...other }))).toEqual(refused);
});

test.each([
  ['nothing', ''],
  ['no base64', '%%%'],
  ['no JSON', Buffer.from('not json').toString('base64url')],
  ['no list', encoded({ length: 5 })],
  ['too short a list', encoded(PARTS.slice(0, 4))],
  ['too long a list', encoded([...PARTS, 1])],
  ['an unknown segment', encoded(['surname', 'asc', 7, 'doe', CURSOR.uuid])],
  ['an object as key', encoded(['surname', 'asc', 0, {}, CURSOR.uuid])],
  ['a boolean as key', encoded(['surname', 'asc', 0, true, CURSOR.uuid])],
  ['a key without end', encoded(['surname', 'asc', 0, 'x'.repeat(513), CURSOR.uuid])],
  ['no uuid', encoded(['surname', 'asc', 0, 'doe', null])],
  ['a short uuid', encoded(['surname', 'asc', 0, 'doe', 'abc'])],
  ['36 characters that are no uuid', encoded(['surname', 'asc', 0, 'doe', `\0${'x'.repeat(35)}`])],
])('a cursor that holds %s is refused', (_, text) => {
  expect(decode(text)).toEqual(refused);
});
