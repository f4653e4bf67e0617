import { domainToASCII } from 'node:url';

/** Pure text helpers, shared by every rule that compares, stores or searches text. */

const ASCII = /^[\0-\x7f]*$/;
const PRINTABLE = /^[ -~]*$/;
/** Words of printable ASCII with a space between two: most lines, which are in their form already. */
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/;
const CONTROL = /\p{Cc}/u;
const CONTROL_EXCEPT_NEWLINE = /[^\P{Cc}\n]/u;
/** Beyond the Stream-Safe Text Format (UAX #15, section 13). */
const OVERLOADED = /\p{M}{31}/u;

/** Number of Unicode code points: what the interface and the databases call a character. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Whether a text has at most `max` code points. */
export function isWithin(text: string, max: number): boolean {
  return text.length <= max || characters(text) <= max; // no text has more code points than units
}

/** The first `max` code points. */
export function truncated(text: string, max: number): string {
  if (text.length <= max) return text; // no text has more code points than units
  const cut = Array.from(text.slice(0, 2 * max));
  return cut.slice(0, max).join('');
}

/**
 * True when the text holds neither control characters nor lone surrogates (which no database can store), nor more marks
 * on one letter than any writing has.
 */
export function isCleanText(text: string, options: { newlines?: boolean } = {}): boolean {
  return PRINTABLE.test(text) || isCleanUnicode(text, options);
}

function isCleanUnicode(text: string, options: { newlines?: boolean }): boolean {
  const control = options.newlines ? CONTROL_EXCEPT_NEWLINE : CONTROL;
  return text.isWellFormed() && !control.test(text) && !OVERLOADED.test(text);
}

/**
 * A Unicode normal form. Text that is not stream-safe stays as it is, for a rule to refuse: to put its marks in order
 * takes the square of their number, minutes for a megabyte.
 */
export function normalForm(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  // Most text is ASCII, which is its own normal form.
  return ASCII.test(text) || OVERLOADED.test(text) ? text : text.normalize(form);
}

/** NFC, trimmed; line ends become `\n`. The form in which every text is stored. */
export function normalise(text: string): string {
  return normalForm(text, 'NFC').replace(/\r\n?/g, '\n').trim();
}

/** As `normalise`, and every run of spaces becomes one space. Control characters stay, to be refused by name. */
export function normaliseLine(text: string): string {
  if (PLAIN_LINE.test(text)) return text;
  return normalForm(text, 'NFC')
    .trim()
    .replace(/\p{Zs}+/gu, ' ');
}

/**
 * Letters that carry their mark inside, so that Unicode decomposition does not separate it.
 * Without this table "Soren" would not find "Søren".
 */
const INSEPARABLE: Readonly<Record<string, string>> = {
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŧ: 't',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
};

/** Case and accents folded: the form in which names are sorted and words are searched. */
export function fold(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : foldUnicode(text);
}

function foldUnicode(text: string): string {
  // Lower-cased first, because the capital `ẞ` becomes `ss` by way of `ß` only.
  const folded = caseFold(
    normalForm(text, 'NFKD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase(),
  ).replace(/[øđðħıłŧæœþ]/g, (letter) => INSEPARABLE[letter] ?? letter);
  return normalForm(folded, 'NFKC');
}

/** Upper- then lower-cased, which makes `ß`/`SS` and the two Greek sigmas equal. */
export function caseFold(text: string): string {
  return text.toUpperCase().toLowerCase();
}

/** Negative, zero or positive; texts in the order of their code points, as databases compare bytes of UTF-8. */
export function compareCodePoints(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const left = String(a);
  const right = String(b);
  if (left === right) return 0;
  const shorter = Math.min(left.length, right.length);
  let at = 0;
  while (at < shorter && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  return rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
}

/** Surrogates stand for the highest code points, though their units are not the highest. The end comes first. */
function rank(unit: number): number {
  if (Number.isNaN(unit)) return -1;
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/**
 * Characters with a blank for a glyph, or none, that no property of Unicode tells from others: the filler of the
 * Khitan script, the braille pattern without a dot, the place of an object, two blanks of hieroglyphs and a musical note
 * without a head.
 */
const BLANK = '\\u{16fe4}\\u2800\\ufffc\\u{13441}\\u{13442}\\u{1d159}';
/**
 * Characters that nobody sees: default-ignorable ones (Hangul fillers, variation selectors, tags, soft hyphens and spaces
 * of no width among them), controls of direction and all other format controls (anchors of annotations, joiners of
 * hieroglyphs; marks of Arabic and Syriac numbers are among them, which no name has), non-characters, separators of lines, and
 * blanks. With one of them `admin` would be two users who look the same. Private and unassigned characters are none: names in
 * Chinese have them, where a font or a newer Unicode shows them.
 */
const UNSEEN = new RegExp(
  `[\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\p{Cf}\\p{Noncharacter_Code_Point}\\p{Zl}\\p{Zp}${BLANK}]`,
  'gu',
);

/**
 * What running text may not hold either: it would change the order of what is read, or hide a message. The others are
 * needed there by emoji and by text in two directions, or come along when text is pasted, and deceive nobody.
 */
const DECEPTIVE = /[\u202a-\u202e\u2066-\u2069\p{Noncharacter_Code_Point}\u{e0000}-\u{e007f}]/u;

const JOINERS = '\u200c\u200d';
/** A joiner with the letter before it and what follows. */
const JOINED = new RegExp(`(\\p{L}\\p{M}{0,8})[${JOINERS}](\\p{L}?)`, 'gu');
/** Reph and ya-phala of Bengali and Kannada are written with the joiner before the virama. */
const BEFORE_VIRAMA = /[\u09b0\u0cb0]\u200d(?=[\u09cd\u0ccd]\p{L})/gu;

/**
 * The first character of a name or identifier that nobody sees; undefined where there is none. ZWJ and ZWNJ are seen, by
 * the form of their neighbours, where the rules for domain names allow them (RFC 5892, A.1 and A.2): after the virama of
 * an Indic script, and ZWNJ between two Arabic letters that would join.
 */
export function invisibleIn(text: string): string | undefined {
  return PRINTABLE.test(text) ? undefined : findInvisible(text);
}

function findInvisible(text: string): string | undefined {
  const [first] = text.match(UNSEEN) ?? [];
  if (first === undefined || !JOINERS.includes(first)) return first;
  const rest = text
    .replace(BEFORE_VIRAMA, '')
    .replace(JOINED, (joined, before: string, after: string) =>
      isSeen(joined, after) ? before + after : joined,
    );
  return rest.match(UNSEEN)?.[0];
}

/** As `invisibleIn`, for running text. */
export function deceptiveIn(text: string): string | undefined {
  return PRINTABLE.test(text) ? undefined : DECEPTIVE.exec(text)?.[0];
}

/** The platform knows how each letter joins, and uses it for domain names. */
function isSeen(joined: string, after: string): boolean {
  const endsWithZwnj = after === '' && joined.endsWith('\u200c');
  return !endsWithZwnj && domainToASCII(joined) !== '';
}

/** `U+200B` */
export function codePointOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
