import { CsvError, Parser } from 'csv-parse';
import type { RowError } from '../runs/import-row.js';
import { type Column, isBlank } from './columns.js';
import { FileError, type FileErrorCode } from './file-error.js';
import { RecordSplitter } from './record-splitter.js';

export interface CsvRecord {
  /**
   * Line number as a spreadsheet shows it (header = 1). A record counts as one line even if it contains line endings.
   * Empty lines count too.
   */
  line: number;
  cells: string[];
  /** Number of cells in the header. Set only for a mismatched record, which has more or fewer cells. */
  expectedCells?: number;
  /**
   * The two possible mappings of a mismatched record: aligned with the first or with the last column of the header. Set
   * only in a file with a profile.
   */
  alignments?: readonly (readonly string[])[];
  /** Original cells of the record. Set only if a profile has mapped them to the import columns in `cells`. */
  sourceCells?: readonly string[];
  /** Text of the source column `manager_key` of the profile. */
  managerKey?: string;
  damaged?: readonly DamagedCell[];
}

/** A cell that cannot be imported. */
export interface DamagedCell {
  column: Column;
  cell: string;
  error: RowError;
}

/** Line endings of RFC 4180 (CRLF), Unix (LF) and old Macs (CR), which one file may mix. */
export const LINE_ENDS = ['\r\n', '\n', '\r'];
export const MAX_ROWS = 1_000_000;
const TOO_MANY_ROWS = `The file has more than ${MAX_ROWS} rows. Split it into several files.`;
const NO_ROWS = 'The file has a header but no rows. Add one row per user.';
/** Maximum length of a parsed row, in characters. A row of valid cells is far shorter. */
const MAX_ROW_CHARACTERS = 512 * 1024;
/**
 * Maximum length of an unfinished row as written in the file, in characters. It exceeds MAX_ROW_CHARACTERS, because
 * quotes inside a cell are doubled in the file.
 */
const MAX_PENDING = 4 * MAX_ROW_CHARACTERS;

/** Maximum length of text whose first record is incomplete or invalid. csv-parse takes over when the text is longer. */
const MAX_WAITING = 64 * 1024;

/** A file is rejected if at least `least` rows, and more than the fraction `share` of all rows, are mismatched. */
const LIMITS = { least: 5, share: 0.1 };

/**
 * Strict parser that receives the text of a file in pieces. csv-parse takes over at the first invalid or very long
 * record. A few mismatched records become failed rows, but many of them lead to the rejection of the whole file.
 */
export class RecordParser {
  private readonly splitter = new RecordSplitter(this.delimiter);
  private readonly parser = new CallbackParser(this.delimiter, this.addRecord.bind(this));
  /** Text whose first record is incomplete or invalid. Undefined after csv-parse has taken over. */
  private waiting: string | undefined = '';
  private splitLines = 0;
  private records: CsvRecord[] = [];
  private fileError: FileError | undefined;
  private width = 0;
  /** Number of header cells without the unnamed cells at the end, which extra delimiters cause. */
  private namedWidth = 0;
  private rows = 0;
  private mismatches = 0;
  private firstMismatch: CsvRecord | undefined;
  private last: CsvRecord | undefined;
  private pending = 0;

  /** @param skippedLines number of skipped lines before the text. Line numbers include them. */
  constructor(
    private readonly delimiter: string,
    private readonly skippedLines = 0,
  ) {}

  /**
   * Adds text and yields the records that are now complete.
   * @throws FileError for invalid text, after all complete records before the error were yielded.
   */
  async *parseText(text: string): AsyncGenerator<CsvRecord[]> {
    const rest = this.splitRecords(text);
    const before = this.lineCount;
    const failure = await this.parseStrictly(rest);
    yield* this.yieldRecords(failure);
    this.pending = rest.length + (this.lineCount === before ? this.pending : 0);
    if (this.pending > MAX_PENDING) throw await this.createOverlongError();
  }

  /** Reads the valid records of a text. @returns the text that csv-parse must read. */
  private splitRecords(text: string): string {
    if (this.waiting === undefined) return text;
    const rest = this.splitter.splitText(this.waiting + text, (cells) => {
      this.splitLines++;
      if (cells.length > 0) this.addRecord(cells);
    });
    const isLong = rest.length > MAX_WAITING;
    this.waiting = isLong ? undefined : rest;
    return isLong ? rest : '';
  }

  private async parseStrictly(text: string): Promise<Error | undefined> {
    return text === '' ? undefined : captureError((done) => this.parser.write(Buffer.from(text), done));
  }

  /**
   * Ends the text and yields the last records.
   * @throws FileError for invalid text, a file without rows, too many mismatched records, or a last row with too few
   * cells.
   */
  async *finish(): AsyncGenerator<CsvRecord[]> {
    const failure = await this.parseStrictly(this.waiting ?? '');
    yield* this.yieldRecords(failure ?? (await captureError((done) => this.parser.end(done))));
    if (this.width > 0 && this.rows === 0) throw new FileError('empty_file', NO_ROWS, 1);
    const { last, mismatches } = this;
    if (mismatches >= LIMITS.least && mismatches > LIMITS.share * this.rows) throw this.createMismatchError();
    if (last?.expectedCells !== undefined && last.cells.length < last.expectedCells)
      throw createShortLastLineError(last, last.expectedCells);
  }

  destroy(): void {
    this.parser.destroy();
  }

  private get lineCount(): number {
    const { records, empty_lines: emptyLines } = this.parser.info;
    return this.skippedLines + this.splitLines + records + emptyLines;
  }

