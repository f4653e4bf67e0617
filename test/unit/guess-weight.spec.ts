import { describe, expect, test } from '@jest/globals';
import { computeGuessWeight } from '../../src/platform/common/guess-weight.js';

const words = new Set(['password', 'dragon', 'letmein', 'qwerty12']);
const isWord = (text: string): boolean => words.has(text);

describe('a secret', () => {
  test.each<[string, string, number]>([
    ['unrelated characters', 'k7#Vq2!mZx9p', 12],
    ['a sequence', 'abcdefghijkl', 2],
    ['a reversed sequence', '987654321', 2],
    ['a row of keys', 'qwertyuiop', 2],
    ['digits past nine', '1234567890', 2],
    ['a repeated group', 'k7#Vk7#Vk7#V', 4 + 2],
    ['two repeated characters', 'aaaaaaaa11111111', 4],
    ['characters before a year', 'k7#V1987', 4 + 2],
    ['a common word in mixed case', 'PassWord', 3],
    ['a common word with symbols for letters', 'P@$$w0rd', 3],
    ['a common word with digits for letters', 'le7me1n', 3],
    ['a common word with accents', 'pásswörd', 3],
    ['a common word in full-width letters', 'ｐａｓｓｗｏｒｄ', 3],
    ['a common word with a suffix', 'password!x', 5],
    ['the name of the user', 'jane.doe', 1],
    ['the name of the user with digits', 'Jane.Doe1234', 3],
    ['letters outside the word list', 'żółć-øåñ', 8],
  ])('with %s (%s) counts as %d random characters', (_, text, weight) => {
    expect(computeGuessWeight(text, { isWord, known: ['jane.doe', 'x'] })).toBe(weight);
  });
});

test('word look-ups are limited if case folding lengthens the password', () => {
  const lookUps: string[] = [];
  computeGuessWeight('ﷺ'.repeat(128), { isWord: (text) => (lookUps.push(text), false) });
  expect(lookUps.length).toBeLessThan(256 * 17 * 3);
});
