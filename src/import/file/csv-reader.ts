import { parse } from 'csv-parse/sync';
import { FileError } from './file-error.js';
import { type CsvRecord, LINE_ENDS, RecordParser } from './record-parser.js';
import { type SkippedLines, withoutLines, decodeText } from './text-decoder.js';

/** The first is the default for a header without any known name. */
const DELIMITERS = [',', ';', '\t', '|'];
/** Far more than the names of 200 columns. */
const HEAD_CHARACTERS = 64 * 1024;
/** What spreadsheets write and hide: a line before the header that names the delimiter. */
const SEPARATOR = /^"?sep=([,;|\t])"?(?:\r\n|\n|\r)/i;

export interface CsvOptions {
  encoding?: string | undefined;
  /** From a first line `sep=;`, or detected from the header, when undefined. */
  delimiter?: string | undefined;
  knownColumn: (header: string) => boolean;
  /** Lines of text that are not read. */
  skipped?: SkippedLines | undefined;
}

/**
 * Reads the records of a CSV file (RFC 4180; LF, CRLF or CR) strictly, in the memory of a batch. The file is read no
 * faster than its records are taken, and closed at its end, at a fault, and when the caller of `records` stops early.
 * @throws FileError from `header` and `records`, with the line, for any fault that casts doubt on the whole file.
 */
export class CsvReader {
  bytesRead = 0;
  /** Encoding and delimiter of the file, once its header is read. */
  readonly found: { encoding?: string; delimiter?: string } = {};
  /** The line of the header, once it is read. */
  headerLine = 1;
  private readonly pieces: AsyncGenerator<CsvRecord[]>;
  /** Rows that were read along with the header. */
  private ahead: CsvRecord[] = [];
  private last = '';

  constructor(
    private readonly file: AsyncIterable<Uint8Array>,
    private readonly options: CsvOptions,
  ) {
    this.pieces = this.read();
  }

  /** Whether the text that was read so far ends with a line end. */
  get lineEnded(): boolean {
    return this.last === '\n' || this.last === '\r';
  }

  /** The names of the columns, as the file spells them; not the empty ones at the end. Call it once, before `records`. */
  async header(): Promise<string[]> {
    const piece = await this.pieces.next();
    const [header, ...rows] = piece.done ? [] : piece.value;
    if (!header)
      throw new FileError('empty_file', 'The file is empty; it needs a header row and a row for each user.');
    if (header.cells.every((name) => name.trim() === '')) {
      await this.pieces.return(undefined);
      const message = 'The first row of the file is blank; it must hold the names of the columns.';
      throw new FileError('empty_file', message, header.line);
    }
    this.ahead = rows;
    this.headerLine = header.line;
    return header.cells;
  }

  /**
   * The rows below the header, `batchSize` at a time, those that do not fit it among them (`misfit`).
   * @throws FileError at the end, where these are too many, or the last one has too few cells.
   */
  async *records(batchSize: number): AsyncGenerator<CsvRecord[]> {
    let waiting: CsvRecord[] = [];
    for await (const piece of this.rows()) {
      waiting = waiting.concat(piece);
      let at = 0;
      for (; waiting.length - at >= batchSize; at += batchSize) yield waiting.slice(at, at + batchSize);
      waiting = waiting.slice(at);
    }
    for (let at = 0; at < waiting.length; at += batchSize) yield waiting.slice(at, at + batchSize);
  }

  private async *rows(): AsyncGenerator<CsvRecord[]> {
    try {
      yield this.ahead;
      yield* this.pieces;
    } finally {
      await this.pieces.return(undefined); // also where the caller stops before the first of them
    }
  }

  private async *read(): AsyncGenerator<CsvRecord[]> {
    const { encoding, delimiter, knownColumn, skipped } = this.options;
    const decoded = decodeText(this.counted(), encoding, (name) => (this.found.encoding = name));
    const text = skipped ? withoutLines(decoded, skipped) : decoded;
    let parser: RecordParser | undefined;
    try {
      const all = await headOf(text);
      const [line = '', named] = SEPARATOR.exec(all) ?? [];
      const head = all.slice(line.length);
      this.found.delimiter = delimiter ?? named ?? delimiterOf(head, knownColumn);
      parser = new RecordParser(this.found.delimiter, skipped?.first);
      this.last = all.at(-1) ?? '';
      yield* parser.read(head);
      for await (const piece of text) {
        this.last = piece.at(-1) ?? this.last;
        yield* parser.read(piece);
      }
      yield* parser.finish();
    } finally {
      parser?.destroy();
      await text.return(undefined);
    }
  }

  private async *counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.file) {
      this.bytesRead += chunk.length;
      yield chunk;
    }
  }
}

/** Takes enough of the text to contain its header. */
async function headOf(text: AsyncGenerator<string>): Promise<string> {
  const pieces: string[] = [];
  for (let length = 0; length < HEAD_CHARACTERS;) {
    const piece = await text.next();
    if (piece.done) break;
    pieces.push(piece.value);
    length += piece.value.length;
  }
  return pieces.join('');
}

/** The delimiter that yields the most known names in the first record; of equal ones, the first in the list. */
function delimiterOf(head: string, known: (name: string) => boolean): string {
  const scores = DELIMITERS.map((delimiter) => firstRecord(head, delimiter).filter(known).length);
  return DELIMITERS[scores.indexOf(Math.max(...scores))] ?? ',';
}

function firstRecord(head: string, delimiter: string): string[] {
  try {
    return parse(head, { delimiter, record_delimiter: LINE_ENDS, skip_empty_lines: true, to: 1 })[0] ?? [];
  } catch {
    // Not a header with this delimiter; if none fits, the reader reports what is wrong.
    return [];
  }
}
