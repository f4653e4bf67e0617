import type { FieldCode } from './errors.js';
import { type Guesses, guessWeight } from './guess-weight.js';
import { characters, isCleanText, isWithin } from './text.js';

/** The longest password, and the least that a setting may require as the shortest (NIST SP 800-63B). */
export const MAX_PASSWORD = 128;
export const SHORTEST_MIN_LENGTH = 8;
/** Whatever its length, a password must count as so many characters that no list or pattern explains. */
const MIN_PASSWORD_WEIGHT = 8;
/** A key is tried without a limit, and stored as a fast hash: 20 characters at random are 100 bits. */
const MIN_KEY_WEIGHT = 20;

export interface PasswordContext extends Guesses {
  minLength: number;
}

export interface PasswordFault {
  code: FieldCode;
  /** Completes "<field> …"; never a part of the password. */
  message: string;
}

/**
 * The rules of a new password (interface §2, NIST SP 800-63B 3.1.1.2), at every door: any characters but control
 * characters, `minLength` to 128 of them, spaces in a row counted as one, and not one that a guesser tries early. Without `isWord` the list of common
 * passwords is left out.
 * @param password in NFC, as it is stored.
 * @returns the first broken rule.
 */
export function passwordFault(password: string, context: PasswordContext): PasswordFault | undefined {
  const { minLength } = context;
  if (!isWithin(password, MAX_PASSWORD)) {
    return { code: 'too_long', message: `may have at most ${MAX_PASSWORD} characters` };
  }
  if (password.trim() === '') return { code: 'blank', message: 'may not be blank' };
  if (counted(password) < minLength) {
    const message = `must have at least ${minLength} characters, spaces in a row counted as one`;
    return { code: 'too_short', message };
  }
  if (!isCleanText(password)) {
    return { code: 'invalid_format', message: 'may not hold control characters or broken Unicode' };
  }
  if (guessWeight(password, context) < MIN_PASSWORD_WEIGHT) {
    return {
      code: 'too_common',
      message:
        'may not be a common password, nor one made of few common words, names, sequences or repetitions',
    };
  }
  return undefined;
}

/** Characters of a password (OWASP ASVS 2.1.1): spaces in a row are one. They stay in the password, which is never changed. */
const counted = (password: string): number => characters(password.replace(/\p{Zs}+/gu, ' '));

/** Whether an API key that a person chose can be guessed: too few characters that no list or pattern explains. */
export function isGuessableKey(key: string, guesses?: Guesses): boolean {
  return guessWeight(key, guesses) < MIN_KEY_WEIGHT;
}
