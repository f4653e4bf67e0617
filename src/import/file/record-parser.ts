import type { RowError } from '../runs/import-row.js';
import { type Column, isBlank } from './columns.js';
import { FileError } from './file-error.js';
import { type QuoteFault, RecordSplitter } from './record-splitter.js';

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

/** A file is rejected if at least `least` rows, and more than the fraction `share` of all rows, are mismatched. */
const LIMITS = { least: 5, share: 0.1 };

/**
 * Factor by which the text of an incomplete row must grow before it is parsed again. Parsing it after every small piece
 * would take quadratic time.
 */
const REREAD_GROWTH = 1.25;

/**
 * Strict parser that receives the text of a file in pieces. A few mismatched records become failed rows, but many of
 * them lead to the rejection of the whole file.
 */
export class RecordParser {
  private readonly splitter = new RecordSplitter(this.delimiter);
  /** Text whose first record is incomplete. */
  private waiting = '';
  /** Length of `waiting` at which it is read again. */
  private nextLength = 0;
  private lineCount = this.skippedLines;
  private records: CsvRecord[] = [];
  private fileError: FileError | undefined;
  private width = 0;
  /** Number of header cells without the unnamed cells at the end, which extra delimiters cause. */
  private namedWidth = 0;
  private rows = 0;
  private mismatches = 0;
  private firstMismatch: CsvRecord | undefined;
  private last: CsvRecord | undefined;

  /** @param skippedLines number of skipped lines before the text. Line numbers include them. */
  constructor(
    private readonly delimiter: string,
    private readonly skippedLines = 0,
  ) {}

  /**
   * Adds text and yields the records that are now complete.
   * @throws FileError for invalid text, after all complete records before the error were yielded.
   */
  *parseText(text: string): Generator<CsvRecord[]> {
    this.waiting += text;
    if (this.waiting.length < Math.min(this.nextLength, MAX_PENDING)) return;
    const { rest, fault } = this.splitter.splitText(this.waiting, (cells) => {
      this.lineCount++;
      if (cells.length > 0) this.addRecord(cells);
    });
    this.waiting = rest;
    this.nextLength = rest.length * REREAD_GROWTH;
    const line = this.lineCount + 1;
    yield* this.yieldRecords(fault && createQuoteError(fault, line));
    if (rest.length > MAX_PENDING) throw createLengthError(line, hasOpenQuote(rest));
  }

  /**
   * Ends the text and yields the last records.
   * @throws FileError for invalid text, a file without rows, too many mismatched records, or a last row with too few
   * cells.
   */
  *finish(): Generator<CsvRecord[]> {
    this.nextLength = 0;
    // With a line end, only an open quote can leave a record incomplete.
    if (this.waiting !== '') yield* this.parseText('\n');
    if (this.waiting !== '') throw createQuoteError('unclosed_quote', this.lineCount + 1);
    if (this.width > 0 && this.rows === 0) throw new FileError('empty_file', NO_ROWS, 1);
    const { last, mismatches } = this;
    if (mismatches >= LIMITS.least && mismatches > LIMITS.share * this.rows) throw this.createMismatchError();
    if (last?.expectedCells !== undefined && last.cells.length < last.expectedCells)
      throw createShortLastLineError(last, last.expectedCells);
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

  private *yieldRecords(quoteError: FileError | undefined): Generator<CsvRecord[]> {
    const records = this.records;
    this.records = [];
    if (this.mismatches > LIMITS.share * MAX_ROWS) throw this.createMismatchError();
    this.last = records.at(-1) ?? this.last;
    if (records.length > 0) yield records;
    const error = this.fileError ?? quoteError;
    if (error) throw error;
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
}

const isTooLong = (cells: readonly string[]): boolean =>
  cells.reduce((characters, cell) => characters + cell.length, 0) > MAX_ROW_CHARACTERS;

const hasOpenQuote = (text: string): boolean => text.split('"').length % 2 === 0;

/** Creates the error for an invalid quote on a line. The message never contains text of a cell. */
function createQuoteError(fault: QuoteFault | 'unclosed_quote', line: number): FileError {
  const messages = {
    unclosed_quote: `A quote that opens on line ${line} is never closed. Close it, or export the file again if it was cut short.`,
    text_after_quote:
      `On line ${line}, text follows a closing quote. Write a quote inside a cell as two quotes, ` +
      'and close the quote that opens the cell.',
    quote_in_cell: `A cell on line ${line} has a quote in the middle. Enclose the cell in quotes and write the inner quote twice.`,
  };
  return new FileError(fault === 'unclosed_quote' ? fault : 'bad_quote', messages[fault], line);
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
