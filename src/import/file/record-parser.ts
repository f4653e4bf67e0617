import { CsvError, Parser } from 'csv-parse';
import { FileError } from './file-error.js';

export interface CsvRecord {
  /** As a spreadsheet shows it: the header is 1, a record with line ends in its cells is one line, an empty line counts. */
  line: number;
  cells: string[];
}

/** RFC 4180 has CRLF, Unix LF, and old Macs CR; one file may mix them. */
export const LINE_ENDS = ['\r\n', '\n', '\r'];
export const MAX_ROWS = 1_000_000;
const MAX_COLUMNS = 200;
/** Far more than a row of valid cells can have. */
const MAX_ROW_CHARACTERS = 512 * 1024;
/** No row within the limit is longer in the file, even with every character a doubled quote. */
const MAX_PENDING = 4 * MAX_ROW_CHARACTERS;

/** Feeds csv-parse, in its strict mode, piece by piece at the pace of the caller. */
export class RecordParser {
  private readonly parser: RecordTap;
  private taken: CsvRecord[] = [];
  private refusal: FileError | undefined;
  private width = 0;
  private bytes = 0;
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
    const bytes = Buffer.from(text);
    this.bytes += bytes.length;
    const failure = await settled((done) => this.parser.write(bytes, done));
    yield* this.take(failure, false);
    this.pending = text.length + (this.linesEnded === before ? this.pending : 0);
    if (this.pending > MAX_PENDING) throw await this.overlong();
  }

  /** The last records. @throws FileError */
  async *finish(): AsyncGenerator<CsvRecord[]> {
    const failure = await settled((done) => this.parser.end(done));
    yield* this.take(failure, this.parser.info.bytes === this.bytes);
  }

  destroy(): void {
    this.parser.destroy();
  }

  private get linesEnded(): number {
    return this.skipped + this.parser.info.records + this.parser.info.empty_lines;
  }

  private accept(cells: string[]): void {
    if (this.refusal) return;
    const row = this.parser.info.records - 1;
    if (row === 0) this.width = cells.length;
    this.refusal = refusalOf(cells, this.linesEnded, row);
    if (!this.refusal) this.taken.push({ line: this.linesEnded, cells });
  }

  private *take(failure: Error | undefined, last: boolean): Generator<CsvRecord[]> {
    const records = this.taken;
    this.taken = [];
    if (records.length > 0) yield records;
    if (this.refusal) throw this.refusal;
    if (failure) throw toFileError(failure, { line: this.linesEnded + 1, width: this.width, last });
  }

  /** A row that is too long. csv-parse says whether a quote is open in it when the file is ended here. */
  private async overlong(): Promise<FileError> {
    const line = this.linesEnded + 1;
    const failure = await settled((done) => this.parser.end(done));
    const inQuote = failure instanceof CsvError && failure.code === 'CSV_QUOTE_NOT_CLOSED';
    return inQuote ? endlessQuote(line) : rowTooLong(line);
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
    super({ delimiter, record_delimiter: LINE_ENDS, skip_empty_lines: true });
    // The callbacks of `write` and `end` report it; without a listener it would end the process.
    this.on('error', () => undefined);
  }

  override push(record: string[] | null): boolean {
    if (record === null) return super.push(null);
    this.accept(record);
    return true;
  }
}

/** Why a well-formed record is refused, if it is; `row` is 0 for the header. */
function refusalOf(cells: readonly string[], line: number, row: number): FileError | undefined {
  if (row === 0 && cells.length > MAX_COLUMNS) {
    const message = `The header has ${cells.length} columns, but may have at most ${MAX_COLUMNS}; remove the others.`;
    return new FileError('too_many_columns', message, line);
  }
  if (row > MAX_ROWS) {
    const message = `The file has more than ${MAX_ROWS} rows; split it into several files.`;
    return new FileError('too_many_rows', message, line);
  }
  let characters = 0;
  for (const cell of cells) characters += cell.length;
  return characters > MAX_ROW_CHARACTERS ? rowTooLong(line) : undefined;
}

/** The error that a stream passes to its callback. */
function settled(act: (done: (error?: Error | null) => void) => void): Promise<Error | undefined> {
  return new Promise((resolve) => {
    act((error) => {
      resolve(error ?? undefined);
    });
  });
}

/** Where a fault is. */
interface Place {
  /** The line on which the record begins. */
  line: number;
  /** Columns of the header. */
  width: number;
  /** Nothing follows the record. */
  last: boolean;
}

/** An error of csv-parse as one that quotes no cell. One that no file can cause is returned as it is. */
function toFileError(error: Error, place: Place): Error {
  if (!(error instanceof CsvError)) return error;
  const { line } = place;
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return new FileError(
        'unclosed_quote',
        `A quote that opens on line ${line} is never closed; close it, or export the file again: it may have been cut short.`,
        line,
      );
    case 'CSV_INVALID_CLOSING_QUOTE':
      return new FileError(
        'bad_quote',
        `On line ${line} text follows a closing quote; double a quote that belongs to the text, ` +
          'and close the quote that opens a cell.',
        line,
      );
    case 'INVALID_OPENING_QUOTE':
      return new FileError(
        'bad_quote',
        `A cell on line ${line} has a quote in the middle; put the cell into quotes and double the quote.`,
        line,
      );
    case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH':
      return wrongCellCount(Array.isArray(error['record']) ? error['record'].length : 0, place);
    default:
      return error;
  }
}

function wrongCellCount(cells: number, { line, width, last }: Place): FileError {
  return new FileError(
    'wrong_cell_count',
    `Line ${line} has ${cells} ${cells === 1 ? 'cell' : 'cells'}, but the header has ${width}; ` +
      'put a cell that holds the delimiter into quotes, and keep empty cells.' +
      (last ? ' It is the last line: the file may have been cut short; export it again.' : ''),
    line,
  );
}

function rowTooLong(line: number): FileError {
  return new FileError(
    'row_too_long',
    `Line ${line} has more than ${MAX_ROW_CHARACTERS} characters; shorten its cells, or correct the line ends of the file.`,
    line,
  );
}

function endlessQuote(line: number): FileError {
  return new FileError(
    'row_too_long',
    `A quote that opens on line ${line} is probably never closed: the row has more than ` +
      `${MAX_ROW_CHARACTERS} characters; close the quote, or double it if it belongs to the text.`,
    line,
  );
}
