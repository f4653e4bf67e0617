import { TextDecoder } from 'node:util';
import { findEncoding } from '../../platform/common/encoding.js';
import { FileError } from './file-error.js';

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
/** Length of the longest of these byte sequences. */
const HEAD_BYTES = 4;
/** Largest piece that is decoded at a time, in bytes. It limits the number of rows in memory for large chunks. */
const PIECE_BYTES = 64 * 1024;
/** Length of the longest character in any encoding, in bytes. */
const CHARACTER_BYTES = 4;
const LINE_END = /\r\n?|\n/g;

/**
 * Yields the text of a file without its byte order mark. The mark determines the encoding, or else `encoding` (a WHATWG
 * label), and the default is UTF-8. The text before an error is yielded before the error is thrown.
 * @param found called with the encoding before any text is yielded.
 * @throws FileError `unknown_encoding` for an unknown label. Throws `bad_encoding`, with line and byte, for an invalid byte,
 * an incomplete last character, a NUL, an archive, or a mark that contradicts `encoding`.
 */
export async function* decodeText(
  bytes: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  found: (encoding: string) => void = () => undefined,
): AsyncGenerator<string> {
  let decoder: StrictDecoder | undefined;
  let head: Uint8Array = new Uint8Array();
  const decoderOf = (): StrictDecoder => {
    const name = encodingOf(head, encoding);
    found(name);
    return new StrictDecoder(name);
  };
  for await (const chunk of bytes) {
    // Buffer the first bytes until there are enough to detect the encoding.
    const next: Uint8Array = decoder ? chunk : (head = Buffer.concat([head, chunk]));
    if (!decoder && head.length < HEAD_BYTES) continue;
    decoder ??= decoderOf();
    for (let at = 0; at < next.length; at += PIECE_BYTES) {
      yield* decoder.decode(next.subarray(at, at + PIECE_BYTES));
    }
  }
  if (!decoder) {
    decoder = decoderOf();
    yield* decoder.decode(head);
  }
  yield* decoder.end();
}

const startsWith = (head: Uint8Array, bytes: readonly number[]): boolean =>
  bytes.every((byte, index) => head[index] === byte);

function encodingOf(head: Uint8Array, encoding: string | undefined): string {
  const named = encoding === undefined ? undefined : labelOf(encoding);
  const other = NOT_CSV.find(([, bytes]) => startsWith(head, bytes))?.[0];
  if (other !== undefined) throw notCsv(other);
  const marked = BOMS.find(([, bytes]) => startsWith(head, bytes))?.[0];
  if (marked !== undefined && named !== undefined && marked !== named) throw otherMark(marked, named);
  return marked ?? named ?? 'utf-8';
}

const notCsv = (other: string) =>
  new FileError(
    'bad_encoding',
    `The file is ${other}, not a CSV file. Unpack it, or save the sheet as CSV.`,
    1,
  );

const otherMark = (marked: string, named: string) =>
  new FileError(
    'bad_encoding',
    `The byte order mark of the file means ${marked}, but encoding= is ${named}. Correct encoding=, or leave it out.`,
    1,
  );

/** Returns the standard name of an encoding. @throws FileError `unknown_encoding` for an unknown label. */
function labelOf(encoding: string): string {
  const known = findEncoding(encoding);
  if (known !== undefined) return known;
  throw new FileError(
    'unknown_encoding',
    `The encoding "${encoding.slice(0, 100)}" is unknown. Use a name such as utf-8, utf-16le or windows-1252.`,
  );
}

/** Decoder of a stream of bytes that reports the line and the byte of an error. */
class StrictDecoder {
  private readonly decoder: TextDecoder;
  /** Second decoder, which lags one character. It can therefore read a piece with an error again, byte by byte. */
  private readonly later: TextDecoder;
  /** Last decoded bytes, which `lagging` has not read yet. */
  private last = Buffer.alloc(0);
  private line = 1;
  private afterReturn = false;
  /** Number of bytes that `lagging` has read, and number up to the end of its last complete character. */
  private bytes = 0;
  private complete = 0;

  constructor(private readonly encoding: string) {
    this.decoder = new TextDecoder(encoding, { fatal: true });
    this.later = new TextDecoder(encoding, { fatal: true });
  }

  /** Yields the text of a piece, or its text before an error. @throws FileError `bad_encoding` at the error. */
  *decode(piece: Uint8Array): Generator<string> {
    let text: string;
    try {
      text = this.decoder.decode(piece, { stream: true });
    } catch {
      this.readBytes(this.last); // the text of these bytes was already yielded
      yield* this.checked(this.readBytes(piece));
      throw this.badByte();
    }
    const bytes = Buffer.concat([this.last, piece]);
    this.read(bytes.subarray(0, -CHARACTER_BYTES));
    this.last = bytes.subarray(-CHARACTER_BYTES);
    yield* this.checked(text);
  }

