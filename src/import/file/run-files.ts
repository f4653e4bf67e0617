import { Injectable } from '@nestjs/common';
import type { ImportRun } from '../runs/import-run.js';
import { type Column, findColumn, toHeaderKey, findNearestColumn } from './columns.js';
import { FileError, type FileErrorDetails } from './file-error.js';
import { ImportFilesRepository } from './import-files.repository.js';
import type { CsvRecord } from './record-parser.js';
import { CsvReader } from './csv-reader.js';
import type { ImportOptions, NamedProfile } from '../runs/import-options.js';
import { UnlistedWords } from '../mapping/unlisted-words.js';
import { RecordMapper, createColumnTest, quote } from '../mapping/record-mapper.js';

const MAX_HEADER_ERRORS = 100;
const FILE_LOST =
  'The stored file of this import is missing or incomplete, because it was purged or the database was restored. Upload it again.';
const PASSWORDS = new Set(['password', 'passwd', 'pwd', 'passwordhash']);

/** Import column of each cell of a row, or undefined for an ignored cell. */
export type Header = readonly (Column | undefined)[];

/**
 * Determines if `failed.csv` contains a source column. It contains only `stored` columns. `added` columns come from an
 * earlier `failed.csv`. `private` columns are not imported and may contain confidential data.
 */
export type SourceUse = 'stored' | 'added' | 'private';

type HeaderOptions = Pick<ImportOptions, 'ignore_unknown_columns'>;
type StoredRun = Pick<ImportRun, 'id' | 'options' | 'profile' | 'file_size'>;

/** Access to the stored files of runs. A file can be opened several times. */
@Injectable()
export class RunFiles {
  constructor(private readonly files: ImportFilesRepository) {}

  /**
   * Opens the file of a run and reads its header.
   * @throws FileError for an invalid header, or `file_lost` if the stored file is incomplete. A missing part may be
   * noticed only while rows are read.
   */
  async open({ id, options, profile, file_size: size }: StoredRun) {
    const reader = createCsvReader(this.readBytes(id, size), options, profile);
    const names = await reader.readHeader();
    if (profile) return openMappedFile(reader, names, options, profile);
    const header = readHeader(names, options, reader.headerLine);
    const uses = usesOf(names, (index) => header[index] !== undefined);
    const readRecords = (batchSize: number) => reader.readRecords(batchSize);
    return { reader, readRecords, names, header, uses, words: new UnlistedWords() };
  }

  /** Yields the bytes of a file. @throws FileError `file_lost` at the end if bytes are missing. */
  private async *readBytes(id: string, size: number): AsyncGenerator<Uint8Array> {
    let read = 0;
    for await (const part of this.files.read(id)) {
      read += part.length;
      yield part;
    }
    if (read !== size) throw new FileError('file_lost', FILE_LOST);
  }
}

function openMappedFile(reader: CsvReader, names: string[], options: ImportOptions, profile: NamedProfile) {
  const mapper = new RecordMapper(profile, names, options);
  assertNoFaults(mapper.errors, reader.headerLine);
  const { columns: header, targets, inputs, ignored } = mapper;
  const uses = usesOf(names, (index) => (targets.has(index) || inputs.has(index)) && !ignored.has(index));
  async function* readRecords(batchSize: number): AsyncGenerator<CsvRecord[]> {
    for await (const records of reader.readRecords(batchSize))
      yield records.map((record) => mapRecord(mapper, record));
  }
  return { reader, readRecords, names, header, uses, words: mapper.words };
}

const usesOf = (names: readonly string[], isRead: (index: number) => boolean): SourceUse[] =>
  names.map((name, index) => (name.trim().startsWith('_') ? 'added' : isRead(index) ? 'stored' : 'private'));

/**
 * Finds the import column of each column name in a header. Ignores names that begin with `_`, which `failed.csv` adds.
 * @param line the line of the header.
 * @throws FileError that lists all errors of the header: no ExternalId, and each password column,
 * unknown column and repeated column.
 */