  private addRecord(cells: string[]): void {
    // Skip blank rows, except in a file with one column, where a blank row has one empty cell.
    if (this.fileError || (this.namedWidth > 1 && cells.every(isBlank))) return;
    const line = this.lineCount;
    const isHeader = this.width === 0;
    if (!isHeader && ++this.rows > MAX_ROWS)
      this.fileError = new FileError('too_many_rows', TOO_MANY_ROWS, line);
    else if (isTooLong(cells)) this.fileError = createLengthError(line);
    else this.records.push(isHeader ? this.toHeader(line, cells) : this.toRecord(line, cells));
  }

  private toHeader(line: number, cells: string[]): CsvRecord {
    this.width = cells.length;
    this.namedWidth = 1 + cells.findLastIndex((name) => name.trim() !== '');
    return { line, cells: this.namedWidth === 0 ? cells : cells.slice(0, this.namedWidth) };
  }

  private toRecord(line: number, cells: string[]): CsvRecord {
    const { width, namedWidth } = this;
    if (cells.length !== width) return this.registerMismatch({ line, cells, expectedCells: width });
    if (width === namedWidth) return { line, cells };
    return cells.slice(namedWidth).every(isBlank)
      ? { line, cells: cells.slice(0, namedWidth) }
      : this.registerMismatch({ line, cells, expectedCells: namedWidth });
  }

  private registerMismatch(record: CsvRecord): CsvRecord {
    this.mismatches++;
    this.firstMismatch ??= record;
    return record;
  }

  private *yieldRecords(failure: Error | undefined): Generator<CsvRecord[]> {
    const records = this.records;
    this.records = [];
    if (this.mismatches > LIMITS.share * MAX_ROWS) throw this.createMismatchError();
    this.last = records.at(-1) ?? this.last;
    if (records.length > 0) yield records;
    if (this.fileError) throw this.fileError;
    if (failure) throw toFileError(failure, this.lineCount + 1);
  }

  private createMismatchError(): FileError {
    const { firstMismatch: first, mismatches, rows } = this;
    return new FileError(
      'wrong_cell_count',
      `${mismatches} of ${rows} rows have more or fewer cells than the header, which has ${first?.expectedCells ?? 0}. The first is on ` +
        `line ${first?.line ?? 0}. Enclose cells that contain the delimiter in quotes, and do not leave out empty cells.`,
      first?.line,
    );
  }

  /**
   * Returns the error for a row that is too long. Ends the parser to find out if the cause is an unclosed quote, which
   * csv-parse reports only at the end.
   */
  private async createOverlongError(): Promise<FileError> {
    const line = this.lineCount + 1;
    const failure = await captureError((done) => this.parser.end(done));
    return createLengthError(line, failure instanceof CsvError && failure.code === 'CSV_QUOTE_NOT_CLOSED');
  }
}

/**
 * Fast parser that passes each record to a callback. A stream would be slower, and the `info` option of csv-parse would
 * make parsing take 50 % longer.
 */
class CallbackParser extends Parser {
  constructor(
    delimiter: string,
    private readonly onRecord: (cells: string[]) => void,
  ) {
    super({ delimiter, record_delimiter: LINE_ENDS, skip_empty_lines: true, relax_column_count: true });
    // The callbacks of `write` and `end` already report all errors, but an error event without a listener would end the
    // process.
    this.on('error', () => undefined);
  }

  override push(record: string[] | null): boolean {
    if (record === null) return super.push(null);
    this.onRecord(record);
    return true;
  }
}

const isTooLong = (cells: readonly string[]): boolean =>
  cells.reduce((characters, cell) => characters + cell.length, 0) > MAX_ROW_CHARACTERS;

/** Calls `act` and resolves with the error that its callback receives, or with undefined. */
function captureError(act: (done: (error?: Error | null) => void) => void): Promise<Error | undefined> {
  return new Promise((resolve) => {
    act((error) => {
      resolve(error ?? undefined);
    });
  });
}

/** Maps an error code of csv-parse to the code and the message of a FileError. Messages never quote a cell. */
const QUOTE_ERRORS: Readonly<Record<string, (line: number) => [FileErrorCode, string]>> = {
  CSV_QUOTE_NOT_CLOSED: (line) => [
    'unclosed_quote',
    `A quote that opens on line ${line} is never closed. Close it, or export the file again if it was cut short.`,
  ],
  CSV_INVALID_CLOSING_QUOTE: (line) => [
    'bad_quote',
    `On line ${line}, text follows a closing quote. Write a quote inside a cell as two quotes, ` +
      'and close the quote that opens the cell.',
  ],
  INVALID_OPENING_QUOTE: (line) => [
    'bad_quote',
    `A cell on line ${line} has a quote in the middle. Enclose the cell in quotes and write the inner quote twice.`,
  ],
};

/**
 * Converts an error of csv-parse to a FileError. Returns other errors unchanged.
 * @param line the first line of the record with the error.
 */
function toFileError(error: Error, line: number): Error {
  const fault = error instanceof CsvError ? QUOTE_ERRORS[error.code]?.(line) : undefined;
  return fault ? new FileError(...fault, line) : error;
}

export function formatCellCount({ cells }: CsvRecord): string {
  return `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}`;
}

const createShortLastLineError = (last: CsvRecord, width: number) =>
  new FileError(
    'cut_short',
    `The last line (${last.line}) has ${formatCellCount(last)}, but the header has ${width}. The file was probably ` +
      'cut short. Export it again.',
    last.line,
  );

function createLengthError(line: number, inQuote = false): FileError {
  const message = inQuote
    ? `A quote that opens on line ${line} is probably never closed, because the row has more than ` +
      `${MAX_ROW_CHARACTERS} characters. Close the quote, or write it twice if it belongs to the text.`
    : `Line ${line} has more than ${MAX_ROW_CHARACTERS} characters. Shorten its cells, or correct the line endings of the file.`;
  return new FileError('row_too_long', message, line);
}
