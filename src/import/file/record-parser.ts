import { CsvError, Parser } from 'csv-parse';
import { endlessQuote, MAX_ROW_CHARACTERS, rowTooLong, toFileError } from './csv-refusals.js';
import { LINE_ENDS } from './delimiter.js';
import { FileError } from './file-error.js';

export interface CsvRecord {
  /** As a spreadsheet shows it: the header is 1, a record is one line whatever line ends it holds, an empty line counts. */
  line: number;
  cells: string[];
}

export const MAX_ROWS = 1_000_000;
const MAX_COLUMNS = 200;
/** No row within the limit is longer in the file, even with every character a doubled quote. */
const MAX_PENDING = 4 * MAX_ROW_CHARACTERS;

/** csv-parse, strict, fed piece by piece: the pace is the caller's. */
export class RecordParser {
  private readonly parser: RecordTap;
  private taken: CsvRecord[] = [];
  private refusal: FileError | undefined;
  private width = 0;
  private bytes = 0;
  private pending = 0;

  constructor(delimiter: string) {
    this.parser = new RecordTap(delimiter, (cells) => {
      this.accept(cells);
    });
  }

  /** The records that end in `text`; those before a fault are given out before it is thrown. @throws FileError */
  async *read(text: string): AsyncGenerator<CsvRecord[]> {
    const before = this.linesEnded;
    const bytes = Buffer.from(text);
    this.bytes += bytes.length;
    const failure = await settled((done) => this.parser.write(bytes, done));
    yield* this.take(failure, false);
    this.pending = text.length + (this.linesEnded === before ? this.pending : 0);
    if (this.pending > MAX_PENDING) throw await this.endless();
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
    return this.parser.info.records + this.parser.info.empty_lines;
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

  /** A row without end: whether a quote is open in it shows when the file is said to end here. */
  private async endless(): Promise<FileError> {
    const line = this.linesEnded + 1;
    const failure = await settled((done) => this.parser.end(done));
    const inQuote = failure instanceof CsvError && failure.code === 'CSV_QUOTE_NOT_CLOSED';
    return inQuote ? endlessQuote(line) : rowTooLong(line);
  }
}

/**
 * Takes the records where the parser hands them out: its `info` option, which would tell their lines too, costs half as
 * much again, and reading them as a stream a wait for each.
 */
class RecordTap extends Parser {
  constructor(
    delimiter: string,
    private readonly accept: (cells: string[]) => void,
  ) {
    super({ delimiter, record_delimiter: LINE_ENDS, skip_empty_lines: true });
    // The callbacks of `write` and `end` tell of it; without a listener it would end the process.
    this.on('error', () => undefined);
  }

  override push(record: string[] | null): boolean {
    if (record === null) return super.push(null);
    this.accept(record);
    return true;
  }
}

/** What is wrong with a record that is well formed; `row` is 0 for the header. */
function refusalOf(cells: readonly string[], line: number, row: number): FileError | undefined {
  if (row === 0 && cells.length > MAX_COLUMNS) {
    const message = `The header has ${cells.length} columns, and at most ${MAX_COLUMNS} are read; take the others out.`;
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

/** The error that a stream hands to its callback. */
function settled(act: (done: (error?: Error | null) => void) => void): Promise<Error | undefined> {
  return new Promise((resolve) => {
    act((error) => {
      resolve(error ?? undefined);
    });
  });
}
