import { foldText } from './text.js';

/**
 * Weight of a common word. Guessing a word from a list of 50,000 words is about as hard as guessing three random
 * letters or digits.
 */
const WORD = 3;
/** Weight of a sequence, a year or a repetition. An attacker has to guess only its start and its length. */
const PATTERN = 2;
const SHORTEST_PATTERN = 3;
/** Minimum length of a word. Shorter words also occur in random text. */
const SHORTEST_WORD = 4;
const LONGEST_WORD = 20;
/** Weight of a word that an attacker knows, such as the username. */
const KNOWN_WORD = 1;
/** Number of characters that are evaluated. The worst-case time grows with the cube of this number. */
const MAX_LENGTH = 256;

const ROWS = [
  '1234567890',
  ...['qwertyuiop', 'asdfghjkl', 'zxcvbnm'],
  ...['azertyuiop', 'qsdfghjklm', 'wxcvbn', 'qwertzuiop', 'yxcvbnm'],
].join('\n');
const YEAR = /^(?:19|20)\d\d/;

/**
 * Maps digits and signs to the letters that people replace with them. `1` is missing, because it can stand for `i` or `l`.
 */
export const LETTERS: Readonly<Record<string, string>> = {
  ...{ '0': 'o', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '@': 'a', $: 's', '!': 'i', '€': 'e' },
};

export interface GuessableWords {
  /** Returns true for a common word, given in lower case and without accents. */
  isWord?: (text: string) => boolean;
  known?: readonly string[];
}

/**
 * Computes how hard a secret is to guess. Splits the text into pieces so that the sum of their weights is as small as
 * possible, and returns this sum.
 *
 * A single character weighs 1. A common word weighs 3, in upper or lower case and even if signs replace letters. A sequence
 * (`abcd`, `4321`, `aaaa`, `qwerty`), a year or a repetition of earlier text weighs 2. A known word weighs 1. Characters
 * after the first 256 are ignored.
 */
export function computeGuessWeight(text: string, guesses: GuessableWords = {}): number {
  const { isWord = () => false, known = [] } = guesses;
  const plain = foldText(text).slice(0, MAX_LENGTH);
  const readings = [...new Set([plain, replaceLookalikes(plain, 'i'), replaceLookalikes(plain, 'l')])];
  const names = known.map(foldText).filter((name) => name.length >= SHORTEST_PATTERN);
  const least = Array.from({ length: plain.length + 1 }, (_, index) => index);
  const lowerWeight = (end: number, weight: number): void => {
    if (weight < (least[end] ?? 0)) least[end] = weight;
  };
  for (let start = 0; start < plain.length; start++) {
    const before = least[start] ?? 0;
    lowerWeight(start + 1, before + 1);
    const measures = [measureSequence, measureRepetition, measureYear];
    const length = Math.max(...measures.map((measure) => measure(plain, start)));
    for (let end = SHORTEST_PATTERN; end <= length; end++) lowerWeight(start + end, before + PATTERN);
    for (const name of names)
      if (plain.startsWith(name, start)) lowerWeight(start + name.length, before + KNOWN_WORD);
    const longest = Math.min(LONGEST_WORD, plain.length - start);
    for (let size = SHORTEST_WORD; size <= longest; size++) {
      if (readings.some((reading) => isWord(reading.slice(start, start + size)))) {
        lowerWeight(start + size, before + WORD);
      }
    }
  }
  return least[plain.length] ?? 0;
}

const replaceLookalikes = (text: string, letterForOne: string): string =>
  text.replace(/[0134578@$!€]/g, (sign) => (sign === '1' ? letterForOne : (LETTERS[sign] ?? sign)));

/**
 * Returns the length of the longest sequence that begins at `start`: equal, ascending or descending characters, or
 * neighbours on a keyboard.
 */
function measureSequence(text: string, start: number): number {
  const steps = [
    (a: string, b: string) => a === b,
    (a: string, b: string) => b.charCodeAt(0) - a.charCodeAt(0) === 1,
    (a: string, b: string) => b.charCodeAt(0) - a.charCodeAt(0) === -1,
    (a: string, b: string) => ROWS.includes(a + b),
    (a: string, b: string) => ROWS.includes(b + a),
  ];
  const lengths = steps.map((isStep) => {
    let end = start + 1;
    while (end < text.length && isStep(text.charAt(end - 1), text.charAt(end))) end++;
    return end - start;
  });
  return Math.max(...lengths);
}

/** Returns the length of the longest text that begins at `start` and also occurs earlier. */
function measureRepetition(text: string, start: number): number {
  let longest = 0;
  for (let earlier = 0; earlier < start; earlier++) {
    let length = 0;
    while (start + length < text.length && text[earlier + length] === text[start + length]) length++;
    longest = Math.max(longest, length);
  }
  return longest;
}

const measureYear = (text: string, start: number): number =>
  YEAR.test(text.slice(start, start + 4)) ? 4 : 0;
