import { toNormalForm } from '../../platform/common/text.js';

/** Maps a letter to ASCII spellings that Unicode normalization does not produce, such as `ae` for `ä`. */
const SPELLED: Readonly<Record<string, readonly string[]>> = {
  ä: ['ae'],
  ö: ['oe'],
  ü: ['ue'],
  å: ['aa'],
  ß: ['ss', 's'],
  æ: ['ae', 'a'],
  œ: ['oe', 'o'],
  ø: ['oe', 'o'],
  đ: ['d'],
  ð: ['d'],
  þ: ['th'],
  ł: ['l'],
  ı: ['i'],
};

/**
 * Maximum length of a name that is compared letter by letter, in characters. Longer texts are only checked for double
 * encoding.
 */
const MAX_NAME = 100;

const ASCII = /^[\0-\x7f]*$/;
const LETTER = /\p{L}/u;
const MARKS = /\p{M}+/gu;

/**
 * Characters for the bytes 128 to 159 in windows-1252. They are listed here, because some versions of Node.js decode
 * these bytes as control characters.
 */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

function pageOf(label: string, upper = '') {
  const decoder = new TextDecoder(label);
  const letters = Array.from(
    { length: 256 },
    (_, byte) => upper[byte - 128] ?? decoder.decode(Uint8Array.of(byte)),
  );
  return { bytes: new Map(letters.map((letter, byte) => [letter, byte])), letters };
}

const WINDOWS = pageOf('windows-1252', WINDOWS_1252);
/** Code pages with which programs often decode exports by mistake. */
const PAGES = [WINDOWS, ...['windows-1251', 'macintosh', 'ibm866'].map((label) => pageOf(label))];

const MARKUP: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
};
const HAS_MARKUP = /[&<>"']/;
/** Matches an HTML entity that was escaped once or several times. */
const ENTITY = /^&(?:amp;)*(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([A-Za-z][A-Za-z\d]{1,30}));/;
const MAX_ENTITY = 48;

/**
 * Returns true if `after` looks like a damaged form of `before`: without accents, decoded with the wrong encoding, or
 * escaped as HTML. All ASCII characters must remain, in the same order. Each other character may be missing, wrongly
 * decoded, escaped as an entity, or replaced by its base letter or by characters that are not letters.
 */
export function isGarbled(before: string, after: string): boolean {
  const [old, now] = [toNormalForm(before, 'NFC'), toNormalForm(after, 'NFC')];
  if (old === now || (ASCII.test(old) && !HAS_MARKUP.test(old))) return false;
  if (isEncodedTwice(now)) return !isEncodedTwice(old) || now.length > old.length;
  if (old.length > MAX_NAME || now.length > 2 * MAX_NAME) return false;
  return matches(Array.from(old), Array.from(now));
}

/**
 * Returns true if `now` may be a damaged form of `old`. Uses dynamic programming, because a name with several accents
 * can be damaged in many ways.
 */
function matches(old: readonly string[], now: readonly string[]): boolean {
  let ends = new Set([0]);
  for (const letter of old) {
    const next = new Set<number>();
    for (const end of ends) {
      if (now[end] === '&') for (const length of entity(letter, now, end)) next.add(end + length);
      if (now[end] === letter) next.add(end + 1);
      else if (!ASCII.test(letter)) for (const length of losses(letter, now, end)) next.add(end + length);
    }
    if (next.size === 0) return false;
    ends = next;
  }
  return ends.has(now.length);
}

/**
 * Returns a list with the length of the HTML entity at position `at`, or an empty list without an entity that can stand
 * for the letter. Any named entity can stand for a non-ASCII letter.
 */
function entity(letter: string, now: readonly string[], at: number): number[] {
  const [text, decimal, hex, name] = ENTITY.exec(now.slice(at, at + MAX_ENTITY).join('')) ?? [];
  if (text === undefined) return [];
  const code = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal);
  if (name === undefined) return code === letter.codePointAt(0) ? [text.length] : [];
  return !ASCII.test(letter) || MARKUP[letter] === name ? [text.length] : [];
}

/**
 * Returns the possible lengths of the damaged form of a letter at position `at`. The length is 0 if the letter is
 * missing.
 */
function losses(letter: string, now: readonly string[], at: number): number[] {
  const lengths = [0];
  const rest = now.slice(at, at + 4);
  for (let length = 1; length <= rest.length && !isLetter(rest[length - 1]); length++) lengths.push(length);
  const next = rest[0];
  if (next === undefined) return lengths;
  const base = toNormalForm(letter, 'NFKD').replace(MARKS, '');
  const upper = letter.toLowerCase() !== letter;
  const spelled = [base, ...(SPELLED[letter.toLowerCase()] ?? [])].filter(
    (text) => ASCII.test(text) && text !== '',
  );
  for (const text of spelled) {
    const found = rest.slice(0, text.length).join('');
    if (found === text || (upper && found.toLowerCase() === text.toLowerCase())) lengths.push(text.length);
  }
  if (!ASCII.test(next) && isMisread(letter, next)) lengths.push(1);
  return lengths;
}

const isLetter = (character: string | undefined): boolean =>
  character !== undefined && LETTER.test(character);

/** Returns true if `next` is the result of encoding the letter with one code page and decoding it with another. */
function isMisread(letter: string, next: string): boolean {
  return PAGES.some((written) => {
    const byte = written.bytes.get(letter);
    return byte !== undefined && PAGES.some((read) => read !== written && read.letters[byte] === next);
  });
}

/** Matches the first two bytes of a UTF-8 character that were decoded as windows-1252 or ISO 8859-1. */
const TWICE =
  /[\u00c2-\u00f4][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]/;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Returns true if a text is UTF-8 that was decoded with a single-byte code page, such as `MÃ¼ller`. */
function isEncodedTwice(text: string): boolean {
  if (!TWICE.test(text)) return false;
  const bytes: number[] = [];
  for (const letter of text) {
    const code = letter.charCodeAt(0);
    const byte = code < 0x100 ? code : WINDOWS.bytes.get(letter);
    if (byte === undefined) return false;
    bytes.push(byte);
  }
  try {
    UTF8.decode(Uint8Array.from(bytes));
    return true;
  } catch {
    return false;
  }
}

const ESCAPED = /&(?:amp;)*(?:#\d{2,7}|#x[\da-f]{2,6}|[a-z]{2,10});/i;

const PLAIN_NAME = /^[A-Za-z .'-]*$/;

/**
 * Returns true if a name looks damaged even without an older name for comparison: encoded twice, escaped as HTML, or
 * with lost letters (`M?ller`).
 */
export function isBrokenName(name: string): boolean {
  if (PLAIN_NAME.test(name)) return false;
  if (ESCAPED.test(name)) return true;
  return name.includes('\ufffd') || /\p{L}\?+(\p{Ll}|$)|^\?+\p{Ll}/u.test(name) || isEncodedTwice(name);
}
