import { CsvError, Parser } from 'csv-parse';
import { FileError, type FileErrorCode } from './file-error.js';

export interface CsvRecord {
  /** As a spreadsheet shows it: the header is 1, a record with line ends in its cells is one line, an empty line counts. */
  line: number;
  cells: string[];
  /** Set where the number of cells is not that of the header: how many there should be. Its cells say nothing then. */
  misfit?: number;
  /** Of such a row of a file with a profile: its cells in our columns, read from the left and from the right. */
  readings?: readonly (readonly string[])[];
  /** The cells of the file, where a profile has made those above of them. */
  source?: readonly string[];
}

/** RFC 4180 has CRLF, Unix LF, and old Macs CR; one file may mix them. */
export const LINE_ENDS = ['\r\n', '\n', '\r'];
export const MAX_ROWS = 1_000_000;
/** Far more than a row of valid cells can have. */
const MAX_ROW_CHARACTERS = 512 * 1024;
/** No row within the limit is longer in the file, even with every character a doubled quote. */
const MAX_PENDING = 4 * MAX_ROW_CHARACTERS;

/** Rows that do not fit the header refuse the file when they are so many, and more than this share of all. */
const MISFITS = { least: 5, share: 0.1 };

/**
 * Feeds csv-parse, in its strict mode, piece by piece at the pace of the caller. A row with another number of cells than the
 * header fails alone. Many of them refuse the file.
 */
export class RecordParser {
  private readonly parser: RecordTap;
  private taken: CsvRecord[] = [];
  private refusal: FileError | undefined;
  /** Cells of the header, and those of them up to the last one with a name: every line may end in delimiters. */
  private width = 0;
  private named = 0;
  private rows = 0;
  private misfits = 0;
  private firstMisfit: CsvRecord | undefined;
  private last: CsvRecord | undefined;
  private pending = 0;

  /** @param skipped lines above the text, which count. */
  constructor(
    delimiter: string,
    private readonly skipped = 0,
  ) {
    this.parser = new RecordTap(delimiter, (cells) => {
      this.accept(cells);
    });
  }

  /** The records that end in `text`. Those before a fault are yielded before it is thrown. @throws FileError */
  async *read(text: string): AsyncGenerator<CsvRecord[]> {
    const before = this.linesEnded;
    const failure = await settled((done) => this.parser.write(Buffer.from(text), done));
    yield* this.take(failure);
    this.pending = text.length + (this.linesEnded === before ? this.pending : 0);
    if (this.pending > MAX_PENDING) throw await this.overlong();
  }

  /**
   * The last records. @throws FileError, also for a file without rows, too many that do not fit, and a last row with too few
   * cells.
   */
  async *finish(): AsyncGenerator<CsvRecord[]> {
    const failure = await settled((done) => this.parser.end(done));
    yield* this.take(failure);
    if (this.width > 0 && this.rows === 0) throw withoutRows();
    const { last, misfits } = this;
    if (misfits >= MISFITS.least && misfits > MISFITS.share * this.rows) throw this.tooManyMisfits();
    if (last?.misfit !== undefined && last.cells.length < last.misfit) throw cutShort(last, last.misfit);
  }

  destroy(): void {
    this.parser.destroy();
  }

  private get linesEnded(): number {
    return this.skipped + this.parser.info.records + this.parser.info.empty_lines;
  }

  private accept(cells: string[]): void {
    // A blank row is a line without anything; a file with one column says so with an empty cell.
    if (this.refusal || (this.named > 1 && cells.every(isBlank))) return;
    const line = this.linesEnded;
    const isHeader = this.width === 0;
    if (!isHeader && ++this.rows > MAX_ROWS) this.refusal = tooManyRows(line);
    else if (tooLong(cells)) this.refusal = rowTooLong(line);
    else this.taken.push(isHeader ? this.toHeader(line, cells) : this.toRecord(line, cells));
  }

  private toHeader(line: number, cells: string[]): CsvRecord {
    this.width = cells.length;
    this.named = 1 + cells.findLastIndex((name) => name.trim() !== '');
    return { line, cells: this.named === 0 ? cells : cells.slice(0, this.named) };
  }

  private toRecord(line: number, cells: string[]): CsvRecord {
    const { width, named } = this;
    if (cells.length !== width) return this.toMisfit({ line, cells, misfit: width });
    if (width === named) return { line, cells };
    return cells.slice(named).every(isBlank)
      ? { line, cells: cells.slice(0, named) }
      : this.toMisfit({ line, cells, misfit: named });
  }

  private toMisfit(record: CsvRecord): CsvRecord {
    this.misfits++;
    this.firstMisfit ??= record;
    return record;
  }

