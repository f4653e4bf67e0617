import { afterEach, expect, jest, test } from '@jest/globals';
import { parseExpiry, parseName } from '../../src/cli/keys.command.js';
import { toMillis } from '../../src/common/time.js';

const DAY = 24 * 60 * 60 * 1000;
afterEach(() => void jest.useRealTimers());

test.each([
  ['a', 'a'],
  ['  HR \u00a0 system ', 'HR system'],
  ['e\u0301', '\u00e9'],
  ['😀'.repeat(255), '😀'.repeat(255)],
])('the name %j is kept as one line of text', (text, kept) => {
  expect(parseName(text)).toBe(kept);
});

test.each([
  ['', 'may not be empty'],
  [' \u00a0', 'may not be empty'],
  ['a\nb', 'control characters'],
  ['a\u001b[31mb', 'control characters'],
  ['a\ud800', 'broken Unicode'],
  ['a'.repeat(256), 'at most 255 characters'],
  ['😀'.repeat(256), 'at most 255 characters'],
])('the name %j is refused', (name, message) => {
  expect(() => parseName(name)).toThrow(message);
});

test.each([
  ['1d', 1],
  ['90d', 90],
])('%s is that many days from now', (text, days) => {
  const before = Date.now();
  const expires = toMillis(parseExpiry(text));
  expect(expires).toBeGreaterThanOrEqual(before + days * DAY);
  expect(expires).toBeLessThanOrEqual(Date.now() + days * DAY);
});

test.each(['2095-12-31', '2096-02-29'])('%s is the beginning of that day in UTC', (text) => {
  expect(parseExpiry(text)).toBe(`${text} 00:00:00.000`);
});

test('today has begun, tomorrow has not', () => {
  jest.useFakeTimers({ now: Date.parse('2026-02-28T23:59:59.999Z') });
  expect(() => parseExpiry('2026-02-28')).toThrow('must be a future date');
  expect(parseExpiry('2026-03-01')).toBe('2026-03-01 00:00:00.000');
});

test.each([
  '2001-01-01',
  '2095-02-29', // no such day
  '2096-13-01',
  '2096-1-1',
  '2096-01-01T00:00:00Z',
  'tomorrow',
  '0d',
  '00d',
  '-1d',
  '1.5d',
  '100000d',
  '90',
  '',
])('the end %j is refused', (text) => {
  expect(() => parseExpiry(text)).toThrow('must be a future date');
});
