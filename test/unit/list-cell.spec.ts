import { expect, test } from '@jest/globals';
import { joinList, splitList } from '../../src/import/file/columns.js';
import { createRandom } from '../support/data/random.js';

test.each<[string[], string]>([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a|b'],
  [['CORP\\ann'], 'CORP\\ann'],
  [['CORP\\ann', 'b'], 'CORP\\ann|b'],
  [['a|b'], 'a\\|b'],
  [['a\\|b'], 'a\\\\\\|b'],
  [['a\\', 'b'], 'a\\\\|b'],
  [['a', 'b\\'], 'a|b\\'],
  [['|', '|'], '\\||\\|'],
  [['\\', '\\'], '\\\\|\\'],
  [['a b', "it's", 'x;y,z"', 'é😀'], 'a b|it\'s|x;y,z"|é😀'],
])('the list %j is stored as the CSV cell %j', (values, cell) => {
  expect(joinList(values)).toBe(cell);
  expect(splitList(cell)).toEqual(values);
});

test.each<[string, string[]]>([
  ['', []],
  [' ', []],
  ['|', []],
  ['a||b|', ['a', 'b']],
  [' a | b ', ['a', 'b']],
  ['a\\b|c', ['a\\b', 'c']],
  ['a\\\\b', ['a\\\\b']],
  ['a\\ |b', ['a\\', 'b']],
  ['a;b', ['a;b']],
])('the manually typed CSV cell %j is read as the list %j', (cell, values) => {
  expect(splitList(cell)).toEqual(values);
});

test('random lists are read back from their CSV cells unchanged', () => {
  const random = createRandom(20_250_102);
  const alphabet = ['\\', '\\', '|', '|', "'", '"', '=', '+', '-', '@', '\n', ';', ',', 'x', 'é', '😀'];
  for (let round = 0; round < 5_000; round++) {
    const values = Array.from({ length: random(5) }, () =>
      Array.from({ length: 1 + random(6) }, () => alphabet[random(alphabet.length)])
        .join('')
        .trim(),
    ).filter((value) => value !== '');
    expect(splitList(joinList(values))).toEqual(values);
  }
});
