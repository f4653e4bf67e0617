import { expect, test } from '@jest/globals';
import { EntityTags } from '../../src/platform/http/entity-tags.js';
import { USER_ETAG, userEtagOf } from '../../src/users/user.view.js';
import { createEmptyUser } from '../../src/users/rules/user-rules.js';

const USER = {
  ...createEmptyUser('00000000-0000-4000-8000-000000000001', '2026-01-01 00:00:00.000'),
  version: 7,
};

const USERS = { tagOf: (tags: EntityTags) => userEtagOf(USER, 'full', tags), pattern: USER_ETAG };
const RESOURCES = { tagOf: (tags: EntityTags) => tags.weakTagOf(USER), pattern: undefined };

/** `users/etag` tests ETags over HTTP. */
test('the user ETag for a colleague does not depend on last_access', () => {
  const tags = new EntityTags(0);
  const seen = { ...USER, last_access: '2026-01-02 00:00:00.000' };
  expect(userEtagOf(seen, 'colleague', tags)).toBe(userEtagOf(USER, 'colleague', tags));
});

test.each([
  [' * ', 'any version', undefined],
  ['', 'no version', []],
])('the If-Match header %j allows %s', (header, _, versions) => {
  expect(new EntityTags(0).parseIfMatch(header, USER_ETAG)).toEqual(versions);
});

test.each([
  [0, '"7.0.full"', 'W/"7"'],
  [1, '"7-1.0.full"', 'W/"7-1"'],
  [12, '"7-12.0.full"', 'W/"7-12"'],
])('ETags of epoch %i are accepted only in this epoch', (epoch, userTag, weakTag) => {
  const own = new EntityTags(epoch);
  expect([USERS.tagOf(own), RESOURCES.tagOf(own)]).toEqual([userTag, weakTag]);
  for (const { tagOf, pattern } of [USERS, RESOURCES]) {
    for (const other of [0, 1, 2, 12]) {
      const tag = tagOf(new EntityTags(other));
      expect(own.parseIfMatch(`"x", ${tag}`, pattern)).toEqual(other === epoch ? [7] : []);
      expect(own.includesVersion(tag, 7)).toBe(other === epoch && pattern === undefined);
    }
  }
});

test.each(['W/"7-"', 'W/"7-0"', 'W/"7-01"', 'W/"7--1"', 'W/"7-1-1"', '"7-1', '"7.1"'])(
  'the ETag %s is not a version of epoch 1',
  (tag) => {
    expect(new EntityTags(1).parseIfMatch(tag)).toEqual([]);
  },
);
