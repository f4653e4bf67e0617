import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { toLocalDay } from '../../platform/common/time.js';
import type { ImportRun } from '../runs/import-run.js';
import { type Column, findColumn, toHeaderKey, findNearestColumn } from './columns.js';
import { findLineColumn } from './failed-file.js';
import { FileError, type FileErrorDetails } from './file-error.js';
import { ImportFilesRepository } from './import-files.repository.js';
import type { CsvRecord } from './record-parser.js';
import { CsvReader } from './csv-reader.js';
import type { ImportProfile, NamedProfile } from '../runs/import-profile.js';
import { UnlistedWords } from '../mapping/unlisted-words.js';
import { type HeaderOptions, RecordMapper, createColumnTest, quote } from '../mapping/record-mapper.js';

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

type StoredRun = Pick<ImportRun, 'id' | 'options' | 'profile' | 'file_size' | 'created'>;

/** Access to the stored files of runs. A file can be opened several times. */
@Injectable()
export class RunFiles {
  constructor(
    private readonly files: ImportFilesRepository,
    private readonly env: Env,
  ) {}

  /**
   * Opens the file of a run and reads its header.
   * @throws FileError for an invalid header, or `file_lost` if the stored file is incomplete. A missing part may be
   * noticed only while rows are read.
   */
  async open({ id, options, profile, file_size: size, created }: StoredRun) {
    const reader = createCsvReader(this.readBytes(id, size), options, profile);
    const names = await reader.readHeader();
    const mapping = mapHeader(
      names,
      {
        ignore_unknown_columns: options.ignore_unknown_columns,
        today: toLocalDay(created, this.env.IMPORT_TIME_ZONE),
      },
      profile,
    );
    assertNoFaults(mapping.errors, reader.headerLine);
    async function* readRecords(batchSize: number): AsyncGenerator<CsvRecord[]> {
      for await (const records of reader.readRecords(batchSize)) yield records.map(mapping.mapRecord);
    }
    const lineColumn = findLineColumn(names);
    return {
      reader,
      /** Returns the line of a row in this file. For a `failed.csv`, returns the line in the file of its run. */
      lineOf: ({ line, cells, sourceCells = cells }: CsvRecord): number =>
        Number(sourceCells[lineColumn]) || line,
      readRecords,
      names,
      header: mapping.columns,
      uses: usesOf(names, mapping),
      words: mapping.words,
    };
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

/** Import columns of the source columns of a file, and the errors of its header. */
type HeaderMapping = Pick<
  RecordMapper,
  'targets' | 'inputs' | 'ignored' | 'errors' | 'words' | 'mapRecord'
> & {
  columns: Header;
};

/**
 * Finds the import column of each column name in a header. Ignores names that begin with `_`, which `failed.csv` adds.
 * If two columns mean the same import column, uses the first one.
 * @returns the mapping with all errors of the header: no ExternalId, and each password column, unknown column and
 * repeated column.
 */
export function mapHeader(
  names: readonly string[],
  options: HeaderOptions,
  profile: NamedProfile | null,
): HeaderMapping {
  if (profile) return new RecordMapper(profile, names, options);
  const known = names.map((name) => (isAdded(name) ? undefined : findColumn(name)));
  const columns = known.map((column, index) => (known.indexOf(column) === index ? column : undefined));
  return {
    columns,
    targets: new Map(columns.flatMap((column, index) => (column ? [[index, column] as const] : []))),
    inputs: new Set(),
    ignored: new Set(names.flatMap((name, index) => (isAdded(name) ? [index] : []))),
    errors: findHeaderErrors(names, known, options),
    words: new UnlistedWords(),
    mapRecord: (record) => record,
  };
}

const isAdded = (name: string): boolean => name.trim().startsWith('_');

const usesOf = (names: readonly string[], { targets, inputs, ignored }: HeaderMapping): SourceUse[] =>
  names.map((name, index) => {
    if ((targets.has(index) || inputs.has(index)) && !ignored.has(index)) return 'stored';
    return isAdded(name) ? 'added' : 'private';
  });

/** @throws FileError that lists all errors and has the code of the first one. */
function assertNoFaults(faults: readonly FileErrorDetails[], line: number): void {
  const [first, ...others] = faults.map((fault) => ({ ...fault, line }));
  if (first) throw new FileError(first.code, first.message, line, others);
}

function findHeaderErrors(
  names: readonly string[],
  header: Header,
  { ignore_unknown_columns: ignoresUnknown }: Pick<HeaderOptions, 'ignore_unknown_columns'>,
): FileErrorDetails[] {
  const faults: FileErrorDetails[] = [];
  if (!header.some((column) => column?.field === 'external_id')) {
    const message =
      'The header has no column ExternalId, which matches rows to users. Add this column, or use a profile that maps a column to it. In the drop folder, the pattern of the profile must match the file name.';
    faults.push({ code: 'missing_column', message });
  }
  for (const [index, name] of names.entries()) {
    const column = header[index];
    const first = header.indexOf(column);
    if (isAdded(name) || (column && first === index)) continue;
    if (column) {
      const both = `The columns ${quote(names[first] ?? '')} and ${quote(name)} both mean ${column.name}`;
      faults.push({ code: 'duplicate_column', message: `${both}. Remove one of them.` });
    } else if (PASSWORDS.has(toHeaderKey(name))) {
      const message = `Imports cannot set passwords. Remove the column ${quote(name)} from the file.`;
      faults.push({ code: 'password_column', message });
    } else if (!ignoresUnknown) {
      const nearest = findNearestColumn(name);
      const hint = nearest ? ` Did you mean ${nearest.name}?` : '';
      const message = `The column ${quote(name)} is unknown.${hint} Correct its name, map it in a profile, or ignore unknown columns (option ignore_unknown_columns).`;
      faults.push({ code: 'unknown_column', message });
    }
  }
  return faults.slice(0, MAX_HEADER_ERRORS);
}

/**
 * Creates a reader for a file with its options and profile.
 * @param lines numbers of lines to skip, instead of the numbers in the profile.
 */
export function createCsvReader(
  bytes: AsyncIterable<Uint8Array>,
  { encoding, delimiter }: Pick<ImportProfile, 'encoding' | 'delimiter'>,
  profile: NamedProfile | null,
  lines: Pick<ImportProfile, 'skip_lines' | 'skip_last_lines'> = profile ?? {},
): CsvReader {
  const { skip_lines: first = 0, skip_last_lines: last = 0 } = lines;
  return new CsvReader(bytes, {
    encoding,
    delimiter,
    isKnownColumn: profile ? createColumnTest(profile) : (name) => findColumn(name) !== undefined,
    ...((first > 0 || last > 0) && { skipped: { first, last } }),
  });
}
