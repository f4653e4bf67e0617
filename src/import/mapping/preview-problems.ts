import { exactKey, loginKey } from '../../users/model/keys.js';
import type { CsvRecord } from '../file/record-parser.js';
import { describeCells } from '../file/csv-reader.js';
import { FileError } from '../file/file-error.js';
import type { FileRow } from '../file/file-row.js';
import type { RowError } from '../runs/import-row.js';

/** A fault of the file (without a line: of its header) or of a row. */
export interface PreviewProblem extends RowError {
  line: number | null;
  /** The whole file would be refused. */
  refuses: boolean;
}

/** What is wrong with a file. @throws the error itself where it says nothing about the file. */
export function faultsOf(error: unknown): PreviewProblem[] {
  if (!(error instanceof FileError)) throw error;
  return [error, ...error.others].map(({ code, message, line = null }) => ({
    line,
    field: '',
    code,
    message,
    refuses: true,
  }));
}

/** A row with too few or too many cells. */
export function misfitOf(record: CsvRecord): PreviewProblem[] {
  const { line, misfit } = record;
  if (misfit === undefined) return [];
  const message = `has ${describeCells(record)}, and the header has ${misfit}`;
  return [{ line, field: '', code: 'wrong_cell_count', message, refuses: false }];
}

/** Values that two rows have, and only one may: said of the later row. */
export function repeated(rows: readonly FileRow[]): PreviewProblem[] {
  const problems: PreviewProblem[] = [];
  const look = (field: string, keyOf: (row: FileRow) => string): void => {
    const lines = new Map<string, number>();
    for (const row of rows) {
      const key = keyOf(row);
      if (key === '') continue;
      const first = lines.get(key);
      if (first === undefined) lines.set(key, row.line);
      else {
        const message = `is set by another change too: line ${first}`;
        problems.push({ line: row.line, field, code: 'duplicate', message, refuses: false });
      }
    }
  };
  const text = (row: FileRow, field: string): string => {
    const value = row.raw[field];
    return typeof value === 'string' ? loginKey(value) : '';
  };
  look('external_id', ({ externalId }) => exactKey(externalId));
  look('username', (row) => text(row, 'username'));
  look('email', (row) => text(row, 'email'));
  return problems;
}
