import { columnOf } from '../file/columns.js';
import { type CsvRecord, CsvReader } from '../file/csv-reader.js';
import { FileError, type FileFault } from '../file/file-error.js';
import type { ImportOptions } from '../runs/import-options.js';
import type { NamedProfile } from '../runs/import-profile.js';
import { MAX_COLUMNS } from './profile.input.js';
import { type RecordMapper, readsColumn, recordMapper } from './record-mapper.js';

/** The rows of a file, in cells of our header. */
export interface RowReader {
  /** Bytes of the file that have been read. */
  readonly bytesRead: number;
  /** Whether the text that was read so far ends with a line end. */
  readonly lineEnded: boolean;
  records(batchSize: number): AsyncGenerator<CsvRecord[]>;
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

/** @throws FileError with all that is wrong with the header. */
export function mapperOf(
  reader: CsvReader,
  names: readonly string[],
  { profile, options }: { profile: NamedProfile; options: ImportOptions },
): RecordMapper {
  const mapper = recordMapper(profile, names, options);
  const faults: FileFault[] = [...tooMany(names), ...mapper.faults];
  const [first, ...others] = faults.map((fault) => ({ ...fault, line: reader.headerLine }));
  if (first) throw FileError.ofAll([first, ...others]);
  return mapper;
}

function tooMany({ length }: readonly string[]): FileFault[] {
  if (length <= MAX_COLUMNS) return [];
  const message = `The header has ${length} columns, but may have at most ${MAX_COLUMNS}; remove the others.`;
  return [{ code: 'too_many_columns', message }];
}

/** The rows of a file with the cells that its profile makes of them. */
export class MappedReader implements RowReader {
  constructor(
    private readonly reader: CsvReader,
    private readonly mapper: RecordMapper,
  ) {}

  get bytesRead(): number {
    return this.reader.bytesRead;
  }

  get lineEnded(): boolean {
    return this.reader.lineEnded;
  }

  async *records(batchSize: number): AsyncGenerator<CsvRecord[]> {
    for await (const records of this.reader.records(batchSize)) {
      yield records.map((record) => mappedRecord(this.mapper, record));
    }
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
