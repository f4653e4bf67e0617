import { ASCII_FORMS, toNormalForm } from '../../platform/common/text.js';

/** Maximum length of a text whose letters are compared one by one, in characters. */
const MAX_TEXT = 100;
/** Number of times that a text may have been encoded again. */
const MAX_ENCODINGS = 4;

/**
 * Characters for the bytes 128 to 159 in windows-1252. They are listed here, because some versions of Node.js decode
 * these bytes as control characters.
 */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
/** Characters for the bytes 128 to 255 in the code pages of consoles, which `TextDecoder` does not support. */
const IBM_850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\xad±‗¾¶§÷¸°¨·¹³²■\xa0';
const IBM_437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0';

const BYTES = Array.from({ length: 256 }, (_, byte) => byte);
const LATIN_1 = BYTES.map((byte) => String.fromCharCode(byte));

/** Code pages with which programs often read text by mistake. Maps each byte to its character. */
const CODE_PAGES: readonly (readonly string[])[] = [
  LATIN_1,
  ...[WINDOWS_1252, IBM_850, IBM_437].map((upper) => LATIN_1.map((char, byte) => upper[byte - 128] ?? char)),
  ...['windows-1250', 'windows-1251', 'windows-1254', 'iso-8859-2', 'macintosh', 'ibm866'].map((label) =>
    BYTES.map((byte) => new TextDecoder(label).decode(Uint8Array.of(byte))),
  ),
];

const HAS_NON_ASCII = /\P{ASCII}/u;
/** Characters that a program may remove or replace by `?`: blanks and control characters. */
const LOSABLE = /[\p{C}\s?]+/gu;
const NON_ASCII_RUN = /(?:\P{ASCII}|\?)+/u;

/**
 * Returns true if `now` is `old` encoded as UTF-8 and then read with a single-byte code page, once or several times, or
 * `old` with `?` in place of its non-ASCII characters.
 */
export function isBrokenForm(old: string, now: string): boolean {
  if (old === now || !HAS_NON_ASCII.test(old)) return false;
  // Some programs separate letters and accents before they encode a text.
  return (['NFC', 'NFKD'] as const).some((form) => {
    const text = toNormalForm(old, form);
    return hasLostCharacters(text, now) || CODE_PAGES.some((page) => isReadWith(page, text, now));
  });
}

/** Returns true if `now` has more `?` than `old`, and only where `old` has non-ASCII characters. */
function hasLostCharacters(old: string, now: string): boolean {
  const countMarks = (text: string): number => text.split('?').length;
  const listAsciiParts = (text: string): string => text.split(NON_ASCII_RUN).join('?');
  return countMarks(now) > countMarks(old) && listAsciiParts(now) === listAsciiParts(old);
}

function isReadWith(page: readonly string[], old: string, now: string): boolean {
  const remaining = now.replace(LOSABLE, '');
  const readAgain = (text: string): string => Array.from(Buffer.from(text), (byte) => page[byte]).join('');
  const findFirst = (text: string): string => HAS_NON_ASCII.exec(text)?.[0] ?? '';
  const wanted = findFirst(remaining);
  let first = findFirst(old);
  for (let times = 1; wanted !== '' && times <= MAX_ENCODINGS; times++) {
    // Compares one character first, because reading long texts with every code page takes time.
    first = page[Buffer.from(first)[0] ?? 0] ?? '';
    if (first !== wanted) continue;
    let text = old;
    for (let read = 0; read < times && text.length <= 2 * now.length; read++) text = readAgain(text);
    if (text.replace(LOSABLE, '') === remaining) return true;
  }
  return false;
}

const ACCENT = /(?=\P{ASCII})[\p{L}\p{M}]/u;
const NOT_A_LETTER = /[^\p{L}\p{M}]+/gu;
const ENTITY = /&(?:amp;)*#?\w{2,30};/g;

/** Returns true if a text contains letters that ASCII lacks. */
export function hasAccents(text: string): boolean {
  return ACCENT.test(text);
}

/**
 * Returns true if `now` is `old` without some of its accents: with base letters, with no letters, with other characters
 * or with letters of another code page in place of the letters that ASCII lacks. A spelling such as `ue` for `ü` keeps
 * the accent. Texts over 100 characters are not compared.
 */
export function losesAccents(old: string, now: string): boolean {
  if (!hasAccents(old) || now === '' || old.length > MAX_TEXT || now.length > MAX_TEXT) return false;
  const letters = listLetters(now);
  // Programs that remove accents often spell out letters such as `ß` that have no base letter.
  return [old, spellOut(old)].some((text) => hasLostAccents(listLetters(text), letters));
}

function hasLostAccents(old: string, now: string): boolean {
  const [accents, remaining] = [listAccents(old), listAccents(now)];
  if (accents === remaining || remaining.length > accents.length) return false;
  return buildDamagePattern(old, now).test(now);
}

const listLetters = (text: string): string =>
  toNormalForm(text.replace(ENTITY, ''), 'NFC').replace(NOT_A_LETTER, '');

const listAccents = (text: string): string => Array.from(text.toLowerCase()).filter(hasAccents).join('');

const toAscii = (letter: string): string => ASCII_FORMS.get(letter) ?? letter;

const spellOut = (text: string): string => text.replace(/[ßẞæÆœŒþÞ]/g, toAscii);

/**
 * Builds the pattern of all damaged forms of a text. A letter that may also belong to the damaged letter before it joins
 * that letter's group, so that the pattern is matched in linear time.
 */
function buildDamagePattern(old: string, now: string): RegExp {
  const keepsScript = Array.from(old).some((letter) => !isLatin(letter) && now.includes(letter));
  const groups: { forms: string; least: number; most: number }[] = [];
  for (const letter of old) {
    const isFixed = !hasAccents(letter) || (keepsScript && !isLatin(letter));
    const last = groups.at(-1);
    const joins = last && last.most > last.least && (!isFixed || last.forms.includes(letter));
    const group = joins ? last : { forms: '', least: 0, most: 0 };
    if (!joins) groups.push(group);
    group.forms += isFixed ? listCases(letter) : listForms(letter);
    group.least += isFixed ? 1 : 0;
    group.most++;
  }
  const parts = groups.map(({ forms, least, most }) => `[${forms}]{${least},${most}}`);
  return new RegExp(`^${parts.join('')}$`, 'u');
}

/** Returns true if a letter is Latin. Other scripts have no base letters, so a missing letter is an ordinary change. */
const isLatin = (letter: string): boolean => /[\p{Script=Latin}\p{M}]/u.test(letter);

/** Letters that ASCII lacks of all code pages, by byte. */
const LETTERS_OF_BYTES = BYTES.map((byte) =>
  CODE_PAGES.map((page) => page[byte] ?? '')
    .filter(hasAccents)
    .join(''),
);

/** Lists the letter itself, its base letter, and the letters with the same byte in another code page. */
function listForms(letter: string): string {
  const [base = ''] = toAscii(toNormalForm(letter, 'NFKD').charAt(0));
  const wrong = CODE_PAGES.map((page) => LETTERS_OF_BYTES[page.indexOf(letter)] ?? '');
  return `${listCases(hasAccents(base) ? letter : letter + base)}${wrong.join('')}`;
}

const listCases = (letters: string): string => letters.toLowerCase() + letters.toUpperCase();
