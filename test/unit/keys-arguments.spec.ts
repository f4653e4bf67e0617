import { afterEach, expect, jest, test } from '@jest/globals';
import { parseExpiry, parseKeyName } from '../../src/cli/keys.command.js';
import { toMillis } from '../../src/platform/common/time.js';

const DAY = 24 * 60 * 60 * 1000;
afterEach(() => void jest.useRealTimers());

/** Names follow the rules of the API. `cli-keys` tests a name that is normalized. */
test.each(['', ' \u00a0'])('the API key name %j is refused', (name) => {
  expect(() => parseKeyName(name)).toThrow('must not be empty');
});

test('the API key expiry "90d" means 90 days from now', () => {
  const before = Date.now();
  const expires = toMillis(parseExpiry('90d'));
  expect(expires).toBeGreaterThanOrEqual(before + 90 * DAY);
  expect(expires).toBeLessThanOrEqual(Date.now() + 90 * DAY);
});

test('the expiry date of an API key must be after today', () => {
  jest.useFakeTimers({ now: Date.parse('2026-02-28T23:59:59.999Z') });
  expect(() => parseExpiry('2026-02-28')).toThrow('Pass a future date');
  expect(parseExpiry('2026-03-01')).toBe('2026-03-01 00:00:00.000');
});

test.each([
  '2001-01-01',
  '2095-02-29', // no such day
  '2096-13-01',
  '2096-1-1',
  'tomorrow',
  '0d',
  '00d',
  '-1d',
  '1.5d',
  '100000d',
  '90',
  '',
])('the API key expiry %j is refused', (text) => {
  expect(() => parseExpiry(text)).toThrow('Pass a future date');
});
