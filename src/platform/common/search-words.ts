import { getOrCreate } from './maps.js';
import { foldSpellings, toNormalForm, truncate } from './text.js';

const MAX_WORD = 255;
const PUNCTUATION_AT_ENDS = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
const PUNCTUATION = /[^\p{L}\p{N}]+/u;

/** Splits a folded text into search words, and trims punctuation at the ends of words. */
export function splitFoldedText(folded: string): string[] {
  return folded
    .split(/\s+/u)
    .map((word) => truncate(word.replace(PUNCTUATION_AT_ENDS, ''), MAX_WORD))
    .filter((word) => word !== '');
}

/** Splits a text into search words. Folds case and accents, and includes all spellings of a word. */
export function splitWords(text: string): string[] {
  return foldSpellings(text).flatMap(splitFoldedText);
}

/** Like `splitWords`, but adds the parts of compound words, so that `jones` finds `smith-jones`. */
export function splitWordsAndParts(text: string): string[] {
  return splitWords(text).flatMap((word) => [word, ...word.split(PUNCTUATION).filter((part) => part !== '')]);
}

/** The words of a field, their weight, and whether other users cannot see the field. */
export type FieldWords = readonly [words: readonly string[], weight: number, hidden?: boolean];

interface WeightedWord {
  word: string;
  weight: number;
  public_weight: number;
}

/** Returns each distinct word with its highest weights in any field. */
export function weighWords(fields: readonly FieldWords[]): WeightedWord[] {
  const found = new Map<string, WeightedWord>();
  for (const [words, weight, hidden = false] of fields)
    for (const word of words) {
      const row = getOrCreate(found, word, () => ({ word, weight: 0, public_weight: 0 }));
      row.weight = Math.max(row.weight, weight);
      row.public_weight = Math.max(row.public_weight, hidden ? 0 : weight);
    }
  return [...found.values()];
}

/** Minimum number of digits by which a telephone number is found. */
const MIN_DIGITS = 4;

/**
 * Returns the digits of a telephone number in reverse order, so that numbers with the same end have the same beginning.
 * Returns an empty text if the number has fewer than four digits.
 */
export function toPhoneKey(phone: string): string {
  const digits = toNormalForm(phone, 'NFKC').replace(/\D/g, '');
  return digits.length < MIN_DIGITS ? '' : Array.from(digits).toReversed().join('');
}
