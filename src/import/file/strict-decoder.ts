import { TextDecoder } from 'node:util';
import { FileError } from './file-error.js';

const LINE_END = /\r\n?|\n/g;
/** No encoding has a longer character. */
const CHARACTER_BYTES = 4;

/** Decodes a stream of bytes and knows the line and the byte of a fault. */
export class StrictDecoder {
  private readonly ahead: TextDecoder;
  /** A piece behind, so that a piece with a fault can be read again from its beginning, byte by byte. */
  private readonly behind: TextDecoder;
  private line = 1;
  private afterReturn = false;
  /** Bytes read by `behind`, and those of them that make whole characters. */
  private bytes = 0;
  private whole = 0;

  constructor(private readonly encoding: string) {
    this.ahead = new TextDecoder(encoding, { fatal: true });
    this.behind = new TextDecoder(encoding, { fatal: true });
  }

  /** The standard name of an encoding. @throws FileError `unknown_encoding`. */
  static labelOf(encoding: string): string {
    try {
      return new TextDecoder(encoding).encoding;
    } catch {
      throw new FileError(
        'unknown_encoding',
        `The encoding "${encoding.slice(0, 100)}" is not known; name one such as utf-8, utf-16le or windows-1252.`,
      );
    }
  }

  /** The text of a piece; up to the fault, when there is one. @throws FileError `bad_encoding` then. */
  *decode(piece: Uint8Array): Generator<string> {
    let text: string;
    try {
      text = this.ahead.decode(piece, { stream: true });
    } catch {
      yield* this.checked(this.readable(piece));
      throw this.badByte();
    }
    this.follow(piece);
    yield* this.checked(text);
  }

  /** @throws FileError `bad_encoding` where the last character is cut short. */
  *end(): Generator<string> {
    let text: string;
    try {
      text = this.ahead.decode();
    } catch {
      throw this.badByte();
    }
    yield* this.checked(text);
  }

  private follow(piece: Uint8Array): void {
    const tail = Math.max(0, piece.length - CHARACTER_BYTES);
    this.step(piece.subarray(0, tail));
    for (let at = tail; at < piece.length; at++) this.step(piece.subarray(at, at + 1));
  }

  private readable(piece: Uint8Array): string {
    let text = '';
    try {
      for (let at = 0; at < piece.length; at++) text += this.step(piece.subarray(at, at + 1));
    } catch {
      // Here is the fault; what went before is asked for.
    }
    return text;
  }

  private step(bytes: Uint8Array): string {
    const text = this.behind.decode(bytes, { stream: true });
    this.bytes += bytes.length;
    if (text !== '') this.whole = this.bytes;
    return text;
  }

  private badByte(): FileError {
    return new FileError(
      'bad_encoding',
      `Byte ${this.whole} of the file, on line ${this.line}, is not valid ${this.encoding}; ` +
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
    if (nul < 0) return;
    const advice = this.encoding.startsWith('utf-16')
      ? 'take it out'
      : 'the file is probably UTF-16 without a byte order mark: save it as UTF-8, or name its encoding with encoding=…';
    throw new FileError('bad_encoding', `Line ${this.line} holds a NUL character; ${advice}.`, this.line);
  }

  private count(text: string): void {
    const ends = text.match(LINE_END)?.length ?? 0;
    this.line += this.afterReturn && text.startsWith('\n') ? ends - 1 : ends;
    this.afterReturn = text.endsWith('\r');
  }
}
