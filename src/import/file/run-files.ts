import { Injectable } from '@nestjs/common';
import { truncate } from '../../platform/common/text.js';
import type { ImportRun } from '../runs/import-run.js';
import { type Column, columnOf, headerKey, nearestColumn, mayHoldPassword } from './columns.js';
import { FileError, type FileFault } from './file-error.js';
import { ImportFilesRepository } from './import-files.repository.js';
import type { CsvRecord } from './record-parser.js';
import { CsvReader } from './csv-reader.js';
import type { ImportOptions, NamedProfile } from '../runs/import-options.js';
import { MAX_COLUMNS } from '../mapping/profile.input.js';
import { RecordMapper, readsColumn } from '../mapping/record-mapper.js';

/** Maximum number of header errors that are reported. */
const MAX_FAULTS = 100;
const LOST =
  'The stored file of this import is missing or incomplete, because it was purged or the database was restored. Upload it again.';
const PASSWORDS = new Set(['password', 'passwd', 'pwd', 'passwordhash']);
const quoted = (name: string): string => `"${truncate(name, 100)}"`;

/** Import column of each cell of a row, or undefined for an ignored cell. */
export type Header = readonly (Column | undefined)[];

/**
 * Treatment of a source column in `failed.csv`. An earlier `failed.csv` added the `added` columns. Cells of `private` columns
 * are dropped, because no option or profile names these columns.
 */
export type SourceUse = 'stored' | 'added' | 'private';

/** A file whose header row has been read. */
interface OpenFile {
  reader: CsvReader;
  /** Yields the rows of the file. Their cells match `header`. */
  records: (batchSize: number) => AsyncGenerator<CsvRecord[]>;
  header: Header;
  /** The cells of the header row. */
  names: readonly string[];
  /** Treatment of each source column in `failed.csv`. */
  uses: readonly SourceUse[];
}

type StoredRun = Pick<ImportRun, 'id' | 'options' | 'profile' | 'file_size'>;

/** Access to the stored files of runs. A file can be opened several times. */
@Injectable()
export class RunFiles {
  constructor(private readonly files: ImportFilesRepository) {}

  /**
   * Opens the file of a run and reads its header.
   * @throws FileError for an invalid header. Also `file_lost`, here or while rows are read, if the stored file is incomplete.
   */
  async open({ id, options, profile, file_size: size }: StoredRun): Promise<OpenFile> {
    const reader = csvReader(this.bytes(id, size), options, profile);
    const names = await reader.header();
    if (profile) return openMapped(reader, names, options, profile);
    const header = readHeader(names, options, reader.headerLine);
    const uses = usesOf(names, (index, name) => header[index] !== undefined || !mayHoldPassword(name));
    return { reader, records: (batchSize) => reader.records(batchSize), names, header, uses };
  }

  /** Yields the bytes of a file. @throws FileError `file_lost` at the end if bytes are missing. */
  private async *bytes(id: string, size: number): AsyncGenerator<Uint8Array> {
    let read = 0;
    for await (const part of this.files.read(id)) {
      read += part.length;
      yield part;
    }
    if (read !== size) throw new FileError('file_lost', LOST);
  }
}

/** Opens a file whose rows a profile maps to the import columns. */
function openMapped(
  reader: CsvReader,
  names: string[],
  options: ImportOptions,
  profile: NamedProfile,
): OpenFile {
  const mapper = new RecordMapper(profile, names, options);
  assertNone([...tooMany(names), ...mapper.faults], reader.headerLine);
  const { columns: header, filledBy, read, ignored } = mapper;
  const uses = usesOf(names, (index) => (filledBy.has(index) || read.has(index)) && !ignored.has(index));
  return { reader, records: (batchSize) => mapRecords(reader, mapper, batchSize), names, header, uses };
}

const usesOf = (names: readonly string[], isRead: (index: number, name: string) => boolean): SourceUse[] =>
  names.map((name, index) =>
    name.trim().startsWith('_') ? 'added' : isRead(index, name) ? 'stored' : 'private',
  );

/**
 * Returns the import columns of a header row. Ignores names that begin with `_`, which `failed.csv` adds.
 * @param line the line of the header.
 * @throws FileError with all errors: too many columns, a missing ExternalId, and each password, unknown or repeated column.
 */
