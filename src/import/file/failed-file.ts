import { isUuid } from '../../platform/common/uuid.js';
import { DELIMITERS, SEPARATOR_LINE, parseFirstRecords } from './csv-reader.js';

/**
 * Columns that `failed.csv` adds to the columns of the source: the id of the run, the line of the row in the file of
 * the run, and the codes and messages of its errors. The last three show that a file is a `failed.csv`.
 */
export const ADDED_COLUMNS = ['_run', '_line', '_code', '_message'];
const MARKERS = ADDED_COLUMNS.slice(1);
/** Number of bytes that are read to recognize a `failed.csv`, more than any header and row need. */
const HEAD_BYTES = 64 * 1024;

/** Returns the index of the column `_line` in the header of a `failed.csv`, or -1 for another file. */
export function findLineColumn(names: readonly string[]): number {
  const start = names.findLastIndex((name) => name.trim() !== '') + 1 - MARKERS.length;
  return MARKERS.every((marker, index) => names[start + index]?.trim() === marker) ? start : -1;
}

/**
 * Recognizes a `failed.csv` by its first bytes.
 * @returns the delimiter, and the id of the run whose rows failed if the file contains it. Undefined for another file.
 */
export async function findFailedFile(bytes: AsyncIterable<Uint8Array>) {
  const text = (await readHead(bytes)).replace(SEPARATOR_LINE, '');
  for (const delimiter of DELIMITERS) {
    const [names = [], row = []] = parseFirstRecords(text, delimiter, 2);
    const line = findLineColumn(names);
    if (line < 0) continue;
    const run = names[line - 1]?.trim() === ADDED_COLUMNS[0] ? (row[line - 1]?.trim() ?? '') : '';
    return { delimiter, run: isUuid(run) ? run.toLowerCase() : undefined };
  }
  return undefined;
}

/** Reads the first bytes as UTF-16 with a byte order mark, or as UTF-8. The names of the added columns are ASCII. */
async function readHead(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  let head = Buffer.alloc(0);
  for await (const piece of bytes) {
    head = Buffer.concat([head, piece]);
    if (head.length >= HEAD_BYTES) break;
  }
  const mark = head.toString('hex', 0, 2);
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(head);
}
