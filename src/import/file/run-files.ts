import { Injectable } from '@nestjs/common';
import { truncated } from '../../common/text.js';
import type { ImportOptions } from '../runs/import-options.js';
import { type Column, columnOf, headerKey } from './columns.js';
import { type RecordMapper, readsColumn, recordMapper } from '../profiles/record-mapper.js';
import type { NamedProfile } from '../runs/import-profile.js';
import { type CsvRecord, CsvReader } from './csv-reader.js';
import { FileError } from './file-error.js';
import { ImportFilesRepository } from './import-files.repository.js';

const PASSWORDS = new Set(['password', 'passwd', 'pwd', 'passwordhash']);
const quoted = (name: string): string => `"${truncated(name, 100)}"`;

/** The column of each cell of a row; undefined for an ignored cell. */
export type Header = readonly (Column | undefined)[];

/** The rows of a file, in cells of our header. */
interface RowReader {
  /** Bytes of the file that have been read. */
  readonly bytesRead: number;
  records(batchSize: number): AsyncGenerator<CsvRecord[]>;
}

/** A file whose header row has been read. */
export interface OpenFile {
  reader: RowReader;
  /** The cells of the header row; with a profile, the names of our columns. */
  names: string[];
  header: Header;
}

/** Opens the stored files of runs; a file can be read several times. */
@Injectable()
export class RunFiles {
  constructor(private readonly files: ImportFilesRepository) {}

  /** @throws FileError when the header is refused. */
  async open({ id, options, profile }: StoredRun): Promise<OpenFile> {
    const reader = csvReader(this.files.read(id), options, profile);
    const names = await reader.header();
    return profile ? mapped(reader, names, profile) : { reader, names, header: readHeader(names, options) };
  }
}

interface StoredRun {
  id: string;
  options: ImportOptions;
  profile: NamedProfile | null;
}

/** Reads the bytes of a file as its options and its profile say. */
export function csvReader(
  bytes: AsyncIterable<Uint8Array>,
  { encoding, delimiter }: ImportOptions,
  profile: NamedProfile | null,
): CsvReader {
  const { skip_lines: first = 0, skip_last_lines: last = 0 } = profile ?? {};
  return new CsvReader(bytes, {
    encoding,
    delimiter,
    knownColumn: profile ? readsColumn(profile) : (name) => columnOf(name) !== undefined,
    ...((first > 0 || last > 0) && { skipped: { first, last } }),
  });
}

/** @throws FileError with all that is wrong with the header. */
function mapped(reader: CsvReader, names: readonly string[], profile: NamedProfile): OpenFile {
  const mapper = recordMapper(profile, names);
  const [fault] = mapper.faults;
  if (fault) {
    const message = mapper.faults.map((each) => each.message).join(' ');
    throw new FileError(fault.code, message, (profile.skip_lines ?? 0) + 1);
  }
  return {
    reader: new MappedReader(reader, mapper),
    names: mapper.columns.map(({ name }) => name),
    header: mapper.columns,
  };
}

class MappedReader implements RowReader {
  constructor(
    private readonly reader: CsvReader,
    private readonly mapper: RecordMapper,
  ) {}

  get bytesRead(): number {
    return this.reader.bytesRead;
  }

  async *records(batchSize: number): AsyncGenerator<CsvRecord[]> {
    for await (const records of this.reader.records(batchSize)) {
      yield records.map((record) => ({ ...record, cells: this.mapper.cells(record.cells) }));
    }
  }
}

/**
 * The columns of a header row. Names that begin with `_` are those of `failed.csv` and ignored.
 * @throws FileError for a password column, an unknown or a repeated column, and a missing ExternalId.
 */
export function readHeader(names: readonly string[], options: { ignore_unknown_columns: boolean }): Header {
  const header = names.map((name) => (name.trim().startsWith('_') ? undefined : toColumn(name, options)));
  for (const [index, column] of header.entries()) {
    if (!column || header.indexOf(column) === index) continue;
    const first = names[header.indexOf(column)] ?? '';
    throw new FileError(
      'duplicate_column',
      `The columns ${quoted(first)} and ${quoted(names[index] ?? '')} both mean ${column.name}; remove one of them.`,
      1,
    );
  }
  if (!header.some((column) => column?.field === 'external_id')) {
    throw new FileError(
      'missing_column',
      'The header has no column ExternalId, by which rows are matched to users.',
      1,
    );
  }
  return header;
}

function toColumn(name: string, options: { ignore_unknown_columns: boolean }): Column | undefined {
  if (PASSWORDS.has(headerKey(name))) {
    throw new FileError(
      'password_column',
      `Imports set no passwords; remove the column ${quoted(name)} from the file.`,
      1,
    );
  }
  const column = columnOf(name);
  if (!column && !options.ignore_unknown_columns) {
    throw new FileError(
      'unknown_column',
      `The column ${quoted(name)} is not known; correct its name, or import with ignore_unknown_columns=true.`,
      1,
    );
  }
  return column;
}