export function readHeader(names: readonly string[], options: HeaderOptions, line = 1): Header {
  const header = findColumns(names);
  assertNoFaults(findHeaderErrors(names, header, options), line);
  return header;
}

export const findColumns = (names: readonly string[]): Header =>
  names.map((name) => (name.trim().startsWith('_') ? undefined : findColumn(name)));

/** @throws FileError that lists all errors and has the code of the first one. */
function assertNoFaults(faults: readonly FileErrorDetails[], line: number): void {
  const [first, ...others] = faults.map((fault) => ({ ...fault, line }));
  if (first) throw new FileError(first.code, first.message, line, others);
}

export function findHeaderErrors(
  names: readonly string[],
  header: Header,
  { ignore_unknown_columns: ignoresUnknown }: HeaderOptions,
): FileErrorDetails[] {
  const faults: FileErrorDetails[] = [];
  if (!header.some((column) => column?.field === 'external_id')) {
    const message = 'The header has no column ExternalId, which matches rows to users. Add this column.';
    faults.push({ code: 'missing_column', message });
  }
  for (const [index, name] of names.entries()) {
    const column = header[index];
    const first = column ? header.indexOf(column) : -1;
    if (first === index || name.trim().startsWith('_')) continue;
    const fault = toHeaderError(name, column, names[first] ?? '');
    if (fault.code !== 'unknown_column' || !ignoresUnknown) faults.push(fault);
  }
  return faults.slice(0, MAX_HEADER_ERRORS);
}

function toHeaderError(name: string, column: Column | undefined, firstName: string): FileErrorDetails {
  if (column) {
    const both = `The columns ${quote(firstName)} and ${quote(name)} both mean ${column.name}`;
    return { code: 'duplicate_column', message: `${both}. Remove one of them.` };
  }
  if (!PASSWORDS.has(toHeaderKey(name)))
    return { code: 'unknown_column', message: formatUnknownColumn(name) };
  const message = `Imports cannot set passwords. Remove the column ${quote(name)} from the file.`;
  return { code: 'password_column', message };
}

function formatUnknownColumn(name: string): string {
  const nearest = findNearestColumn(name);
  const hint = nearest ? ` Did you mean ${nearest.name}?` : '';
  return `The column ${quote(name)} is unknown.${hint} Correct its name, or import with ignore_unknown_columns=true.`;
}

/**
 * Creates a reader for a file with its options and profile.
 * @param isKnown returns true for a known column name. Without a profile, the delimiter is detected by these names.
 */
export function createCsvReader(
  bytes: AsyncIterable<Uint8Array>,
  { encoding, delimiter }: ImportOptions,
  profile: NamedProfile | null,
  isKnown: (name: string) => boolean = (name) => findColumn(name) !== undefined,
): CsvReader {
  const { skip_lines: first = 0, skip_last_lines: last = 0 } = profile ?? {};
  return new CsvReader(bytes, {
    encoding,
    delimiter,
    isKnownColumn: profile ? createColumnTest(profile) : isKnown,
    ...((first > 0 || last > 0) && { skipped: { first, last } }),
  });
}

/**
 * Maps a record to the import columns. In a mismatched record, only the ExternalId is mapped, and `alignments` contains
 * the two possible mappings.
 */
function mapRecord(mapper: RecordMapper, record: CsvRecord): CsvRecord {
  const { cells, expectedCells } = record;
  if (expectedCells === undefined)
    return { ...record, cells: mapper.mapCells(cells, record.line), sourceCells: cells };
  const surplus = cells.length - expectedCells;
  const fromRight = surplus > 0 ? cells.slice(surplus) : [...Array<string>(-surplus).fill(''), ...cells];
  const readings = [cells, fromRight].map((each) => mapper.mapCells(each, record.line));
  // The first import column is ExternalId.
  const externalId = readings[0]?.[0] ?? '';
  return {
    ...record,
    cells: cells.map((_, at) => (at === 0 ? externalId : '')),
    alignments: readings,
    sourceCells: cells,
  };
}
