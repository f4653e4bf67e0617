import { truncate } from '../../platform/common/text.js';
import { type FilePrefix, PrefixEndError } from './file-store.js';
import { FileError } from './file-error.js';
import { decodeText } from './text-decoder.js';

/** Encodings of exports that are not UTF-8. If two are equally plausible, the first one wins. */
const ENCODINGS =
  'windows-1252 iso-8859-15 windows-1250 windows-1251 macintosh ibm866 utf-16le utf-16be'.split(' ');
const MAX_OFFERS = 4;
const MAX_CELLS = 2;
/** Maximum length of a cell and of a word that is rated. Some patterns take quadratic time. */
const MAX_TEXT = 100;
/** Maximum number of rated words. */
const MAX_WORDS = 2000;
/** Average penalty of a word from which an encoding is not offered. */
const MAX_PENALTY = 1.5;

const WORD_END = /[\s"'()<>@.,;:|/-]+/;
const CELL_END = /[\t\r\n;,|"]+/;
/** Signs of a wrong encoding in a word, with their penalties. */
const SIGNS: readonly (readonly [RegExp, number])[] = [
  [/[\x80-\x9f\ufffd]/, 8],
  [/\p{L}[^\0-\x7f\p{L}\p{M}]|[^\0-\x7f\p{L}\p{M}]\p{L}/u, 4],
  [/(?=.*[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Han}])(?=.*\p{Script=Latin})/u, 4],
  [/[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\0-\x7f]/u, 1],
  [/\p{Ll}(?!\p{Ll})\p{Lu}/u, 2],
  [/(?=[^\0-\x7f]{2})\p{Script=Latin}{2}/u, 1],
  // Letters outside Western European languages are less frequent.
  [/(?![ß-öø-ÿœÄÖÜÉÈÀÇÑÅØÆÁÓÍ])[^\0-\x7f]/u, 0.3],
];

/**
 * Finds the encodings that read the start of a file without an error, the most plausible first. Returns an empty list
 * for a file that is read without `encoding`, and omits encodings that read the same text as an earlier one.
 */
export async function offerEncodings(head: FilePrefix): Promise<{ encoding: string; cells: string[] }[]> {
  if (!(await decodeHead(head, undefined)).fault) return [];
  const read = new Map<string, string>();
  for (const encoding of ENCODINGS) {
    const { text, fault } = await decodeHead(head, encoding);
    if (!fault && !read.has(text)) read.set(text, encoding);
  }
  const offers = Array.from(read, ([text, encoding]) => ({ text, encoding, penalty: rateText(text) }))
    .filter(({ penalty }) => penalty < MAX_PENALTY)
    .toSorted((a, b) => a.penalty - b.penalty)
    .slice(0, MAX_OFFERS)
    .map(({ text, encoding }) => ({ encoding, cells: splitOther(text, CELL_END) }));
  const readings = Map.groupBy(
    offers.flatMap(({ cells }) => cells),
    (cell) => cell,
  );
  // Prefer cells that the offered encodings read differently.
  const countReadings = (cell: string): number => readings.get(cell)?.length ?? 0;
  return offers.map(({ encoding, cells }) => ({
    encoding,
    cells: cells.toSorted((a, b) => countReadings(a) - countReadings(b)).slice(0, MAX_CELLS),
  }));
}

/** Decodes the start of a file up to the first error. */
export async function decodeHead(
  head: FilePrefix,
  encoding: string | undefined,
): Promise<{ text: string; fault?: FileError }> {
  let text = '';
  try {
    for await (const piece of decodeText(head.read(), encoding)) text += piece;
  } catch (error) {
    if (error instanceof FileError) return { text, fault: error };
    if (!(error instanceof PrefixEndError)) throw error;
  }
  return { text };
}

/** Returns the average penalty of the words that are not ASCII. */
function rateText(text: string): number {
  const words = splitOther(text, WORD_END).slice(0, MAX_WORDS);
  const penalties = words.flatMap((word) => SIGNS.map(([sign, penalty]) => (sign.test(word) ? penalty : 0)));
  return penalties.reduce((sum, penalty) => sum + penalty, 0) / Math.max(1, words.length);
}

/** Splits a text, and returns the distinct parts that are not ASCII. */
function splitOther(text: string, end: RegExp): string[] {
  const parts = text.split(end).filter((part) => /[^\0-\x7f]/.test(part));
  return [...new Set(parts.map((part) => truncate(part.trim(), MAX_TEXT)))];
}
