import { expect, test } from '@jest/globals';
import { EntityTags } from '../../src/platform/http/entity-tags.js';
import { USER_ETAG, userEtagOf } from '../../src/users/user.view.js';
import { createEmptyUser } from '../../src/users/rules/user-rules.js';

const USER = {
  ...createEmptyUser('00000000-0000-4000-8000-000000000001', '2026-01-01 00:00:00.000'),
  version: 7,
};

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
