import { TextDecoder } from 'node:util';
import { findEncoding } from '../../platform/common/encoding.js';
import { FileError } from './file-error.js';

const BOMS: readonly (readonly [encoding: string, bytes: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];
const OTHER_FORMATS: readonly (readonly [name: string, bytes: readonly number[]])[] = [
  ['a ZIP archive or an Excel workbook', [0x50, 0x4b, 0x03, 0x04]],
  ['an Excel workbook', [0xd0, 0xcf, 0x11, 0xe0]],
  ['a gzip archive', [0x1f, 0x8b]],
];
/** Length of the longest sequence in `BOMS` and `OTHER_FORMATS`, in bytes. */
const HEAD_BYTES = 4;
/** Maximum number of bytes that are decoded at a time, which limits the number of rows in memory. */
const PIECE_BYTES = 64 * 1024;
/** Length of the longest character in any encoding, in bytes. */
const CHARACTER_BYTES = 4;
const LINE_END = /\r\n?|\n/g;

/**
 * Yields the text of a file without its byte order mark. The mark determines the encoding. Without a mark, the encoding
 * is `encoding` (a WHATWG label) or, if that is undefined, UTF-8. Text before an error is yielded before the error is
 * thrown.
 * @param onEncoding receives the encoding before any text is yielded.
 * @throws FileError `unknown_encoding` for an unknown label. Throws `bad_encoding`, with line and byte, for an invalid
 * byte, an incomplete last character, a NUL character, an archive, or a mark that contradicts `encoding`.
 */
export async function* decodeText(
  bytes: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  onEncoding: (encoding: string) => void = () => undefined,
): AsyncGenerator<string> {
  let decoder: StrictDecoder | undefined;
  let head: Uint8Array = new Uint8Array();
  const createDecoder = (): StrictDecoder => {
    const name = detectEncoding(head, encoding);
    onEncoding(name);
    return new StrictDecoder(name);
  };
  for await (const chunk of bytes) {
    // Collect the first bytes of the file until there are enough to detect the encoding.
    const next: Uint8Array = decoder ? chunk : (head = Buffer.concat([head, chunk]));
    if (!decoder && head.length < HEAD_BYTES) continue;
    decoder ??= createDecoder();
    for (let at = 0; at < next.length; at += PIECE_BYTES) {
      yield* decoder.decode(next.subarray(at, at + PIECE_BYTES));
    }
  }
  if (!decoder) {
    decoder = createDecoder();
    yield* decoder.decode(head);
  }
  // End the text. An incomplete last character is an error.
  yield* decoder.decode(new Uint8Array(), false);
}

const startsWith = (head: Uint8Array, bytes: readonly number[]): boolean =>
  bytes.every((byte, index) => head[index] === byte);

function detectEncoding(head: Uint8Array, encoding: string | undefined): string {
  const named = encoding === undefined ? undefined : resolveEncoding(encoding);
  const other = OTHER_FORMATS.find(([, bytes]) => startsWith(head, bytes))?.[0];
  if (other !== undefined) {
    const message = `The file is ${other}, not a CSV file. Unpack it, or save the sheet as CSV.`;
    throw new FileError('bad_encoding', message, 1);
  }
  const marked = BOMS.find(([, bytes]) => startsWith(head, bytes))?.[0];
  if (marked !== undefined && named !== undefined && marked !== named) {
    const message = `The byte order mark of the file indicates ${marked}, but the option encoding is ${named}. Correct this option, or leave it out.`;
    throw new FileError('bad_encoding', message, 1);
  }
  return marked ?? named ?? 'utf-8';
}

function resolveEncoding(encoding: string): string {
  const known = findEncoding(encoding);
  if (known !== undefined) return known;
  const message = `The encoding "${encoding.slice(0, 100)}" is unknown. Use a name such as utf-8, utf-16le or windows-1252.`;
  throw new FileError('unknown_encoding', message);
}

class StrictDecoder {
  private readonly decoder = new TextDecoder(this.encoding, { fatal: true });
  /**
   * Second decoder, which reads the last few bytes later than `decoder`. After an error of `decoder`, it decodes
   * the remaining bytes one by one to find the invalid byte.
   */
  private readonly lagging = new TextDecoder(this.encoding, { fatal: true });
  /** Bytes that `decoder` has already decoded, but `lagging` has not. */
  private lastBytes = Buffer.alloc(0);
  private line = 1;
  private endsWithReturn = false;
  private bytes = 0;
  /** Number of bytes from the start of the file to the end of the last complete character that `lagging` decoded. */
  private completeBytes = 0;

  constructor(private readonly encoding: string) {}

  /**
   * Yields the text of a piece of the file, or the text before the first error.
   * @param stream false to end the text.
   * @throws FileError `bad_encoding` for an invalid byte, a NUL character, or an incomplete last character.
   */
  *decode(piece: Uint8Array, stream = true): Generator<string> {
    let text: string;
    try {
      text = this.decoder.decode(piece, { stream });
    } catch {
      // Bring `lagging` to the start of `piece`. The text of `lastBytes` was already yielded.
      this.decodeValidPrefix(this.lastBytes);
      yield* this.yieldUntilNul(this.decodeValidPrefix(piece));
      throw this.createBadByteError();
    }
    const bytes = Buffer.concat([this.lastBytes, piece]);
    this.decodeBytes(bytes.subarray(0, -CHARACTER_BYTES));
    this.lastBytes = bytes.subarray(-CHARACTER_BYTES);
    yield* this.yieldUntilNul(text);
  }

  private decodeValidPrefix(piece: Uint8Array): string {
    let text = '';
    try {
      for (let at = 0; at < piece.length; at++) text += this.decodeBytes(piece.subarray(at, at + 1));
    } catch {
      // Stop at the invalid byte.
    }
    return text;
  }

  private decodeBytes(bytes: Uint8Array): string {
    const text = this.lagging.decode(bytes, { stream: true });
    this.bytes += bytes.length;
    if (text !== '') this.completeBytes = this.bytes;
    return text;
  }

  private createBadByteError(): FileError {
    return new FileError(
      'bad_encoding',
      `Byte ${this.completeBytes} of the file, on line ${this.line}, is not valid ${this.encoding}. ` +
        'Save the file as UTF-8, or choose its encoding (option encoding).',
      this.line,
    );
  }

  private *yieldUntilNul(text: string): Generator<string> {
    const nul = text.indexOf('\0');
    const valid = nul < 0 ? text : text.slice(0, nul);
    if (valid !== '') {
      this.countLines(valid);
      yield valid;
    }
    if (nul >= 0) throw this.createNulError();
  }

  private createNulError(): FileError {
    const advice = this.encoding.startsWith('utf-16')
      ? 'Remove it'
      : 'The file is probably UTF-16 without a byte order mark. Save it as UTF-8, or choose its encoding (option encoding)';
    return new FileError('bad_encoding', `Line ${this.line} contains a NUL character. ${advice}.`, this.line);
  }

  private countLines(text: string): void {
    const ends = text.match(LINE_END)?.length ?? 0;
    this.line += this.endsWithReturn && text.startsWith('\n') ? ends - 1 : ends;
    this.endsWithReturn = text.endsWith('\r');
  }
}

/** Numbers of lines to skip before and after the table of a file. These lines may contain titles, dates or totals. */
export interface SkippedLines {
  first: number;
  last: number;
}

/** Maximum number of characters that are buffered to find the lines to skip. */
const MAX_BUFFERED = 1024 * 1024;

/**
 * Yields a text without its first and last lines. Line endings inside quotes also end a line. A line ending at the end
 * of the text belongs to the last line.
 * @throws FileError `row_too_long` if the skipped lines have more than a million characters.
 */
export async function* skipLines(
  text: AsyncGenerator<string>,
  { first, last }: SkippedLines,
): AsyncGenerator<string> {
  let before = first;
  let rest = '';
  try {
    for await (const piece of text) {
      rest += piece;
      // Leave out a CR at the end of the text, because the next piece may begin with its LF.
      const whole = rest.endsWith('\r') ? rest.slice(0, -1) : rest;
      const cut = before > 0 ? findLineEnds(whole).slice(0, before) : [];
      before -= cut.length;
      rest = rest.slice(cut.at(-1) ?? 0);
      if (before > 0) {
        if (cut.length === 0 && rest.length > MAX_BUFFERED) throw createLengthError('first');
        continue;
      }
      const end = findLastLinesStart(rest, last);
      if (end > 0) yield rest.slice(0, end);
      rest = rest.slice(end);
      if (rest.length > MAX_BUFFERED) throw createLengthError('last');
    }
    if (before > 0) return;
    const end = findLastLinesStart(rest, last);
    if (end > 0) yield rest.slice(0, end);
  } finally {
    await text.return(undefined);
  }
}

/** Returns the positions after the line endings of a text. */
const findLineEnds = (text: string): number[] =>
  Array.from(text.matchAll(LINE_END), (match) => match.index + match[0].length);

/** Returns the start of the last `lines` lines of a text, or 0 if the text has no other lines. */
function findLastLinesStart(text: string, lines: number): number {
  if (lines === 0) return text.length;
  const ends = findLineEnds(text).filter((end) => end < text.length);
  return ends.at(-lines) ?? 0;
}

const createLengthError = (position: 'first' | 'last'): FileError =>
  new FileError(
    'row_too_long',
    `The ${position} lines of the file, which the profile skips, contain more than a million characters. Correct skip_${position === 'first' ? '' : 'last_'}lines in the profile.`,
  );
