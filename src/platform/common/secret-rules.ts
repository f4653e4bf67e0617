import type { FieldError } from './errors.js';
import { type GuessableWords, computeGuessWeight, LETTERS } from './guess-weight.js';
import { countCharacters, isCleanText, isWithin, foldText } from './text.js';

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
  const { minLength } = context;
  if (!isWithin(password, MAX_PASSWORD_LENGTH))
    return { code: 'too_long', message: `may have at most ${MAX_PASSWORD_LENGTH} characters` };
  if (password.trim() === '') return { code: 'blank', message: 'must not be blank' };
  // Consecutive spaces count as one character (OWASP ASVS 2.1.1), but stay in the password.
  if (countCharacters(password.replace(/\p{Zs}+/gu, ' ')) < minLength) {
    const message = `must have at least ${minLength} characters (consecutive spaces count as one)`;
    return { code: 'too_short', message };
  }
  if (!isCleanText(password))
    return { code: 'invalid_format', message: 'must not contain control characters or invalid Unicode' };
  const message = findGuess(password, context);
  return message === undefined ? undefined : { code: 'too_common', message };
}

/** Returns the error message for a password that is easy to guess, or undefined. */
function findGuess(password: string, words: GuessableWords): string | undefined {
  const isWeak = (known?: GuessableWords) => computeGuessWeight(password, known) < MIN_PASSWORD_WEIGHT;
  if (isMadeOfNames(password, words.known ?? []))
    return 'must not consist mainly of names, seasons or greetings';
  if (!isWeak(words)) return undefined;
  if (words.isWord?.(foldText(password))) return 'must not be a common password';
  if (isWeak()) return 'must not consist mainly of sequences or repetitions';
  return 'must not consist mainly of names or common words';
}

export function isGuessableKey(key: string, guesses?: GuessableWords): boolean {
  return computeGuessWeight(key, guesses) < MIN_KEY_WEIGHT;
}

/** Number of letters, such as initials, that a password made of names may have in addition to the names. */
const STRAY_LETTERS = 2;
/** Minimum length of a word that is recognized backwards, or with signs between or instead of its letters. */
const LONG_WORD = 4; // shorter words also occur in random text
/** Maximum length of all names together. Comparing longer names would take longer than hashing the password. */
const MAX_NAMES_LENGTH = 1_500;

/** Seasons, months and greetings in several languages, without accents. People often add a year to them. */
const SEASONAL_WORDS = `spring summer autumn fall winter fruhling fruehling sommer herbst printemps ete automne hiver
  primavera verano otono invierno estate autunno inverno lente zomer herfst january february march april may june july
  august september october november december januar februar marz maerz mai juni juli oktober dezember welcome hello hi
  good morning day evening happy new year merry christmas xmas easter holidays willkommen hallo guten morgen tag abend
  gruss servus moin frohe frohes neues jahr weihnachten ostern bonjour salut bienvenue joyeux noel hola buenos dias
  feliz navidad ciao buongiorno bienvenido benvenuto valkommen velkommen tervetuloa welkom gruezi world welt sommar host
  vinter zima wiosna lato jesien leto kesa talvi enero febrero gennaio febbraio зима весна лето осень привет`;

/**
 * Returns true if a password consists of names, seasons and greetings, with digits and signs around them (interface §2).
 * @param names names and identifiers of the user. Their parts are recognized in any order and spelling, and backwards.
 */
function isMadeOfNames(password: string, names: readonly string[]): boolean {
  const words = new Set([...listWords(names.join(' ').slice(0, MAX_NAMES_LENGTH)), ...SEASONAL]);
  const pattern = new RegExp([...words].sort((a, b) => b.length - a.length).join('|'), 'g'); // longest first
  return listReadings(password).some((text) => {
    const isJoined = /\P{L}/u.test(password) && !/\P{L}/u.test(text);
    const found = [...text.toLowerCase().matchAll(pattern)]
      .map(({ 0: word, index }) => text.slice(index, index + word.length))
      .filter((word) => word.length >= LONG_WORD || (!isJoined && word === word.toLowerCase()))
      .join('');
    return /\P{Lu}/u.test(found) && countTypedLetters(text) - countTypedLetters(found) <= STRAY_LETTERS;
  });
}

/** Pattern of a word. It excludes single Latin letters and short numbers, because other passwords contain them too. */
const WORD = /\p{L}{2,}|\p{N}{4,}|[^\P{L}\0-~]/gu;
/** Counts the typed letters of a reading. Letters in upper case replace signs and do not count. */
const countTypedLetters = (text: string): number => (text.match(/[^\P{L}\p{Lu}]/gu) ?? []).length;

/** Maps letters to letters that look the same. */
const LOOKALIKES = new Map(
  'li аa вb еe іi јj кk мm нh оo рp сc тt уy хx'.split(' ').map((pair) => [pair.charAt(0), pair.charAt(1)]),
);

/** Lists the words of a text in all spellings, forwards and backwards. */
const listWords = (text: string): string[] =>
  listReadings(text.replaceAll('@', ' ')) // otherwise the `@` would be read as a letter
    .flatMap((reading) => reading.toLowerCase().match(WORD) ?? [])
    .flatMap((word) => [word, ...(word.length < LONG_WORD ? [] : [Array.from(word).reverse().join('')])]);
const SEASONAL = listWords(SEASONAL_WORDS);

/**
 * Returns the possible readings of a text. A reading keeps signs and digits, or replaces them with upper-case letters.
 * It keeps or removes all characters between letters. It keeps vowel pairs, or shortens them to one vowel, so that
 * `Müller` and `Mueller` have a reading in common.
 */
function listReadings(text: string): string[] {
  const typed = foldText(text).replace(/\p{L}/gu, (letter) => LOOKALIKES.get(letter) ?? letter);
  const toLetter = (sign: string): string => (sign === '1' ? 'I' : (LETTERS[sign]?.toUpperCase() ?? sign));
  return [typed, typed.replace(/\P{L}/gu, toLetter)]
    .flatMap((reading) => [reading, reading.replace(/\P{L}/gu, '')])
    .flatMap((reading) => [reading, reading.replace(/e(?=[aou])|(?<=[aou])e|a(?=a)/gi, '')]);
}
