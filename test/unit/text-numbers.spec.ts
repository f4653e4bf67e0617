import { expect, test } from '@jest/globals';
import { TextNumbers, computeHash64 } from '../../src/users/set-rules/number-collections.js';

test('texts are numbered in the order of first use', () => {
  const texts = new TextNumbers();
  expect(['a', ''].map((text) => texts.findNumber(text))).toEqual([0, 0]);
  expect(texts.last).toBe(0);
  expect(['a', 'b', 'a', '', 'b'].map((text) => texts.assignNumber(text))).toEqual([1, 2, 1, 3, 2]);
  expect(['a', 'b', '', 'c'].map((text) => texts.findNumber(text))).toEqual([1, 2, 3, 0]);
  expect(texts.last).toBe(3);
});

test('similar texts get different numbers', () => {
  const texts = new TextNumbers();
  const keys = ['a', 'A', 'a ', 'á', 'a\u0301', 'ab', 'ba', 'a\0', '😀', '\ud83d'];
  const numbers = keys.map((_, index) => index + 1);
  expect(keys.map((key) => texts.assignNumber(key))).toEqual(numbers);
  expect(keys.map((key) => texts.findNumber(key))).toEqual(numbers);
});

/** Forms of real keys: numbers with leading zeros, addresses, consecutive uuids, non-Latin letters. */
test.each<[string, (n: number) => string]>([
  ['numbers', (n) => String(n)],
  ['padded numbers', (n) => `HR-${String(n).padStart(8, '0')}`],
  ['email addresses', (n) => `login:first.last${n}@example.org`],
  ['uuids', (n) => `0198c0de-0000-7000-8000-${n.toString(16).padStart(12, '0')}`],
  [
    'Chinese letters',
    (n) => String.fromCodePoint(0x4e00 + (n % 4096), 0x4e00 + (Math.floor(n / 4096) % 4096)),
  ],
  [
    'letters with equal low bytes',
    (n) =>
      Array.from(n.toString(4))
        .map((d) => String.fromCharCode(0x4100 + 256 * Number(d)))
        .join(''),
  ],
])('50,000 different texts keep different numbers: %s', (_, text) => {
  const texts = new TextNumbers();
  let wrong = 0;
  for (let n = 1; n <= 50_000; n++) if (texts.assignNumber(text(n)) !== n) wrong++;
  for (let n = 1; n <= 50_000; n++) if (texts.findNumber(text(n)) !== n) wrong++;
  expect(wrong).toBe(0);
});

test('both halves of a 64-bit hash depend on seed and text', () => {
  const [high, low] = computeHash64('abc', 1);
  for (const [otherHigh, otherLow] of [
    computeHash64('abc', 2),
    computeHash64('abd', 1),
    computeHash64('bbc', 1),
    computeHash64('ab', 1),
  ]) {
    expect(otherHigh).not.toBe(high);
    expect(otherLow).not.toBe(low);
  }
  expect(computeHash64('abc', 1)).toEqual([high, low]);
});
