import { FileError } from './file-error.js';
import { StrictDecoder } from './strict-decoder.js';

const BOMS: readonly (readonly [encoding: string, bytes: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];
const NOT_CSV: readonly (readonly [name: string, bytes: readonly number[]])[] = [
  ['a ZIP archive or an Excel workbook', [0x50, 0x4b, 0x03, 0x04]],
  ['an Excel workbook', [0xd0, 0xcf, 0x11, 0xe0]],
  ['a gzip archive', [0x1f, 0x8b]],
];
/** The longest mark above. */
const HEAD_BYTES = 4;
/** However large the chunks of a file are, its text comes in pieces that make only so many rows at once. */
const PIECE_BYTES = 64 * 1024;

/**
 * The text of a file without its byte order mark, piece by piece. The mark decides, then `encoding` (a WHATWG label),
 * else it is UTF-8: nothing is guessed. What stands before a fault is still given out.
 * @throws FileError `unknown_encoding`; `bad_encoding`, with line and byte: a byte that the encoding does not have, a
 * character cut short, NUL, an archive, a mark that contradicts `encoding`.
 */
export async function* decodeText(
  bytes: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
): AsyncGenerator<string> {
  let decoder: StrictDecoder | undefined;
  let head: Uint8Array = new Uint8Array();
  for await (const chunk of bytes) {
    // The first bytes are held back until they tell the encoding.
    const next: Uint8Array = decoder ? chunk : (head = Buffer.concat([head, chunk]));
    if (!decoder && head.length < HEAD_BYTES) continue;
    decoder ??= new StrictDecoder(encodingOf(head, encoding));
    for (let at = 0; at < next.length; at += PIECE_BYTES) {
      yield* decoder.decode(next.subarray(at, at + PIECE_BYTES));
    }
  }
  if (!decoder) {
    decoder = new StrictDecoder(encodingOf(head, encoding));
    yield* decoder.decode(head);
  }
  yield* decoder.end();
}

const begins = (head: Uint8Array, bytes: readonly number[]): boolean =>
  bytes.every((byte, index) => head[index] === byte);

function encodingOf(head: Uint8Array, encoding: string | undefined): string {
  const named = encoding === undefined ? undefined : StrictDecoder.labelOf(encoding);
  const other = NOT_CSV.find(([, bytes]) => begins(head, bytes))?.[0];
  if (other !== undefined) {
    const message = `The file is ${other}, not a CSV file; unpack it, or save the sheet as CSV.`;
    throw new FileError('bad_encoding', message, 1);
  }
  const marked = BOMS.find(([, bytes]) => begins(head, bytes))?.[0];
  if (marked !== undefined && named !== undefined && marked !== named) {
    throw new FileError(
      'bad_encoding',
      `The byte order mark of the file says ${marked}, but encoding= says ${named}; leave encoding= out, or correct it.`,
      1,
    );
  }
  return marked ?? named ?? 'utf-8';
}
