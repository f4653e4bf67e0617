import { fold } from './text.js';

/** How hard a secret is to guess, in characters: what a guesser tries as one thing counts as few. */

/** About as many choices as three random letters and digits have: the place in a list of 50,000 words. */
const WORD = 3;
/** A run, a year or a repetition: where it begins, and how long it is. */
const PATTERN = 2;
const SHORTEST_PATTERN = 3;
/** Shorter words are found in random text. */
const SHORTEST_WORD = 4;
const LONGEST_WORD = 20;
/** A word that is known beforehand, such as the name of the user. */
const KNOWN_WORD = 1;
/** Folding may make a text many times longer, and the work grows with its cube at worst. */
const MOST_READ = 256;

/** Neighbours on the usual keyboards. */
const ROWS = [
  '1234567890',
  ...['qwertyuiop', 'asdfghjkl', 'zxcvbnm'],
  ...['azertyuiop', 'qsdfghjklm', 'wxcvbn', 'qwertzuiop', 'yxcvbnm'],
].join('\n');
const YEAR = /^(?:19|20)\d\d/;

/** Digits and signs that people write for letters; `1` is read in both ways. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ '0': 'o', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', $: 's', '!': 'i' },
};

export interface Guesses {
  /** Whether a guesser has a word in a list; asked in lower case and without accents. */
  isWord?: (text: string) => boolean;
  /** What a guesser knows of the user, such as the username. */
  known?: readonly string[];
}

/**
 * The least number of characters that a text counts as. A character counts as one; a word of the list, in any case and
 * with the usual signs for letters, as three; a run (`abcd`, `4321`, `aaaa`, `qwerty`), a year or a repetition of what
 * came before as two; a name of the user as one. Only the beginning of a long text is read.
 */
export function guessWeight(text: string, { isWord = () => false, known = [] }: Guesses = {}): number {
  const plain = fold(text).slice(0, MOST_READ);
  const readings = [...new Set([plain, lettersOf(plain, 'i'), lettersOf(plain, 'l')])];
  const names = known.map(fold).filter((name) => name.length >= SHORTEST_PATTERN);
  const least = Array.from({ length: plain.length + 1 }, (_, index) => index);
  const reach = (end: number, weight: number): void => {
    if (weight < (least[end] ?? 0)) least[end] = weight;
  };
  for (let start = 0; start < plain.length; start++) {
    const before = least[start] ?? 0;
    reach(start + 1, before + 1);
    const length = Math.max(runAt(plain, start), repetitionAt(plain, start), yearAt(plain, start));
    for (let end = SHORTEST_PATTERN; end <= length; end++) reach(start + end, before + PATTERN);
    for (const name of names)
      if (plain.startsWith(name, start)) reach(start + name.length, before + KNOWN_WORD);
    const longest = Math.min(LONGEST_WORD, plain.length - start);
    for (let size = SHORTEST_WORD; size <= longest; size++) {
      if (readings.some((reading) => isWord(reading.slice(start, start + size)))) {
        reach(start + size, before + WORD);
      }
    }
  }
  return least[plain.length] ?? 0;
}

const lettersOf = (text: string, one: string): string =>
  text.replace(/[0134570@$!]/g, (sign) => (sign === '1' ? one : (LETTERS[sign] ?? sign)));

/** Length of the longest run that begins there: one step in one direction all along. */
function runAt(text: string, start: number): number {
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

/** Length of the longest text there that has been seen before. */
function repetitionAt(text: string, start: number): number {
  let longest = 0;
  for (let earlier = 0; earlier < start; earlier++) {
    let length = 0;
    while (start + length < text.length && text[earlier + length] === text[start + length]) length++;
    longest = Math.max(longest, length);
  }
  return longest;
}

const yearAt = (text: string, start: number): number => (YEAR.test(text.slice(start, start + 4)) ? 4 : 0);
