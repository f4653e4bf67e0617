import { MAX_COLUMNS } from '../runs/import-profile.js';
import { FileError } from './file-error.js';
import { type CsvRecord, RecordParser } from './record-parser.js';
import { RecordSplitter } from './record-splitter.js';
import { type SkippedLines, skipLines, decodeText } from './text-decoder.js';

/** Delimiters that can be detected. The first one is used if the header contains no known column name. */
export const DELIMITERS = [',', ';', '\t', '|'];
/** Number of characters at the start of the file that are read to detect the delimiter, more than any header needs. */
const HEAD_CHARACTERS = 64 * 1024;
/** Matches a first line such as `sep=;`, from which spreadsheet programs read the delimiter. */
export const SEPARATOR_LINE = /^"?sep=([,;|\t])"?(?:\r\n|\n|\r)/i;

export interface CsvOptions {
  encoding?: string | undefined;
  /** Delimiter of the file. If undefined, a first line such as `sep=;` sets it, or it is detected from the header. */
  delimiter?: string | undefined;
  isKnownColumn: (header: string) => boolean;
  skipped?: SkippedLines | undefined;
}

/**
 * Strict reader of CSV files (RFC 4180, with LF, CRLF or CR as line endings). Reads the file only as fast as the caller
 * takes the records. Closes the file at its end, after an error, or when the caller of `readRecords` stops.
 * `readHeader` and `readRecords` throw a FileError with a line number if an error makes the whole file unreliable.
 */
export class CsvReader {
  bytesRead = 0;
  /** Encoding and delimiter of the file. Set by `readHeader`. */
  readonly detected: { encoding?: string; delimiter?: string } = {};
  /** Line number of the header. Set by `readHeader`. */
  headerLine = 1;
  private readonly batches = this.parseBatches();
  private firstRows: CsvRecord[] = [];
  private lastCharacter = '';

  constructor(
    private readonly file: AsyncIterable<Uint8Array>,
    private readonly options: CsvOptions,
  ) {}

  get endsWithLineEnd(): boolean {
    return this.lastCharacter === '\n' || this.lastCharacter === '\r';
  }

  /**
   * Reads the column names as in the file, without empty names at the end. Call it once, before `readRecords`.
   * @throws FileError for an empty file, a blank header, or too many columns.
   */
  async readHeader(): Promise<string[]> {
    const piece = await this.batches.next();
    const [header, ...rows] = piece.done ? [] : piece.value;
    if (!header)
      throw new FileError('empty_file', 'The file is empty. Add a header row and one row per user.');
    const fault = findHeaderFault(header);
    if (fault) {
      await this.batches.return(undefined);
      throw fault;
    }
    this.firstRows = rows;
    this.headerLine = header.line;
    return header.cells;
  }

  /**
   * Yields the rows after the header in batches of `batchSize`. Mismatched records are included and have
   * `expectedCells`.
   * @throws FileError at the end if there are too many mismatched records, or if the last row has too few cells.
   */
  async *readRecords(batchSize: number): AsyncGenerator<CsvRecord[]> {
    let pending: CsvRecord[] = [];
    const takeBatches = function* (piece: readonly CsvRecord[]): Generator<CsvRecord[]> {
      const all = pending.concat(piece);
      let start = 0;
      for (; start + batchSize <= all.length; start += batchSize) yield all.slice(start, start + batchSize);
      pending = all.slice(start);
    };
    try {
      yield* takeBatches(this.firstRows);
      for await (const piece of this.batches) yield* takeBatches(piece);
      if (pending.length > 0) yield pending;
    } finally {
      // Closes the file even if the caller stops before the loop above has started.
      await this.batches.return(undefined);
    }
  }

  private async *parseBatches(): AsyncGenerator<CsvRecord[]> {
    const { encoding, delimiter, isKnownColumn, skipped } = this.options;
    const decoded = decodeText(this.readAndCountBytes(), encoding, (name) => (this.detected.encoding = name));
    const text = skipped ? skipLines(decoded, skipped) : decoded;
    try {
      const all = await readHead(text);
      const [line = '', named] = SEPARATOR_LINE.exec(all) ?? [];
      const head = all.slice(line.length);
      this.detected.delimiter = delimiter ?? named ?? detectDelimiter(head, isKnownColumn);
      const parser = new RecordParser(this.detected.delimiter, skipped?.first);
      this.lastCharacter = all.at(-1) ?? '';
      yield* parser.parseText(head);
      for await (const piece of text) {
        this.lastCharacter = piece.at(-1) ?? this.lastCharacter;
        yield* parser.parseText(piece);
      }
      yield* parser.finish();
    } finally {
      await text.return(undefined);
    }
  }

  private async *readAndCountBytes(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.file) {
      this.bytesRead += chunk.length;
      yield chunk;
    }
  }
}

/** Checks the number of columns first, so that later checks of each column have a bounded cost. */
function findHeaderFault({ cells, line }: CsvRecord): FileError | undefined {
  if (cells.length > MAX_COLUMNS) {
    const message = `The header has ${cells.length} columns, but at most ${MAX_COLUMNS} are allowed. Remove columns that you do not need.`;
    return new FileError('too_many_columns', message, line);
  }
  if (cells.some((name) => name.trim() !== '')) return undefined;
  const message = 'The first row of the file is blank. Put the column names in the first row.';
  return new FileError('empty_file', message, line);
}

/** Reads at least HEAD_CHARACTERS characters of a text, or the whole text if it is shorter. */
async function readHead(text: AsyncGenerator<string>): Promise<string> {
  const pieces: string[] = [];
  for (let length = 0; length < HEAD_CHARACTERS;) {
    const piece = await text.next();
    if (piece.done) break;
    pieces.push(piece.value);
    length += piece.value.length;
  }
  return pieces.join('');
}

/**
 * Returns the delimiter that splits the first record into the most known column names. In a tie, the first one in
 * `DELIMITERS` wins.
 */
function detectDelimiter(head: string, isKnown: (name: string) => boolean): string {
  const scores = DELIMITERS.map(
    (delimiter) =>
      (parseFirstRecords(head, delimiter, 1)[0] ?? []).slice(0, MAX_COLUMNS).filter(isKnown).length,
  );
  return DELIMITERS[scores.indexOf(Math.max(...scores))] ?? ',';
}

/** Returns the first records of a text, or none if they are invalid with this delimiter. */
export function parseFirstRecords(text: string, delimiter: string, count: number): string[][] {
  const records: string[][] = [];
  const { rest } = new RecordSplitter(delimiter).splitText(`${text}\n`, (cells) => {
    if (cells.length > 0) records.push(cells);
  });
  return rest === '' || records.length >= count ? records.slice(0, count) : [];
}
