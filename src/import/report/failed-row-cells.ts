import { type FileRow, readRow } from '../file/file-row.js';
import { mapHeader } from '../file/run-files.js';
import type { StoredRow } from '../runs/import-rows.repository.js';
import type { ImportRun } from '../runs/import-run.js';

/** Returns the fields of a failed row, or undefined if its cells are not stored or do not fit the header. */
export type FailedRowReader = (row: StoredRow) => FileRow | undefined;

/** Creates a function that reads the stored cells of failed rows with the profile of their run. */
export function createFailedRowReader({
  header,
  profile,
  created,
}: Pick<ImportRun, 'header' | 'profile' | 'created'>): FailedRowReader {
  const options = { ignore_unknown_columns: true, today: created.slice(0, 10) };
  const { columns, mapRecord } = mapHeader(header, options, profile);
  return ({ line, cells }) =>
    cells.length === 0 || cells.length !== header.length
      ? undefined
      : readRow(mapRecord({ line, cells }), columns, 'clear');
}
