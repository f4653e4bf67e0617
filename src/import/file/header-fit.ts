import { FileError } from './file-error.js';
import { type CsvRecord, MAX_ROWS } from './record-parser.js';

/** Rows that do not fit the header refuse the file when they are so many, and more than this share of all. */
const MISFITS = { least: 5, share: 0.1 };

/** Looks whether rows have as many cells as the header: one that has not fails alone, many of them refuse the file. */
export class HeaderFit {
  private rows = 0;
  private misfits = 0;
  private first: CsvRecord | undefined;
  private last: CsvRecord | undefined;

  /** @throws FileError where too many do not, however many rows follow. */
  look(records: readonly CsvRecord[]): void {
    this.rows += records.length;
    this.last = records.at(-1) ?? this.last;
    for (const record of records) {
      if (record.misfit === undefined) continue;
      this.first ??= record;
      this.misfits++;
    }
    if (this.misfits > MISFITS.share * MAX_ROWS) throw this.tooMany();
  }

  /** @throws FileError for a file without rows, too many that do not fit, and a last row with too few cells. */
  end(): void {
    if (this.rows === 0)
      throw new FileError('empty_file', 'The file has a header and no rows; add a row for each user.', 1);
    if (this.misfits >= MISFITS.least && this.misfits > MISFITS.share * this.rows) throw this.tooMany();
    const { last } = this;
    if (last?.misfit !== undefined && last.cells.length < last.misfit) {
      throw new FileError(
        'cut_short',
        `Line ${last.line}, the last one, has ${cellsOf(last)}, and the header has ${last.misfit}: the file was probably ` +
          'cut short; export it again.',
        last.line,
      );
    }
  }

  private tooMany(): FileError {
    const { first, misfits, rows } = this;
    return new FileError(
      'wrong_cell_count',
      `${misfits} of ${rows} rows have more or fewer cells than the header, which has ${first?.misfit ?? 0}; the first is on ` +
        `line ${first?.line ?? 0}. Put a cell that holds the delimiter into quotes, and keep empty cells.`,
      first?.line,
    );
  }
}

/** The number of cells of a record, in words. */
export function cellsOf({ cells }: CsvRecord): string {
  return `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}`;
}