  /** Yields the remaining text. @throws FileError `bad_encoding` if the last character is incomplete. */
  *end(): Generator<string> {
    let text: string;
    try {
      text = this.decoder.decode();
    } catch {
      this.readBytes(this.last);
      throw this.badByte();
    }
    yield* this.checked(text);
  }

  /** Decodes a piece byte by byte up to its first invalid byte. */
  private readBytes(piece: Uint8Array): string {
    let text = '';
    try {
      for (let at = 0; at < piece.length; at++) text += this.read(piece.subarray(at, at + 1));
    } catch {
      // Stop at the invalid byte.
    }
    return text;
  }

  private read(bytes: Uint8Array): string {
    const text = this.later.decode(bytes, { stream: true });
    this.bytes += bytes.length;
    if (text !== '') this.complete = this.bytes;
    return text;
  }

  private badByte(): FileError {
    return new FileError(
      'bad_encoding',
      `Byte ${this.complete} of the file, on line ${this.line}, is not valid ${this.encoding}. ` +
        'Save the file as UTF-8, or set its encoding with encoding=….',
      this.line,
    );
  }

  private *checked(text: string): Generator<string> {
    const nul = text.indexOf('\0');
    const good = nul < 0 ? text : text.slice(0, nul);
    if (good !== '') {
      this.count(good);
      yield good;
    }
    if (nul >= 0) throw this.nulCharacter();
  }

  private nulCharacter(): FileError {
    const advice = this.encoding.startsWith('utf-16')
      ? 'Remove it'
      : 'The file is probably UTF-16 without a byte order mark. Save it as UTF-8, or set its encoding with encoding=…';
    return new FileError('bad_encoding', `Line ${this.line} contains a NUL character. ${advice}.`, this.line);
  }

  private count(text: string): void {
    const ends = text.match(LINE_END)?.length ?? 0;
    this.line += this.afterReturn && text.startsWith('\n') ? ends - 1 : ends;
    this.afterReturn = text.endsWith('\r');
  }
}

/** Numbers of lines before and after the table of a file, such as titles, dates and totals. */
export interface SkippedLines {
  first: number;
  last: number;
}

/** Maximum number of buffered characters. The last lines of a file are buffered until the file ends. */
const MAX_KEPT = 1024 * 1024;

/**
 * Yields a text without its first and last lines. Quotes in these lines have no effect. A final line end belongs to the last
 * line and does not start an empty one.
 * @throws FileError `row_too_long` if the skipped lines have more than a million characters.
 */
export async function* withoutLines(
  text: AsyncGenerator<string>,
  { first, last }: SkippedLines,
): AsyncGenerator<string> {
  let before = first;
  let kept = '';
  try {
    for await (const piece of text) {
      kept += piece;
      // The LF of a CRLF may be in the next piece.
      const whole = kept.endsWith('\r') ? kept.slice(0, -1) : kept;
      const cut = before > 0 ? lineEnds(whole, before) : [];
      before -= cut.length;
      kept = kept.slice(cut.at(-1) ?? 0);
      if (before > 0) {
        if (cut.length === 0 && kept.length > MAX_KEPT) throw tooLong('first');
        continue;
      }
      const end = last === 0 ? kept.length - (kept.endsWith('\r') ? 1 : 0) : beginOfLast(kept, last);
      if (end > 0) yield kept.slice(0, end);
      kept = kept.slice(end);
      if (kept.length > MAX_KEPT) throw tooLong('last');
    }
    if (before > 0) return;
    const end = last === 0 ? kept.length : beginOfLast(kept, last);
    if (end > 0) yield kept.slice(0, end);
  } finally {
    await text.return(undefined);
  }
}

/** Returns the positions after the first line ends, at most `most`. */
function lineEnds(text: string, most: number): number[] {
  const ends: number[] = [];
  for (const match of text.matchAll(LINE_END)) {
    ends.push(match.index + match[0].length);
    if (ends.length === most) break;
  }
  return ends;
}

/** Returns the position where the last lines begin, or 0 if the text has no other lines. */
function beginOfLast(text: string, lines: number): number {
  let at = withoutEnd(text, text.length);
  for (let line = 0; line < lines; line++) {
    const begin = Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1;
    if (begin === 0 || at === 0) return 0;
    if (line === lines - 1) return begin;
    at = withoutEnd(text, begin);
  }
  return at;
}

/** Returns the position before the line end that ends at `at`, or `at` itself. */
function withoutEnd(text: string, at: number): number {
  if (text[at - 1] === '\n') return text[at - 2] === '\r' ? at - 2 : at - 1;
  return text[at - 1] === '\r' ? at - 1 : at;
}

const tooLong = (which: 'first' | 'last'): FileError =>
  new FileError(
    'row_too_long',
    `The ${which} lines of the file, which the profile skips, have more than a million characters. Correct skip_${which === 'first' ? '' : 'last_'}lines in the profile.`,
  );
