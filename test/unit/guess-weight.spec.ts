import { describe, expect, test } from '@jest/globals';
import { computeGuessWeight } from '../../src/platform/common/guess-weight.js';

const words = new Set(['password', 'dragon', 'letmein', 'qwerty12']);
const isWord = (text: string): boolean => words.has(text);

describe('what a text counts as', () => {
  test.each<[string, string, number]>([
    ['every character, where nothing explains it', 'k7#Vq2!mZx9p', 12],
    ['a repeated character', 'aaaaaaaaaaaaaaaa', 2],
    ['a sequence', 'abcdefghijkl', 2],
    ['a sequence backwards', '987654321', 2],
    ['a row of the keyboard', 'qwertyuiop', 2],
    ['digits past nine', '1234567890', 2],
    ['a repetition', 'k7#Vk7#Vk7#V', 4 + 2],
    ['two runs', 'aaaaaaaa11111111', 4],
    ['a year', 'k7#V1987', 4 + 2],
    ['a word', 'password', 3],
    ['a word in any case', 'PassWord', 3],
    ['a word with signs for letters', 'P@$$w0rd', 3],
    ['a word with one for an i', 'le7me1n', 3],
    ['a word with accents', 'pásswörd', 3],
    ['a word in wide letters', 'ｐａｓｓｗｏｒｄ', 3],
    ['a word with something after it', 'password!x', 5],
    ['two words', 'dragonpassword', 6],
    ['a name of the user', 'jane.doe', 1],
    ['a name of the user with digits', 'Jane.Doe1234', 3],
    ['characters beyond the words of the list', 'żółć-øåñ', 8],
  ])('%s: %s', (_, text, weight) => {
    expect(computeGuessWeight(text, { isWord, known: ['jane.doe', 'x'] })).toBe(weight);
  });
});

test('the work is bounded, however the text grows when it is folded', () => {
  const asked: string[] = [];
  computeGuessWeight('ﷺ'.repeat(128), { isWord: (text) => (asked.push(text), false) });
  expect(asked.length).toBeLessThan(256 * 17 * 3);
});
