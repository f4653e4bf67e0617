import { Injectable } from '@nestjs/common';
import { truncated } from '../../platform/common/text.js';
import type { ImportRun } from '../runs/import-run.js';
import { type Column, columnOf, headerKey, nearestColumn, mayHoldPassword } from './columns.js';
import { FileError, type FileFault } from './file-error.js';
import { ImportFilesRepository } from './import-files.repository.js';
import type { CsvRecord } from './record-parser.js';
import { CsvReader } from './csv-reader.js';
import type { ImportOptions, NamedProfile } from '../runs/import-options.js';
import { MAX_COLUMNS } from '../mapping/profile.input.js';
import { RecordMapper, readsColumn } from '../mapping/record-mapper.js';

/** Faults of a header that are named. */
const MAX_FAULTS = 100;
const LOST =
  'The stored file of this import is gone, or not whole any more (it was purged, or the database was restored); send it again.';
const PASSWORDS = new Set(['password', 'passwd', 'pwd', 'passwordhash']);
const quoted = (name: string): string => `"${truncated(name, 100)}"`;

/** The column of each cell of a row; undefined for an ignored cell. */
export type Header = readonly (Column | undefined)[];

/** `added`: by an earlier `failed.csv`; `private`: dropped when it is read, because no option or profile names it. */
export type SourceUse = 'kept' | 'added' | 'private';

/** A file whose header row has been read. */
interface OpenFile {
  reader: CsvReader;
  /** The rows of the file, in cells of `header`. */
  records: (batchSize: number) => AsyncGenerator<CsvRecord[]>;
  header: Header;
  /** The cells of the header row. */
  names: readonly string[];
  /** What becomes of the cells of each of them in `failed.csv`. */
  uses: readonly SourceUse[];
}

type StoredRun = Pick<ImportRun, 'id' | 'options' | 'profile' | 'file_size'>;

/** Opens the stored files of runs; a file can be read several times. */
@Injectable()
export class RunFiles {
  constructor(private readonly files: ImportFilesRepository) {}

  /** @throws FileError when the header is refused; `file_lost`, from the reader too, when the stored file is not whole. */
  async open({ id, options, profile, file_size: size }: StoredRun): Promise<OpenFile> {
    const reader = csvReader(this.bytes(id, size), options, profile);
    const names = await reader.header();
    if (profile) return openMapped(reader, names, options, profile);
    const header = readHeader(names, options, reader.headerLine);
    const uses = usesOf(names, (index, name) => header[index] !== undefined || !mayHoldPassword(name));
    return { reader, records: (batchSize) => reader.records(batchSize), names, header, uses };
  }

  /** The bytes of a file. Its end is the end of the file only where nothing of it is missing. */
  private async *bytes(id: string, size: number): AsyncGenerator<Uint8Array> {
    let read = 0;
    for await (const part of this.files.read(id)) {
      read += part.length;
      yield part;
    }
    if (read !== size) throw new FileError('file_lost', LOST);
  }
}

/** A file whose rows a profile maps to our columns. */
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
    name.trim().startsWith('_') ? 'added' : isRead(index, name) ? 'kept' : 'private',
  );

/**
 * The columns of a header row. Names that begin with `_` are those of `failed.csv` and ignored.
 * @param line of the header.
 * @throws FileError with everything that is wrong: too many columns, no ExternalId, and each password column, unknown and
 * repeated one.
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

/** @throws FileError with all faults of a header; the first gives its code to the refusal. */
function assertNone(faults: readonly FileFault[], line: number): void {
  const [first, ...others] = faults.map((fault) => ({ ...fault, line }));
  if (first) throw new FileError(first.code, first.message, line, others);
}

function tooMany({ length }: readonly string[]): FileFault[] {
  if (length <= MAX_COLUMNS) return [];
  const message = `The header has ${length} columns, but may have at most ${MAX_COLUMNS}; remove the others.`;
  return [{ code: 'too_many_columns', message }];
}

function headerFaults(
  names: readonly string[],
  header: Header,
  { ignore_unknown_columns: ignoresUnknown }: { ignore_unknown_columns: boolean },
): FileFault[] {
  const faults = tooMany(names);
  if (!header.some((column) => column?.field === 'external_id')) {
    const message = 'The header has no column ExternalId, by which rows are matched to users.';
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

/** @param first the name by which an earlier column of the file means the same column. */
function faultOf(name: string, column: Column | undefined, first: string): FileFault {
  if (column) {
    const both = `The columns ${quoted(first)} and ${quoted(name)} both mean ${column.name}`;
    return { code: 'duplicate_column', message: `${both}; remove one of them.` };
  }
  if (!PASSWORDS.has(headerKey(name))) return { code: 'unknown_column', message: unknown(name) };
  const message = `Imports set no passwords; remove the column ${quoted(name)} from the file.`;
  return { code: 'password_column', message };
}

function unknown(name: string): string {
  const nearest = nearestColumn(name);
  const advice = nearest ? `did you mean ${nearest.name}? Correct its name` : 'correct its name';
  return `The column ${quoted(name)} is not known; ${advice}, or import with ignore_unknown_columns=true.`;
}

/**
 * Reads the bytes of a file as its options and its profile say.
 * @param isKnown names by which the delimiter is found where there is no profile.
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

/** The rows of a file with the cells that its profile makes of them. */
async function* mapRecords(
  reader: CsvReader,
  mapper: RecordMapper,
  batchSize: number,
): AsyncGenerator<CsvRecord[]> {
  for await (const records of reader.records(batchSize)) {
    yield records.map((record) => mappedRecord(mapper, record));
  }
}

/** A row in our columns. Of one that does not fit its header nothing is known but who it may be about. */
function mappedRecord(mapper: RecordMapper, record: CsvRecord): CsvRecord {
  const { cells, misfit } = record;
  if (misfit === undefined) return { ...record, cells: mapper.cells(cells), source: cells };
  const moved = cells.length - misfit;
  const fromRight = moved > 0 ? cells.slice(moved) : [...Array<string>(-moved).fill(''), ...cells];
  const readings = [cells, fromRight].map((each) => mapper.cells(each));
  // ExternalId is the first of our columns.
  const named = readings[0]?.[0] ?? '';
  return {
    ...record,
    cells: cells.map((_, at) => (at === 0 ? named : '')),
    readings,
    source: cells,
  };
}
