import type { FieldError } from './errors.js';
import { type GuessableWords, computeGuessWeight } from './guess-weight.js';
import { isMadeOfNames } from './name-passwords.js';
import { countCharacters, isCleanText, isWithin } from './text.js';

export const MAX_PASSWORD_LENGTH = 128;
/** Minimum value of the setting PASSWORD_MIN_LENGTH (NIST SP 800-63B). */
export const MIN_PASSWORD_MIN_LENGTH = 8;
const MIN_PASSWORD_WEIGHT = 8;
/**
 * Minimum weight of an API key. A key with 20 random characters has about 100 bits of entropy. Keys need this much
 * entropy, because they are stored as fast hashes and the number of attempts is not limited.
 */
const MIN_KEY_WEIGHT = 20;

/** Code and message of an error. The message never contains a part of the password. */
export type PasswordFault = Pick<FieldError, 'code' | 'message'>;

/**
 * Returns the first rule that a new password breaks, or undefined (interface §2, NIST SP 800-63B 3.1.1.2).
 *
 * A password has `minLength` to 128 characters, where consecutive spaces count as one. It must not contain control
 * characters, and it must be hard to guess. Without `isWord`, common passwords are not detected.
 * @param password the password in NFC, as it is hashed.
 */
export function findPasswordFault(
  password: string,
  context: GuessableWords & { minLength: number },
): PasswordFault | undefined {
  const { minLength, known = [] } = context;
  if (!isWithin(password, MAX_PASSWORD_LENGTH)) {
    return { code: 'too_long', message: `may have at most ${MAX_PASSWORD_LENGTH} characters` };
  }
  if (password.trim() === '') return { code: 'blank', message: 'must not be blank' };
  if (countPasswordCharacters(password) < minLength) {
    const message = `must have at least ${minLength} characters (consecutive spaces count as one)`;
    return { code: 'too_short', message };
  }
  if (!isCleanText(password)) {
    return { code: 'invalid_format', message: 'must not contain control characters or invalid Unicode' };
  }
  if (computeGuessWeight(password, context) < MIN_PASSWORD_WEIGHT || isMadeOfNames(password, known)) {
    const message =
      'must not be a common password, or consist mainly of names, greetings, common words, sequences or repetitions';
    return { code: 'too_common', message };
  }
  return undefined;
}

/**
 * Counts the characters of a password. Consecutive spaces count as one (OWASP ASVS 2.1.1), but stay in the password.
 */
const countPasswordCharacters = (password: string) => countCharacters(password.replace(/\p{Zs}+/gu, ' '));

export function isGuessableKey(key: string, guesses?: GuessableWords): boolean {
  return computeGuessWeight(key, guesses) < MIN_KEY_WEIGHT;
}
