import { CsvError, type Options, type Parser, parse } from 'csv-parse';
import { parse as parseSync } from 'csv-parse/sync';
import { Readable } from 'node:stream';
import { FileError } from './file-error.js';
import { decodeText } from './text-decoder.js';

export interface CsvRecord {
  /** As a spreadsheet shows it: the header is 1, a record is one line whatever line ends it holds, an empty line counts. */
  line: number;
  cells: string[];
}

export interface CsvOptions {
  encoding?: string | undefined;
  delimiter?: string | undefined;
  knownColumn: (header: string) => boolean;
}

const MAX_ROWS = 1_000_000;
const MAX_COLUMNS = 200;
/** Far more than a row of valid cells can have. */
const MAX_ROW_CHARACTERS = 512 * 1024;
const DELIMITERS = [',', ';', '\t', '|'];

interface Parsed {
  record: string[];
  info: { records: number; empty_lines: number };
}

/**
 * The records of a CSV file (RFC 4180), strictly read, in the memory of a batch.
 * @throws FileError from `header` and `records`, with the line, for whatever makes the file doubtful as a whole.
 */
export class CsvReader {
  private bytes = 0;
  private parser: Parser | undefined;
  private source: AsyncIterator<Parsed> | undefined;

  constructor(
    private readonly file: AsyncIterable<Uint8Array>,
    private readonly options: CsvOptions,
  ) {}

  get bytesRead(): number {
    return this.bytes;
  }

  /** The first record, read before any row, so that a fault of the header is told before one of a row. */
  async header(): Promise<string[]> {
    const text = decodeText(this.counted(), this.options.encoding || undefined);
    const { begin, all } = await beginning(text);
    const line = begin.trimStart().split(/[\r\n]/, 1)[0] ?? '';
    if (line === '') throw new FileError('empty_file', 'The file is empty; it needs a header row and rows.');
    const options = {
      delimiter: this.options.delimiter || delimiterOf(line, this.options.knownColumn),
      skip_empty_lines: true,
      max_record_size: MAX_ROW_CHARACTERS,
    };
    const names = this.firstRecord(begin, options);
    if (names.length > MAX_COLUMNS) {
      throw new FileError(
        'too_many_columns',
        `The header has ${names.length} columns; at most ${MAX_COLUMNS} are read.`,
        1,
      );
    }
    this.parser = parse({ ...options, info: true });
    this.parse(this.parser, all);
    return names;
  }

  /** The rows below the header, up to `size` at a time. */
  async *records(size: number): AsyncGenerator<CsvRecord[]> {
    let count = 0;
    let batch: CsvRecord[] = [];
    await this.next(); // the header
    for (let parsed = await this.next(); parsed; parsed = await this.next()) {
      if (++count > MAX_ROWS)
        throw new FileError('too_many_rows', `The file has more than ${MAX_ROWS} rows.`, lineOf(parsed));
      batch.push({ line: lineOf(parsed), cells: parsed.record });
      if (batch.length === size) {
        yield batch;
        batch = [];
      }
    }
    if (count === 0) throw new FileError('empty_file', 'The file has a header and no rows.', 1);
    if (batch.length > 0) yield batch;
  }

  private parse(parser: Parser, text: AsyncGenerator<string>): void {
    const input = Readable.from(text, { objectMode: true });
    input.on('error', (error) => parser.destroy(error));
    input.pipe(parser);
    this.source = parser[Symbol.asyncIterator]() as AsyncIterator<Parsed>;
  }

  private firstRecord(text: string, options: Options): string[] {
    try {
      const [names]: string[][] = parseSync(text, { ...options, columns: false, to: 1 });
      return names ?? [];
    } catch (error) {
      throw this.toFileError(error);
    }
  }

  private async next(): Promise<Parsed | undefined> {
    // What has been parsed already is taken without a wait.
    const ready = this.parser?.read() as Parsed | null | undefined;
    if (ready) return ready;
    try {
      const result = await this.source?.next();
      return result?.done ? undefined : result?.value;
    } catch (error) {
      throw this.toFileError(error);
    }
  }

  private async *counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.file) {
      this.bytes += chunk.length;
      yield chunk;
    }
  }

  private toFileError(error: unknown): unknown {
    if (!(error instanceof CsvError)) return error;
    const place = error as unknown as { records?: number; empty_lines?: number; record?: unknown[] };
    const line = (place.records ?? 0) + (place.empty_lines ?? 0) + 1;
    switch (error.code) {
      case 'CSV_QUOTE_NOT_CLOSED':
        return new FileError(
          'unclosed_quote',
          `The quote that opens on line ${line} is never closed; the file may have been cut short.`,
          line,
        );
      case 'CSV_MAX_RECORD_SIZE':
        return new FileError(
          'row_too_long',
          `Line ${line} has more than ${MAX_ROW_CHARACTERS} characters; a quote that opens on it may never be closed.`,
          line,
        );
      case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH':
        return new FileError(
          'wrong_cell_count',
          `Line ${line} has not as many cells as the header (${place.record?.length ?? 0}); ` +
            'a delimiter inside a cell needs quotes around the cell, or the file was cut short.',
          line,
        );
      case 'CSV_INVALID_CLOSING_QUOTE':
      case 'INVALID_OPENING_QUOTE':
        return new FileError(
          'bad_quote',
          `A cell on line ${line} has a quote in its midst; a cell with a quote is put into quotes and the quote doubled.`,
          line,
        );
      default:
        return error;
    }
  }
}

const lineOf = ({ info }: Parsed): number => info.records + info.empty_lines;

/** The text up to the end of the first line that is not empty, or somewhat beyond, and the whole text again. */
async function beginning(
  text: AsyncGenerator<string>,
): Promise<{ begin: string; all: AsyncGenerator<string> }> {
  let begin = '';
  for (let piece = await text.next(); !piece.done; piece = await text.next()) {
    begin += piece.value;
    if (begin.length > MAX_ROW_CHARACTERS || /\S[^\r\n]*[\r\n]/.test(begin)) break;
  }
  async function* again(): AsyncGenerator<string> {
    if (begin !== '') yield begin;
    yield* text;
  }
  return { begin, all: again() };
}

/** The delimiter under which most header names are known. */
function delimiterOf(header: string, known: (name: string) => boolean): string {
  const score = (delimiter: string): number =>
    header.split(delimiter).filter((name) => known(name.replace(/^\s*"|"\s*$/g, ''))).length;
  return DELIMITERS.reduce((best, delimiter) => (score(delimiter) > score(best) ? delimiter : best));
}
