import { domainToASCII } from 'node:url';

const ASCII = /^[\0-\x7f]*$/;
const PRINTABLE = /^[ -~]*$/;
/** Pattern of words in printable ASCII, separated by single spaces. Most lines match it and need no conversion. */
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/;
const CONTROL = /\p{Cc}/u;
const CONTROL_EXCEPT_NEWLINE = /[^\P{Cc}\n]/u;
/** Pattern of a character with more marks than the Stream-Safe Text Format allows (UAX #15, section 13). */
const TOO_MANY_MARKS = /\p{M}{31}/u;

/** Counts Unicode code points, which the interface and the databases call characters. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Returns true if a text has at most `max` code points. */
export function isWithin(text: string, max: number): boolean {
  return text.length <= max || countCharacters(text) <= max; // `length` is never less than the number of code points
}

/** Cuts a text to its first `max` code points. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = Array.from(text.slice(0, 2 * max));
  return cut.slice(0, max).join('');
}

/**
 * Returns true if the text contains no control characters, no lone surrogates (which no database can store), and no
 * character with more marks than any script uses.
 */
export function isCleanText(text: string, options: { newlines?: boolean } = {}): boolean {
  if (PRINTABLE.test(text)) return true;
  const control = options.newlines ? CONTROL_EXCEPT_NEWLINE : CONTROL;
  return text.isWellFormed() && !control.test(text) && !TOO_MANY_MARKS.test(text);
}

/**
 * Converts text to a Unicode normal form. Text with too many marks stays unchanged, because sorting the marks takes
 * quadratic time (minutes for a megabyte of text). A field rule rejects such text.
 */
export function toNormalForm(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return ASCII.test(text) || TOO_MANY_MARKS.test(text) ? text : text.normalize(form);
}

/** Converts a text to its stored form: NFC, trimmed, and with `\n` as line breaks. */
export function normalizeText(text: string): string {
  return toNormalForm(text, 'NFC').replace(/\r\n?/g, '\n').trim();
}

/**
 * Converts a single line to NFC, trims it, and collapses spaces. Control characters stay, so that a field rule can reject
 * them.
 */
export function normalizeLine(text: string): string {
  if (PLAIN_LINE.test(text)) return text;
  const trimmed = toNormalForm(text, 'NFC').trim();
  return trimmed.replace(/\p{Zs}+/gu, ' ');
}

/**
 * ASCII forms of characters that Unicode normalization (NFKD) leaves unchanged. Without them, "Soren" would not find
 * "Søren".
 */
export const ASCII_FORMS: ReadonlyMap<string, string> = new Map(
  "ßss ẞSS æae ÆAe œoe ŒOe øo ØO đd ĐD ðd ÐD ħh ĦH ıi łl ŁL ŧt ŦT þth ÞTh ’' ‘' –- —-"
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.slice(1)]),
);

