import { expect, test } from '@jest/globals';
import {
  type Position,
  type KeyRange,
  decodeCursor,
  encodeCursor,
  sortPage,
} from '../../src/platform/database/keyset-pages.js';
import { createGroupOrder } from '../../src/groups/group-search.service.js';
import { buildUserOrder } from '../../src/users/search/search-plan.js';
import type { Sort } from '../../src/users/search/user.query.js';

const UUID = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10';
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const rangesOf = (sort: Sort): readonly KeyRange[] => buildUserOrder(sort, 'asc', 'score', 'many').ranges;
const decode = (text: string, sort: Sort = 'surname') => decodeCursor(text, [sort, 'asc'], rangesOf(sort));

test.each<[Sort, Position['key'], number]>([
  ['surname', 'doe', 0],
  ['surname', '', 1],
  ['firstname', 'ø 😀 "\\', 0],
  ['external_id', 'HR-1', 0],
  ['external_id', null, 1],
  ['relevance', 0, 0],
  ['relevance', 12, 0],
  ['updated', '2026-01-31 08:15:30.123', 0],
])('a page cursor for sort %s and key %j is decoded unchanged', (sort, key, range) => {
  const text = encodeCursor([sort, 'asc'], rangesOf(sort), { key, uuid: UUID });
  expect(text).toBe(encode([sort, 'asc', range, key, UUID]));
  expect(decode(text, sort)).toEqual({ key, uuid: UUID });
});

test.each<[Sort, unknown]>([
  ['surname', 5],
  ['surname', null],
  ['relevance', '5'],
  ['updated', 'abc'],
  ['surname', 'a\0b'],
  ['surname', '\ud800'],
  ['surname', 'x'.repeat(513)],
])('a page cursor for sort %s with forged key %j is refused', (sort, key) => {
  expect(decode(encode([sort, 'asc', 0, key, UUID]), sort)).toBeUndefined();
});

const PARTS = ['surname', 'asc', 0, 'doe', UUID];
test.each([
  ['another sort', encode(['firstname', ...PARTS.slice(1)])],
  ['another direction', encode(['surname', 'desc', ...PARTS.slice(2)])],
  ['an empty text', ''],
  ['invalid base64', '%%%'],
  ['invalid JSON', Buffer.from('not json').toString('base64url')],
  ['an object for a list', encode({ length: 5 })],
  ['a list that is too short', encode(PARTS.slice(0, 4))],
  ['a list that is too long', encode([...PARTS, 1])],
  ['an unknown range', encode(['surname', 'asc', 7, 'doe', UUID])],
  ['a key in the range without keys', encode(['surname', 'asc', 1, 'doe', UUID])],
  ['a missing uuid', encode(['surname', 'asc', 0, 'doe', null])],
  ['an invalid uuid of 36 characters', encode(['surname', 'asc', 0, 'doe', `\0${'x'.repeat(35)}`])],
])('a page cursor with %s is refused', (_, text) => {
  expect(decode(text)).toBeUndefined();
});

test.each([
  ['asc', 'last', ['a', 'b1', 'b2', 'none1', 'none2'], 1],
  ['desc', 'first', ['none2', 'none1', 'b2', 'b1', 'a'], 0],
] as const)('pages in %s order list rows without a sort key %s', (order, _, names, rangeOfNone) => {
  const keys: Record<string, string | null> = { a: 'a', b1: 'b', b2: 'b', none1: null, none2: null };
  const positionOf = (uuid: string): Position => ({ key: keys[uuid] ?? null, uuid });
  const walk: string[] = [];
  for (let after: Position | undefined, isFirst = true; isFirst || after; isFirst = false) {
    const { rows, last } = sortPage(['none2', 'b2', 'a', 'none1', 'b1'], positionOf, order, {
      after,
      offset: 0,
      limit: 2,
    });
    walk.push(...rows);
    after = last === undefined ? undefined : positionOf(last);
  }
  expect(walk).toEqual(names);
  const { ranges } = createGroupOrder('external_id', order);
  const list = ['', 'external_id', order];
  expect(encodeCursor(list, ranges, { key: null, uuid: UUID })).toBe(
    encode([...list, rangeOfNone, null, UUID]),
  );
});
