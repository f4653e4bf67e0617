import { parse } from 'csv-parse/sync';
import { FileError } from './file-error.js';
import { type CsvRecord, LINE_ENDS, RecordParser } from './record-parser.js';
import { type SkippedLines, withoutLines, decodeText } from './text-decoder.js';

/** Delimiters that can be detected. The first is the default for a header without a known name. */
const DELIMITERS = [',', ';', '\t', '|'];
/** Number of characters that are searched for the header, far more than 200 column names need. */
const HEAD_CHARACTERS = 64 * 1024;
/** First line `sep=;`, by which spreadsheets declare the delimiter. They do not show this line. */
const SEPARATOR = /^"?sep=([,;|\t])"?(?:\r\n|\n|\r)/i;

export interface CsvOptions {
  encoding?: string | undefined;
  /** If undefined, the delimiter is taken from a first line `sep=;` or detected from the header. */
  delimiter?: string | undefined;
  knownColumn: (header: string) => boolean;
  /** Lines before and after the table that are not read. */
  skipped?: SkippedLines | undefined;
}

/**
 * Strict reader of CSV files (RFC 4180 with LF, CRLF or CR). It reads the file only as fast as the records are consumed,
 * and closes it at its end, after an error, and when the caller of `readRecords` stops early.
 * @throws FileError from `readHeader` and `readRecords`, with the line, for any error that makes the whole file unreliable.
 */
export class CsvReader {
  bytesRead = 0;
  /** Encoding and delimiter of the file. Set once the header has been read. */
  readonly found: { encoding?: string; delimiter?: string } = {};
  /** Line of the header. Set once the header has been read. */
  headerLine = 1;
  private readonly pieces: AsyncGenerator<CsvRecord[]>;
  /** Rows that were read together with the header. */
  private ahead: CsvRecord[] = [];
  private last = '';

  constructor(
    private readonly file: AsyncIterable<Uint8Array>,
    private readonly options: CsvOptions,
  ) {
    this.pieces = this.read();
  }

  /** True if the text read so far ends with a line end. */
  get lineEnded(): boolean {
    return this.last === '\n' || this.last === '\r';
  }

  /** Reads the column names as spelled in the file, without empty names at the end. Call it once, before `readRecords`. */
  async header(): Promise<string[]> {
    const piece = await this.pieces.next();
    const [header, ...rows] = piece.done ? [] : piece.value;
    if (!header)
      throw new FileError('empty_file', 'The file is empty. Add a header row and one row per user.');
    if (header.cells.every((name) => name.trim() === '')) {
      await this.pieces.return(undefined);
      const message = 'The first row of the file is blank. Put the column names into the first row.';
      throw new FileError('empty_file', message, header.line);
    }
    this.ahead = rows;
    this.headerLine = header.line;
    return header.cells;
  }

  /**
   * Yields the rows after the header in batches of `batchSize`, including mismatched records (see `expectedCells`).
   * @throws FileError at the end if there are too many mismatched records, or the last row has too few cells.
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
      await this.pieces.return(undefined); // also closes the file if the caller stops before the first batch
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

/** Reads enough of the text to contain the header. */
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

/** Returns the delimiter that yields the most known names in the first record. At a tie, the first in the list wins. */
function delimiterOf(head: string, known: (name: string) => boolean): string {
  const scores = DELIMITERS.map((delimiter) => firstRecord(head, delimiter).filter(known).length);
  return DELIMITERS[scores.indexOf(Math.max(...scores))] ?? ',';
}

function firstRecord(head: string, delimiter: string): string[] {
  try {
    return parse(head, { delimiter, record_delimiter: LINE_ENDS, skip_empty_lines: true, to: 1 })[0] ?? [];
  } catch {
    // The header is invalid with this delimiter. If no delimiter fits, the reader reports the error later.
    return [];
  }
}
