import { LETTERS } from './guess-weight.js';
import { foldText } from './text.js';

/** Number of letters, such as initials, that a password made of names may have in addition to the names. */
const STRAY_LETTERS = 2;

/** Seasons, months and greetings in several languages, without accents. People often add a year to them. */
const SEASONAL_WORDS = `spring summer autumn fall winter fruhling fruehling sommer herbst printemps ete automne hiver
  primavera verano otono invierno estate autunno inverno lente zomer herfst january february march april may june july
  august september october november december januar februar marz maerz mai juni juli oktober dezember welcome hello hi
  good morning day evening happy new year merry christmas xmas easter holidays willkommen hallo guten morgen tag abend
  gruss servus moin frohe frohes neues jahr weihnachten ostern bonjour salut bienvenue joyeux noel hola buenos dias
  feliz navidad ciao buongiorno`;

/**
 * Returns true if a password consists of names, seasons and greetings, with digits and signs around them (interface §2).
 * @param names names and identifiers of the user. Their parts count too, in any order and spelling.
 */
export function isMadeOfNames(password: string, names: readonly string[]): boolean {
  const words = [...names, SEASONAL_WORDS]
    .flatMap((name) => name.split('@')) // otherwise `@` would count as a letter
    .flatMap(listSpellings)
    .flatMap((spelling) => spelling.match(WORD) ?? [])
    .sort((a, b) => b.length - a.length);
  return listSpellings(password).some((text) => {
    const rest = words.reduce((left, word) => left.replaceAll(word, ' '), text);
    return rest !== text && (rest.match(/\p{L}/gu) ?? []).length <= STRAY_LETTERS;
  });
}

/** Pattern of a word. It excludes single Latin letters and short numbers, because other passwords contain them too. */
const WORD = /\p{L}{2,}|\p{N}{4,}|[^\P{L}\0-~]/gu;

/**
 * Folds a text, replaces signs between letters by letters, and also returns the text with single vowels. Both spellings of
 * `Müller` therefore equal one spelling of `Mueller`.
 */
function listSpellings(text: string): string[] {
  const toLetter = (sign: string): string => LETTERS[sign] ?? 'i';
  const folded = foldText(text).replace(/(?<=\p{L})[013457@$!](?=\p{L})/gu, toLetter);
  return [folded, folded.replace(/aa|ae|oe|ue/g, (pair) => pair.charAt(0))];
}
