import { expect, test } from '@jest/globals';
import { KeyTable, hash64 } from '../../src/import/plan/key-table.js';

test('what is set is found, what is not is 0', () => {
  const table = new KeyTable();
  expect(table.get('a')).toBe(0);
  table.set('a', 2);
  table.set('b', 3);
  expect([table.get('a'), table.get('b'), table.get('c'), table.get('')]).toEqual([2, 3, 0, 0]);
  table.set('a', 4);
  table.set('', 5);
  expect([table.get('a'), table.get('b'), table.get('')]).toEqual([4, 3, 5]);
});

test('who claims first keeps the place', () => {
  const table = new KeyTable();
  expect([table.claim('a', 2), table.claim('a', 3), table.claim('b', 3), table.get('a')]).toEqual([
    0, 2, 0, 2,
  ]);
});

test('keys are told apart byte by byte', () => {
  const table = new KeyTable();
  const keys = [
    'a',
    'A',
    'a ',
    ' a',
    'á',
    'a\u0301',
    'ab',
    'ba',
    'a\0',
    '\0a',
    '😀',
    '😁',
    '一',
    '丁',
    '\ud83d',
  ];
  for (const [index, key] of keys.entries()) expect(table.claim(key, index + 1)).toBe(0);
  expect(keys.map((key) => table.get(key))).toEqual(keys.map((_, index) => index + 1));
});

/** Shapes of real keys: numbers with leading zeros, addresses, uuids in a row, letters beyond Latin. */
test.each<[string, (n: number) => string]>([
  ['numbers', (n) => String(n)],
  ['padded numbers', (n) => `HR-${String(n).padStart(8, '0')}`],
  ['addresses', (n) => `login:first.last${n}@example.org`],
  ['uuids', (n) => `0198c0de-0000-7000-8000-${n.toString(16).padStart(12, '0')}`],
  [
    'Chinese letters',
    (n) => String.fromCodePoint(0x4e00 + (n % 4096), 0x4e00 + (Math.floor(n / 4096) % 4096)),
  ],
  [
    'letters whose low bytes are alike',
    (n) =>
      Array.from(n.toString(4))
        .map((d) => String.fromCharCode(0x4100 + 256 * Number(d)))
        .join(''),
  ],
])('50,000 keys do not meet and keep their values while the table grows: %s', (_, key) => {
  const table = new KeyTable();
  let met = 0;
  for (let n = 1; n <= 50_000; n++) if (table.claim(key(n), n) !== 0) met++;
  let wrong = 0;
  for (let n = 1; n <= 50_000; n++) if (table.get(key(n)) !== n) wrong++;
  expect([met, wrong]).toEqual([0, 0]);
});

test('the greatest value of a file of a million rows is kept', () => {
  const table = new KeyTable();
  table.set('a', 1_000_001 * 2 + 1);
  expect(table.get('a')).toBe(2_000_003);
});

test('both halves of a hash depend on the seed and on every character', () => {
  const [high, low] = hash64('abc', 1);
  for (const [otherHigh, otherLow] of [
    hash64('abc', 2),
    hash64('abd', 1),
    hash64('bbc', 1),
    hash64('ab', 1),
  ]) {
    expect([high === otherHigh, low === otherLow]).toEqual([false, false]);
  }
  expect(hash64('abc', 1)).toEqual([high, low]);
});
