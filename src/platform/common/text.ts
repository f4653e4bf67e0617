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
  return text.length <= max
    ? text
    : Array.from(text.slice(0, 2 * max))
        .slice(0, max)
        .join('');
}

/**
 * True when the text holds neither control characters nor lone surrogates (which no database can store), nor more marks
 * on one letter than any writing has.
 */
export function isCleanText(text: string, options: { newlines?: boolean } = {}): boolean {
  if (PRINTABLE.test(text)) return true;
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
  if (ASCII.test(text)) return text.toLowerCase();
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
