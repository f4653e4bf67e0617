import { ASCII_FORMS, toNormalForm } from '../../platform/common/text.js';

const CAPITAL = /\p{Lu}/u;
const GERMAN = new Map(Object.entries({ ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' }));
/** Parts of surnames that stay in small letters, unless they are the last word. */
const PARTICLES = new Set(
  'von vom zu zum zur van der den dem de del della di da do dos das du ter ten und y'.split(' '),
);

/** Converts text to ASCII: `Zoë Åström` becomes `Zoe Astrom`. Characters without an ASCII form are removed. */
function toAscii(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text;
  return toNormalForm(text, 'NFKD').replace(/[^\0-\x7f]/gu, (letter) => ASCII_FORMS.get(letter) ?? '');
}

/** Writes out German letters: `Jörg Groß` becomes `Joerg Gross`, and `MÜLLER` becomes `MUELLER`. */
function toGerman(text: string): string {
  return toNormalForm(text, 'NFC').replace(/[äöüßÄÖÜẞ]/g, (letter, at: number, whole: string) => {
    const form = GERMAN.get(letter.toLowerCase()) ?? '';
    if (letter === letter.toLowerCase()) return form;
    const isInCapitals = [at - 1, at + 1].some((next) => CAPITAL.test(whole.charAt(next)));
    return isInCapitals || letter === 'ẞ' ? form.toUpperCase() : form.charAt(0).toUpperCase() + form.slice(1);
  });
}

/**
 * Capitalizes the words that are all capitals or all small letters. `ANNA O'NEILL` becomes `Anna O'Neill`, `MCDONALD`
 * becomes `McDonald`, and `VON DER LEYEN` becomes `von der Leyen`. Other words stay as they are.
 */
function toTitleCase(text: string): string {
  return text.replace(
    /([\p{L}\p{M}'’]+)(\s+(?=['’]?\p{L}))?/gu,
    (_, word: string, gap: string | undefined) => {
      const small = word.toLowerCase();
      const isTitled = word !== small && word !== word.toUpperCase();
      if (isTitled || (gap !== undefined && PARTICLES.has(small)))
        return (isTitled ? word : small) + (gap ?? '');
      // A single letter after an apostrophe stays small, as in `Joe's` and `'t Hooft`.
      const capitalized = small
        .replace(/^\p{L}|(?<=['’])\p{L}(?=\p{L})/gu, (letter) => letter.toUpperCase())
        .replace(/^Mc\p{L}(?=\p{L})/u, (start) => `Mc${start.slice(2).toUpperCase()}`);
      return capitalized + (gap ?? '');
    },
  );
}

/** Returns the text before or after the first occurrence of `mark`. Without the mark, all text is before it. */
function splitAt(text: string, mark: string): { before: string; after: string } {
  const at = text.indexOf(mark);
  if (at < 0) return { before: text, after: '' };
  return { before: text.slice(0, at).trim(), after: text.slice(at + mark.length).trim() };
}

/** Last function of a template for Username. The planner applies it, because it depends on the other users. */
export const UNIQUE = 'unique';

/** Functions of templates. The argument is an empty string for a function without an argument. */
export const FUNCTIONS: ReadonlyMap<string, (text: string, argument: string) => string> = new Map([
  ['lower', (text: string) => text.toLowerCase()],
  ['upper', (text: string) => text.toUpperCase()],
  ['title', toTitleCase],
  ['ascii', toAscii],
  ['german', toGerman],
  ['trim', (text: string) => text.trim()],
  ['digits', (text: string) => toNormalForm(text, 'NFKC').replace(/[^0-9]/g, '')],
  ['pad', (text: string, length: string) => text.trim() && text.trim().padStart(Number(length), '0')],
  ['before', (text: string, mark: string) => splitAt(text, mark).before],
  ['after', (text: string, mark: string) => splitAt(text, mark).after],
  [UNIQUE, (text: string) => text],
]);

/** Functions that need an argument, with its pattern, and its name and an example for error messages. */
export const ARGUMENTS: ReadonlyMap<string, { pattern: RegExp; need: string; name: string }> = new Map([
  ['pad', { pattern: /^([1-9]|[1-5]\d|6[0-4])$/, need: 'a number from 1 to 64, as in pad:6', name: 'pad:N' }],
  ['before', { pattern: /./su, need: 'a text, as in before:@', name: 'before:X' }],
  ['after', { pattern: /./su, need: 'a text, as in after:@', name: 'after:X' }],
]);

/** Names of all functions, for error messages. */
export const FUNCTION_NAMES = new Intl.ListFormat('en-GB').format(
  [...FUNCTIONS.keys()].map((name) => ARGUMENTS.get(name)?.name ?? name),
);
