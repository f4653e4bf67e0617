import { afterEach, expect, jest, test } from '@jest/globals';
import { isoNow, now } from '../../src/platform/common/time.js';
import { ALL_BUT_DATE } from '../support/app/clock.js';

afterEach(() => void jest.useRealTimers());

test.each([
  '2026-01-31T23:59:59.999Z',
  '2026-02-01T00:00:00.000Z', // the next second
  '2026-02-01T00:00:00.007Z', // the same second
  '2026-01-31T23:59:59.070Z', // the clock was set back
])('now() and isoNow() return the time of the system clock: %s', (time) => {
  jest.useFakeTimers({ now: new Date(time), doNotFake: ALL_BUT_DATE });
  expect(isoNow()).toBe(time);
  expect(now()).toBe(time.replace('T', ' ').replace('Z', ''));
});
