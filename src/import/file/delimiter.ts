import { parse } from 'csv-parse/sync';

/** The first delimiter is the one of a header under which no name is known. */
const DELIMITERS = [',', ';', '\t', '|'];
/** RFC 4180 has CRLF, Unix LF, and old Macs CR; one file may mix them. */
export const LINE_ENDS = ['\r\n', '\n', '\r'];
/** Far more than the names of 200 columns. */
const HEAD_CHARACTERS = 64 * 1024;

/** So much of the text as tells its delimiter, taken out of `text`. */
export async function headOf(text: AsyncGenerator<string>): Promise<string> {
  const pieces: string[] = [];
  for (let length = 0; length < HEAD_CHARACTERS;) {
    const piece = await text.next();
    if (piece.done) break;
    pieces.push(piece.value);
    length += piece.value.length;
  }
  return pieces.join('');
}

/** The delimiter under which most names of the first record are known; of several, the earlier one. */
export function delimiterOf(head: string, known: (name: string) => boolean): string {
  const scores = DELIMITERS.map((delimiter) => firstRecord(head, delimiter).filter(known).length);
  return DELIMITERS[scores.indexOf(Math.max(...scores))] ?? ',';
}

function firstRecord(head: string, delimiter: string): string[] {
  try {
    return parse(head, { delimiter, record_delimiter: LINE_ENDS, skip_empty_lines: true, to: 1 })[0] ?? [];
  } catch {
    // No header under this delimiter; the reader tells what is wrong with it.
    return [];
  }
}
