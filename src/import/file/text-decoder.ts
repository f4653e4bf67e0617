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
/** The longest of the byte sequences above. */
const HEAD_BYTES = 4;
/** However large the chunks of a file are, its text comes in pieces that bound the number of rows in memory. */
const PIECE_BYTES = 64 * 1024;
/** The longest character in any encoding. */
const CHARACTER_BYTES = 4;
const LINE_END = /\r\n?|\n/g;

/**
 * The text of a file without its byte order mark, piece by piece. The mark decides on the encoding, then `encoding` (a
 * WHATWG label); without either it is UTF-8. The text before a fault is yielded before the error is thrown.
 * @param found receives the encoding before any text.
 * @throws FileError `unknown_encoding`; `bad_encoding`, with line and byte, for an invalid byte, an incomplete last
 * character, a NUL, an archive, or a mark that contradicts `encoding`.
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
    // The first bytes are held back until there are enough to determine the encoding.
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
    `The file is ${other}, not a CSV file; unpack it, or save the sheet as CSV.`,
    1,
  );

const otherMark = (marked: string, named: string) =>
  new FileError(
    'bad_encoding',
    `The byte order mark of the file says ${marked}, but encoding= says ${named}; leave encoding= out, or correct it.`,
    1,
  );

/** The standard name of an encoding. @throws FileError `unknown_encoding`. */
function labelOf(encoding: string): string {
  const known = findEncoding(encoding);
  if (known !== undefined) return known;
  throw new FileError(
    'unknown_encoding',
    `The encoding "${encoding.slice(0, 100)}" is not known; name one such as utf-8, utf-16le or windows-1252.`,
  );
}

/** Decodes a stream of bytes and knows the line and the byte of a fault. */
class StrictDecoder {
  private readonly decoder: TextDecoder;
  /** A character later than `decoder`, so that a piece with a fault can be read again, byte by byte. */
  private readonly later: TextDecoder;
  /** The bytes that `later` has yet to read: the last ones that were decoded. */
  private last = Buffer.alloc(0);
  private line = 1;
  private afterReturn = false;
  /** Bytes read by `later`, and those up to the end of its last complete character. */
  private bytes = 0;
  private complete = 0;

  constructor(private readonly encoding: string) {
    this.decoder = new TextDecoder(encoding, { fatal: true });
    this.later = new TextDecoder(encoding, { fatal: true });
  }

  /** The text of a piece, or of its part before a fault. @throws FileError `bad_encoding` at the fault. */
  *decode(piece: Uint8Array): Generator<string> {
    let text: string;
    try {
      text = this.decoder.decode(piece, { stream: true });
    } catch {
      this.readBytes(this.last); // its text has been yielded
      yield* this.checked(this.readBytes(piece));
      throw this.badByte();
    }
    const bytes = Buffer.concat([this.last, piece]);
    this.read(bytes.subarray(0, -CHARACTER_BYTES));
    this.last = bytes.subarray(-CHARACTER_BYTES);
    yield* this.checked(text);
  }

  /** @throws FileError `bad_encoding` when the last character is incomplete. */
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

  /** The text of some bytes, as far as they are valid. */
  private readBytes(piece: Uint8Array): string {
    let text = '';
    try {
      for (let at = 0; at < piece.length; at++) text += this.read(piece.subarray(at, at + 1));
    } catch {
      // The fault is here.
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
      `Byte ${this.complete} of the file, on line ${this.line}, is not valid ${this.encoding}; ` +
        'save the file as UTF-8, or name its encoding with encoding=….',
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
      ? 'take it out'
      : 'the file is probably UTF-16 without a byte order mark: save it as UTF-8, or name its encoding with encoding=…';
    return new FileError('bad_encoding', `Line ${this.line} holds a NUL character; ${advice}.`, this.line);
  }

  private count(text: string): void {
    const ends = text.match(LINE_END)?.length ?? 0;
    this.line += this.afterReturn && text.startsWith('\n') ? ends - 1 : ends;
    this.afterReturn = text.endsWith('\r');
  }
}

/** Lines of text around the table of a file: titles, dates, totals. */
export interface SkippedLines {
  first: number;
  last: number;
}

/** The last lines of a file are kept in memory until it ends. */
const MAX_KEPT = 1024 * 1024;

/**
 * A text without its first and its last lines, whatever is in them: quotes do not count there. A line end after the last
 * line ends it, and is not another line.
 * @throws FileError `row_too_long` where the last lines together have more than a million characters.
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
      // The other half of a line end may be in the next piece.
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
    const end = last === 0 ? kept.length : beginOfLast(kept, last, true);
    if (end > 0) yield kept.slice(0, end);
  } finally {
    await text.return(undefined);
  }
}

/** Where the first `most` lines end. */
function lineEnds(text: string, most: number): number[] {
  const ends: number[] = [];
  for (const match of text.matchAll(LINE_END)) {
    ends.push(match.index + match[0].length);
    if (ends.length === most) break;
  }
  return ends;
}

/**
 * Where the last lines begin; 0 where there are no more than these.
 * @param ended whether the text ends here: until then its last line end may be that of the last line but one.
 */
function beginOfLast(text: string, lines: number, ended = false): number {
  let at = text.length;
  if (ended || text.endsWith('\n') || text.endsWith('\r')) at = withoutEnd(text, at);
  for (let line = 0; line < lines; line++) {
    const begin = Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1;
    if (begin === 0 || at === 0) return 0;
    if (line === lines - 1) return begin;
    at = withoutEnd(text, begin);
  }
  return at;
}

/** Returns the place before the line end that `at` follows, or `at`. */
function withoutEnd(text: string, at: number): number {
  if (text[at - 1] === '\n') return text[at - 2] === '\r' ? at - 2 : at - 1;
  return text[at - 1] === '\r' ? at - 1 : at;
}

const tooLong = (which: 'first' | 'last'): FileError =>
  new FileError(
    'row_too_long',
    `The ${which} lines of the file, which the profile skips, are longer than a million characters; correct skip_${which === 'first' ? '' : 'last_'}lines.`,
  );
