import { domainToASCII } from 'node:url';

const PRINTABLE = /^[ -~]*$/;

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
  if (PRINTABLE.test(text)) return undefined;
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
