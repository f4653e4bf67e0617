import { type Row, type Run, api, unwrap } from '../../api/client.js';
import { formatCsv, parseCsv } from '../../lib/csv.js';
import { isWaiting } from './runs.js';

/** Maximum number of rows that are corrected in the browser at once. */
const MAX_ROWS = 500;
/** Maximum length of the part of `failed.csv` that is read, in characters. */
const MAX_TEXT = 500_000;
/** Number of columns that `failed.csv` adds to the columns of the source: `_run`, `_line`, `_code`, `_message`. */
const ADDED_COLUMNS = 4;

/** A failed row of a file. */
export interface FailedRow {
  line: number;
  cells: string[];
}

export interface FailedFile {
  delimiter: string;
  header: string[];
  /** Columns of the source. */
  columns: readonly string[];
  rows: FailedRow[];
}

/** Loads the first failed rows of a run with the columns of its file. */
export async function loadFailedFile(id: string, signal: AbortSignal): Promise<FailedFile> {
  const params = { path: { import_id: id } };
  const call = api.GET('/api/0.3/imports/{import_id}/failed.csv', { params, parseAs: 'stream', signal });
  const text = await readStart((await unwrap(call)).data);
  const delimiter = /_line(.)_code/.exec(text)?.[1] ?? ',';
  const [header = [], ...lines] = parseCsv(text, delimiter, MAX_ROWS + 1);
  const columns = header.slice(0, -ADDED_COLUMNS);
  const rows = lines.map((cells) => ({ line: Number(cells[columns.length + 1]), cells }));
  return { delimiter, header, columns, rows };
}

async function readStart(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (text.length < MAX_TEXT) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: !done });
    if (done) return text;
  }
  await reader.cancel();
  return text;
}

/**
 * Creates a file in the format of `failed.csv`. In a row with a wrong number of cells, the last cell keeps the row
 * invalid until it is edited.
 */
export function createFile(name: string, file: FailedFile, edited: ReadonlySet<number>): File {
  const { delimiter, header, rows } = file;
  const lines = rows.map(({ line, cells }) => (edited.has(line) ? cells.slice(0, header.length) : cells));
  return new File([formatCsv([header, ...lines], delimiter)], `corrected-${name.replace(/^corrected-/, '')}`);
}

const toKey = (name: string): string => name.replace(/[^a-z]/gi, '').toLowerCase();

/** Returns the index of the column with the invalid cell of an error, or -1 if it is unknown. */
export function findColumn(
  { columns }: FailedFile,
  { cells }: FailedRow,
  { field, value }: Row['errors'][number],
): number {
  const named = columns.findIndex((name) => toKey(name) === toKey(field.replace(/_uuid$|^social_media/, '')));
  return named >= 0 || !value ? named : cells.slice(0, columns.length).indexOf(value);
}

/** Returns true if the failed rows of a run can be corrected. */
export const isCorrectable = (run: Run): boolean => !run.reverts && !run.change && !isWaiting(run);