/** Folds a text for comparison: lower case, without accents. Names are sorted and words are searched in this form. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const bare = toNormalForm(text, 'NFKD').replace(/\p{M}+/gu, '');
  const toBasicLetters = (letter: string) => ASCII_FORMS.get(letter) ?? letter;
  // `toLowerCase` runs before `foldCase`, because otherwise the capital `ẞ` would not become `ss`.
  const folded = foldCase(bare.toLowerCase()).replace(/[øđðħıłŧæœþ]/g, toBasicLetters);
  return toNormalForm(folded, 'NFKC');
}

/** Maps letters to their alternative spelling with two basic letters. */
const LONG_SPELLINGS = Object.entries({ ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' });
/** Maximum number of different letters of a text that are spelled in both ways, which gives eight forms. */
const MAX_SPELLED_LETTERS = 3;

/**
 * Folds a text for search in each of its spellings: `Müller` becomes `muller` and `mueller`. The first form is the
 * result of `foldText`.
 */
export function foldSpellings(text: string): string[] {
  if (ASCII.test(text)) return [text.toLowerCase()];
  const lower = toNormalForm(text, 'NFC').toLowerCase();
  const found = LONG_SPELLINGS.filter(([letter]) => lower.includes(letter)).slice(0, MAX_SPELLED_LETTERS);
  let forms = [lower];
  for (const [letter, spelling] of found)
    forms = forms.flatMap((form) => [form, form.replaceAll(letter, spelling)]);
  return [foldText(text), ...forms.slice(1).map(foldText)];
}

/**
 * Converts a text to upper and then to lower case, so that `ß` equals `SS` and both forms of the Greek sigma are equal.
 */
export function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}

/** Returns the choice that equals `value` regardless of case, or `value` itself. */
export function toChoice(choices: readonly string[], value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return choices.find((choice) => foldCase(choice) === foldCase(value)) ?? value;
}

/** Compares two numbers or two texts for sorting. Texts are ordered by code points, as in the database. */
export function compareCodePoints(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const left = String(a);
  const right = String(b);
  if (left === right) return 0;
  let at = 0;
  while (left.charCodeAt(at) === right.charCodeAt(at)) at++;
  return (left.codePointAt(at) ?? -1) - (right.codePointAt(at) ?? -1); // the end of a text comes first
}

/**
 * Characters with a blank glyph that no Unicode property identifies: the Khitan filler, the empty braille pattern, the
 * object replacement character, two blank hieroglyphs and the null notehead.
 */
const BLANK = '\\u{16fe4}\\u2800\\ufffc\\u{13441}\\u{13442}\\u{1d159}';
/**
 * Pattern of characters that are invisible in a name. With such a character, the names of two users could look the
 * same. Private-use and unassigned characters are allowed, because Chinese names may contain them, and a font or a
 * newer Unicode can show them.
 */
const INVISIBLE = new RegExp(
  `[\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\p{Cf}\\p{Noncharacter_Code_Point}\\p{Zl}\\p{Zp}${BLANK}]`,
  'gu',
);

/**
 * Pattern of invisible characters that are forbidden even in free text, because they reorder text or hide a message.
 * Free text may contain other invisible characters, because emoji and bidirectional text need them.
 */
const DECEPTIVE = /[\u202a-\u202e\u2066-\u2069\p{Noncharacter_Code_Point}\u{e0000}-\u{e007f}]/u;

const JOINERS = '\u200c\u200d';
const JOINED = new RegExp(`(\\p{L}\\p{M}{0,8})[${JOINERS}](\\p{L}?)`, 'gu');
/** Pattern of reph and ya-phala in Bengali and Kannada, which are written with the joiner before the virama. */
const BEFORE_VIRAMA = /[\u09b0\u0cb0]\u200d(?=[\u09cd\u0ccd]\p{L})/gu;

/**
 * Returns the first invisible character of a name or identifier, or undefined. A joiner (ZWJ or ZWNJ) counts as visible
 * where it changes the letters next to it, as in domain names (RFC 5892, A.1 and A.2).
 */
export function findInvisible(text: string): string | undefined {
  if (PRINTABLE.test(text)) return undefined;
  const [first] = text.match(INVISIBLE) ?? [];
  if (first === undefined || !JOINERS.includes(first)) return first;
  const removeJoiner = (joined: string, before: string, after: string) =>
    isVisibleJoiner(joined, after) ? before + after : joined;
  const rest = text.replace(BEFORE_VIRAMA, '').replace(JOINED, removeJoiner);
  return rest.match(INVISIBLE)?.[0];
}

/** Replaces control characters and invisible characters of a text from outside, such as the name of a file. */
export function replaceHidden(text: string): string {
  if (PRINTABLE.test(text)) return text;
  let shown = text.toWellFormed().replace(/\p{Cc}/gu, REPLACEMENT);
  for (let found = findInvisible(shown); found !== undefined; found = findInvisible(shown))
    shown = shown.replaceAll(found, REPLACEMENT);
  return shown;
}

const REPLACEMENT = '\ufffd';

export function findDeceptive(text: string): string | undefined {
  return PRINTABLE.test(text) ? undefined : DECEPTIVE.exec(text)?.[0];
}

/**
 * Returns true if the joiner changes the form of the letters next to it. Relies on Node.js, which applies RFC 5892 when
 * it converts domain names.
 */
function isVisibleJoiner(joined: string, after: string): boolean {
  const endsWithZwnj = after === '' && joined.endsWith('\u200c');
  return !endsWithZwnj && domainToASCII(joined) !== '';
}

export function formatCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
