import { TimeSlice } from '../../platform/common/time-slice.js';
import type { CsvReader } from '../file/csv-reader.js';
import { decodeHead, offerEncodings } from '../file/encoding-offers.js';
import { FileError } from '../file/file-error.js';
import { type FilePrefix, PrefixEndError } from '../file/file-store.js';
import type { CsvRecord } from '../file/record-parser.js';
import { createCsvReader, mapHeader } from '../file/run-files.js';
import { findTable } from '../file/table-lines.js';
import type { ImportProfile, ImportRequest } from '../runs/import-profile.js';
import { isCommonColumnName } from './column-suggestion.js';
import type { PreviewProblemDto } from './import-preview.dto.js';
import { type HeaderOptions, createColumnTest } from './record-mapper.js';

const HEADER_TOO_LONG =
  'The header does not end within the first MiB of the file. Check the delimiter, the quotes and the line endings.';

/** Maximum number of rows that a preview reads. */
const MAX_ROWS = 20_000;

/** Options and profile members that turn the bytes of a file into records. */
type Reading = Pick<ImportProfile, 'encoding' | 'delimiter' | 'skip_lines' | 'skip_last_lines'>;

/** At most MAX_ROWS records in the first MiB of a file, and the errors that were found while the records were read. */
interface FirstRecords {
  reader: CsvReader;
  /** Column names, or undefined if the header cannot be read. */
  names: string[] | undefined;
  records: CsvRecord[];
  problems: PreviewProblemDto[];
}

/**
 * Reads the start of a file as an import would (`asked`), and with the encoding, the delimiter and the skipped lines that
 * fit its content best (`shown`).
 */
export async function readWithOffers(
  head: FilePrefix,
  requested: ImportRequest,
  headerOptions: HeaderOptions,
) {
  const { options, profile } = requested;
  const { skip_lines: first = 0, skip_last_lines: last = 0 } = profile ?? {};
  const asked = await readFirstRecords(head, requested);
  const encodings = await offerEncodings(head);
  const { fault } = await decodeHead(head, options.encoding);
  if (fault && !asked.problems.some(({ code }) => code === fault.code))
    asked.problems.push(...toProblems(fault));
  const encoding = fault ? (encodings[0]?.encoding ?? options.encoding) : options.encoding;

  const { names, reader } = asked;
  const isListed = profile ? createColumnTest(profile) : () => false;
  const isKnown = (name: string): boolean => isListed(name) || isCommonColumnName(name);
  const { text } = await decodeHead(head, encoding);
  const table = findTable(text, head.isWhole, isKnown, options.delimiter);
  const isMapped =
    profile !== null && names !== undefined && mapHeader(names, headerOptions, profile).errors.length === 0;
  const skipLines = table && table.skipped.first !== first && !isMapped ? table.skipped.first : null;
  const skipLast = table && table.skipped.last > last ? table.skipped.last : null;
  const isUnknown = names !== undefined && !names.some(isKnown);
  const isHeaderAssumed = encoding !== options.encoding || skipLines !== null;
  const detected = reader.detected.delimiter;
  const delimiter = table && (isHeaderAssumed || isUnknown) ? table.delimiter : detected;

  const reading: Reading = {
    ...(encoding !== undefined && { encoding }),
    ...(delimiter !== undefined && { delimiter }),
    ...((skipLines ?? first) > 0 && { skip_lines: skipLines ?? first }),
    ...((skipLast ?? last) > 0 && { skip_last_lines: skipLast ?? last }),
  };
  const isAsked = !isHeaderAssumed && skipLast === null && delimiter === detected;
  const shown = isAsked ? asked : await readFirstRecords(head, requested, reading);
  return {
    // Only the assumed delimiter shows the columns and their problems.
    asked: delimiter === detected || isHeaderAssumed ? asked : shown,
    shown,
    isHeaderAssumed,
    reading,
    offers: { encodings, skip_lines: skipLines, skip_last_lines: skipLast },
  };
}

async function readFirstRecords(
  head: FilePrefix,
  { options, profile }: ImportRequest,
  reading?: Reading,
): Promise<FirstRecords> {
  const problems: PreviewProblemDto[] = [];
  const reader = createCsvReader(head.read(), reading ?? options, profile, reading);
  const names = await tryRead(problems, () => reader.readHeader());
  if (!names && problems.length === 0) problems.push(toFileProblem(1, 'row_too_long', HEADER_TOO_LONG));
  const records: CsvRecord[] = [];
  if (names)
    await tryRead(problems, async () => {
      const slice = new TimeSlice();
      for await (const some of reader.readRecords(1)) {
        records.push(...some);
        if (records.length >= MAX_ROWS) break;
        if (slice.isOver) await slice.startNext();
      }
    });
  return { reader, names, records, problems };
}

async function tryRead<T>(problems: PreviewProblemDto[], read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PrefixEndError) return undefined;
    if (!(error instanceof FileError)) throw error;
    problems.push(...toProblems(error));
    return undefined;
  }
}

const toProblems = (error: FileError): PreviewProblemDto[] =>
  [error, ...error.others].map(({ code, message, line = null }) => toFileProblem(line, code, message));

export function toFileProblem(line: number | null, code: string, message: string): PreviewProblemDto {
  return { line, field: '', code, message, refuses: true };
}