export function readHeader(
  names: readonly string[],
  options: { ignore_unknown_columns: boolean },
  line = 1,
): Header {
  const header = names.map((name) => (name.trim().startsWith('_') ? undefined : columnOf(name)));
  assertNone(headerFaults(names, header, options), line);
  return header;
}

/** Does nothing without errors. @throws FileError with all errors of a header. Its code is the code of the first error. */
function assertNone(faults: readonly FileFault[], line: number): void {
  const [first, ...others] = faults.map((fault) => ({ ...fault, line }));
  if (first) throw new FileError(first.code, first.message, line, others);
}

function tooMany({ length }: readonly string[]): FileFault[] {
  if (length <= MAX_COLUMNS) return [];
  const message = `The header has ${length} columns, but at most ${MAX_COLUMNS} are allowed. Remove the other columns.`;
  return [{ code: 'too_many_columns', message }];
}

function headerFaults(
  names: readonly string[],
  header: Header,
  { ignore_unknown_columns: ignoresUnknown }: { ignore_unknown_columns: boolean },
): FileFault[] {
  const faults = tooMany(names);
  if (!header.some((column) => column?.field === 'external_id')) {
    const message = 'The header has no column ExternalId, which matches rows to users. Add this column.';
    faults.push({ code: 'missing_column', message });
  }
  for (const [index, name] of names.entries()) {
    const column = header[index];
    const first = column ? header.indexOf(column) : -1;
    if (first === index || name.trim().startsWith('_')) continue;
    const fault = faultOf(name, column, names[first] ?? '');
    if (fault.code !== 'unknown_column' || !ignoresUnknown) faults.push(fault);
  }
  return faults.slice(0, MAX_FAULTS);
}

/** Returns the error of one header. @param first an earlier header of the file that names the same import column. */
function faultOf(name: string, column: Column | undefined, first: string): FileFault {
  if (column) {
    const both = `The columns ${quoted(first)} and ${quoted(name)} both mean ${column.name}`;
    return { code: 'duplicate_column', message: `${both}. Remove one of them.` };
  }
  if (!PASSWORDS.has(headerKey(name))) return { code: 'unknown_column', message: unknown(name) };
  const message = `Imports cannot set passwords. Remove the column ${quoted(name)} from the file.`;
  return { code: 'password_column', message };
}

function unknown(name: string): string {
  const nearest = nearestColumn(name);
  const hint = nearest ? ` Did you mean ${nearest.name}?` : '';
  return `The column ${quoted(name)} is unknown.${hint} Correct its name, or import with ignore_unknown_columns=true.`;
}

/**
 * Creates a reader for a file with its options and profile.
 * @param isKnown recognizes column names. Without a profile, these names are used to detect the delimiter.
 */
export function csvReader(
  bytes: AsyncIterable<Uint8Array>,
  { encoding, delimiter }: ImportOptions,
  profile: NamedProfile | null,
  isKnown: (name: string) => boolean = (name) => columnOf(name) !== undefined,
): CsvReader {
  const { skip_lines: first = 0, skip_last_lines: last = 0 } = profile ?? {};
  return new CsvReader(bytes, {
    encoding,
    delimiter,
    knownColumn: profile ? readsColumn(profile) : isKnown,
    ...((first > 0 || last > 0) && { skipped: { first, last } }),
  });
}

/** Yields the rows of a file, mapped to the import columns. */
async function* mapRecords(
  reader: CsvReader,
  mapper: RecordMapper,
  batchSize: number,
): AsyncGenerator<CsvRecord[]> {
  for await (const records of reader.records(batchSize)) {
    yield records.map((record) => mappedRecord(mapper, record));
  }
}

/** Maps a record to the import columns. Of a mismatched record, only the possible external ids are used. */
function mappedRecord(mapper: RecordMapper, record: CsvRecord): CsvRecord {
  const { cells, misfit } = record;
  if (misfit === undefined) return { ...record, cells: mapper.cells(cells), source: cells };
  const moved = cells.length - misfit;
  const fromRight = moved > 0 ? cells.slice(moved) : [...Array<string>(-moved).fill(''), ...cells];
  const readings = [cells, fromRight].map((each) => mapper.cells(each));
  // ExternalId is the first import column.
  const named = readings[0]?.[0] ?? '';
  return {
    ...record,
    cells: cells.map((_, at) => (at === 0 ? named : '')),
    readings,
    source: cells,
  };
}