  private *take(failure: Error | undefined): Generator<CsvRecord[]> {
    const records = this.taken;
    this.taken = [];
    if (this.misfits > MISFITS.share * MAX_ROWS) throw this.tooManyMisfits();
    this.last = records.at(-1) ?? this.last;
    if (records.length > 0) yield records;
    if (this.refusal) throw this.refusal;
    if (failure) throw toFileError(failure, this.linesEnded + 1);
  }

  private tooManyMisfits(): FileError {
    const { firstMisfit: first, misfits, rows } = this;
    return new FileError(
      'wrong_cell_count',
      `${misfits} of ${rows} rows have more or fewer cells than the header, which has ${first?.misfit ?? 0}; the first is on ` +
        `line ${first?.line ?? 0}. Put a cell that holds the delimiter into quotes, and keep empty cells.`,
      first?.line,
    );
  }

  /** A row that is too long. csv-parse says whether a quote is open in it when the file is ended here. */
  private async overlong(): Promise<FileError> {
    const line = this.linesEnded + 1;
    const failure = await settled((done) => this.parser.end(done));
    return rowTooLong(line, failure instanceof CsvError && failure.code === 'CSV_QUOTE_NOT_CLOSED');
  }
}

/**
 * Takes the records where the parser emits them. Its `info` option, which adds their lines, costs half as much again, and
 * reading them as a stream costs a wait for each.
 */
class RecordTap extends Parser {
  constructor(
    delimiter: string,
    private readonly accept: (cells: string[]) => void,
  ) {
    super({ delimiter, record_delimiter: LINE_ENDS, skip_empty_lines: true, relax_column_count: true });
    // The callbacks of `write` and `end` report it; without a listener it would end the process.
    this.on('error', () => undefined);
  }

  override push(record: string[] | null): boolean {
    if (record === null) return super.push(null);
    this.accept(record);
    return true;
  }
}

const isBlank = (cell: string): boolean => cell.trim() === '';

function tooLong(cells: readonly string[]): boolean {
  let characters = 0;
  for (const cell of cells) characters += cell.length;
  return characters > MAX_ROW_CHARACTERS;
}

/** The error that a stream passes to its callback. */
function settled(act: (done: (error?: Error | null) => void) => void): Promise<Error | undefined> {
  return new Promise((resolve) => {
    act((error) => {
      resolve(error ?? undefined);
    });
  });
}

/** What a fault of csv-parse means, by its code. No message quotes a cell. */
const QUOTE_FAULTS: Readonly<Record<string, (line: number) => [FileErrorCode, string]>> = {
  CSV_QUOTE_NOT_CLOSED: (line) => [
    'unclosed_quote',
    `A quote that opens on line ${line} is never closed; close it, or export the file again: it may have been cut short.`,
  ],
  CSV_INVALID_CLOSING_QUOTE: (line) => [
    'bad_quote',
    `On line ${line} text follows a closing quote; double a quote that belongs to the text, ` +
      'and close the quote that opens a cell.',
  ],
  INVALID_OPENING_QUOTE: (line) => [
    'bad_quote',
    `A cell on line ${line} has a quote in the middle; put the cell into quotes and double the quote.`,
  ],
};

/** An error of csv-parse as a FileError. One that no file can cause is returned as it is. @param line on which the record begins. */
function toFileError(error: Error, line: number): Error {
  const fault = error instanceof CsvError ? QUOTE_FAULTS[error.code]?.(line) : undefined;
  return fault ? new FileError(...fault, line) : error;
}

/** Returns the number of cells of a record in words. */
export function describeCells({ cells }: CsvRecord): string {
  return `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}`;
}

const tooManyRows = (line: number) =>
  new FileError(
    'too_many_rows',
    `The file has more than ${MAX_ROWS} rows; split it into several files.`,
    line,
  );

const withoutRows = () =>
  new FileError('empty_file', 'The file has a header and no rows; add a row for each user.', 1);

const cutShort = (last: CsvRecord, width: number) =>
  new FileError(
    'cut_short',
    `Line ${last.line}, the last one, has ${describeCells(last)}, and the header has ${width}: the file was probably ` +
      'cut short; export it again.',
    last.line,
  );

function rowTooLong(line: number, inQuote = false): FileError {
  const message = inQuote
    ? `A quote that opens on line ${line} is probably never closed: the row has more than ` +
      `${MAX_ROW_CHARACTERS} characters; close the quote, or double it if it belongs to the text.`
    : `Line ${line} has more than ${MAX_ROW_CHARACTERS} characters; shorten its cells, or correct the line ends of the file.`;
  return new FileError('row_too_long', message, line);
}
