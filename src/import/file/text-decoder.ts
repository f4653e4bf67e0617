import { TextDecoder } from 'node:util';
import { FileError } from './file-error.js';

const BOMS: readonly (readonly [encoding: string, bytes: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];
const ARCHIVES: readonly (readonly [name: string, bytes: readonly number[]])[] = [
  ['a ZIP archive or an Excel workbook', [0x50, 0x4b, 0x03, 0x04]],
  ['a gzip archive', [0x1f, 0x8b]],
];
/** The longest mark above. */
const HEAD_BYTES = 4;
const LINE_END = /\r\n|\r|\n/g;

/**
 * The text of a file, piece by piece. A byte order mark decides, then `encoding`, else it is UTF-8: nothing is guessed.
 * @throws FileError `bad_encoding` with line and byte: a byte that the encoding does not have, a character cut short,
 * NUL, an archive, a mark that contradicts `encoding`.
 */
export async function* decodeText(
  bytes: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
): AsyncGenerator<string> {
  const decoder = new FileDecoder(encoding);
  for await (const chunk of bytes) {
    const text = decoder.push(chunk);
    if (text !== '') yield text;
  }
  const rest = decoder.end();
  if (rest !== '') yield rest;
}

/** The first bytes are held back until they tell the encoding. */
class FileDecoder {
  private head = new Uint8Array();
  private decoder: TextDecoder | undefined;
  private readonly place = { line: 1, byte: 0 };

  constructor(private readonly encoding: string | undefined) {}

  push(chunk: Uint8Array): string {
    if (this.decoder) return this.decode(this.decoder, chunk, false);
    this.head = Buffer.concat([this.head, chunk]);
    return this.head.length < HEAD_BYTES ? '' : this.begin();
  }

  end(): string {
    const head = this.decoder ? '' : this.begin();
    return head + (this.decoder ? this.decode(this.decoder, new Uint8Array(), true) : '');
  }

  private begin(): string {
    this.decoder = new TextDecoder(encodingOf(this.head, this.encoding), { fatal: true });
    return this.decode(this.decoder, this.head, false);
  }

  private decode(decoder: TextDecoder, chunk: Uint8Array, last: boolean): string {
    const text = decodeChunk(decoder, chunk, last, this.place);
    assertNoNul(text, this.place.line);
    this.place.line += text.match(LINE_END)?.length ?? 0;
    this.place.byte += chunk.length;
    return text;
  }
}

const begins = (head: Uint8Array, bytes: readonly number[]): boolean =>
  bytes.every((byte, index) => head[index] === byte);

function encodingOf(head: Uint8Array, named: string | undefined): string {
  const archive = ARCHIVES.find(([, bytes]) => begins(head, bytes));
  if (archive) {
    throw new FileError(
      'bad_encoding',
      `This is ${archive[0]}, not a CSV file; unpack it, or save the sheet as CSV.`,
      1,
    );
  }
  const marked = BOMS.find(([, bytes]) => begins(head, bytes))?.[0];
  if (named === undefined) return marked ?? 'utf-8';
  const label = new TextDecoder(named).encoding;
  if (marked !== undefined && marked !== label) {
    throw new FileError(
      'bad_encoding',
      `The file's byte order mark says ${marked}, but encoding says ${label}.`,
      1,
    );
  }
  return label;
}

function decodeChunk(
  decoder: TextDecoder,
  chunk: Uint8Array,
  last: boolean,
  place: { line: number; byte: number },
): string {
  try {
    return decoder.decode(chunk, { stream: !last });
  } catch {
    throw badByte(decoder.encoding, chunk, place);
  }
}

/** Decodes the chunk byte by byte to tell where it breaks; a character that an earlier chunk began breaks at its start. */
function badByte(
  encoding: string,
  chunk: Uint8Array,
  { line, byte }: { line: number; byte: number },
): FileError {
  const again = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  let text = '';
  let at = 0;
  try {
    while (at < chunk.length) text += again.decode(chunk.subarray(at, ++at), { stream: true });
    text = '';
    at = 0;
  } catch {
    if (encoding === 'utf-8') at = Buffer.byteLength(text) + 1;
  }
  const lines = line + (text.match(LINE_END)?.length ?? 0);
  return new FileError(
    'bad_encoding',
    `Byte ${byte + at} of the file, on line ${lines}, is not valid ${encoding}; ` +
      'save the file as UTF-8, or name its encoding with encoding=….',
    lines,
  );
}

function assertNoNul(text: string, line: number): void {
  const at = text.indexOf('\0');
  if (at < 0) return;
  const lines = line + (text.slice(0, at).match(LINE_END)?.length ?? 0);
  throw new FileError(
    'bad_encoding',
    `Line ${lines} holds a NUL character; the file is probably UTF-16 without a byte order mark: save it as UTF-8.`,
    lines,
  );
}
