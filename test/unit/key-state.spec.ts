import { expect, test } from '@jest/globals';
import { stateOf } from '../../src/api-keys/api-key.repository.js';
import { toDbTime } from '../../src/platform/common/time.js';

test('an API key expires exactly at the expiry time', () => {
  const expires = Date.parse('2026-01-31T08:15:30.123Z');
  const stateAt = (millis: number) =>
    stateOf({ revoked: null, expires: toDbTime(new Date(expires)) }, toDbTime(new Date(millis)));
  expect([expires - 1, expires, expires + 1].map(stateAt)).toEqual(['active', 'expired', 'expired']);
});
