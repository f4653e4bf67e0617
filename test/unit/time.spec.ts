import { afterEach, expect, jest, test } from '@jest/globals';
import { now } from '../../src/platform/common/time.js';
import { ALL_BUT_DATE } from '../support/app/clock.js';

afterEach(() => void jest.useRealTimers());

test('now() returns the time of the system clock with milliseconds', () => {
  jest.useFakeTimers({ now: new Date('2026-01-31T23:59:59.070Z'), doNotFake: ALL_BUT_DATE });
  expect(now()).toBe('2026-01-31 23:59:59.070');
});
