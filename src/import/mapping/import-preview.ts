import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { Caller } from '../../access/actor.js';
import { isObject } from '../../platform/common/json.js';
import { truncate } from '../../platform/common/text.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import { toExactKey, toLoginKey } from '../../users/model/comparison-keys.js';
import { type Column, columnOf } from '../file/columns.js';
import type { CsvReader } from '../file/csv-reader.js';
import { type CsvRecord, describeCells } from '../file/record-parser.js';
import { type FileHead, HeadEnd } from '../file/file-store.js';
import { type FileRow, readRow } from '../file/file-row.js';
import { type Header, readHeader, csvReader } from '../file/run-files.js';
import { RowUserLookup } from '../plan/row-user-lookup.js';
import { planRow } from '../plan/row-rules.js';
import { userScopeOf } from '../runs/import-run.js';
import {
  type ImportPreviewDto,
  PREVIEW_ROWS,
  type PreviewColumnDto,
  type PreviewProblemDto,
} from './import-preview.dto.js';
import { isCommonName, suggestions } from './column-suggestion.js';
import { RecordMapper, plainCell } from './record-mapper.js';
import type { ImportRequest } from '../runs/import-options.js';
import { FileError } from '../file/file-error.js';

/** Maximum number of characters of a text, and of values of a list, in a preview. */
const MAX_SHOWN = 255;
const MAX_LISTED = 32;

/** A preview without the name and the profile of its file. */
export type Preview = Omit<ImportPreviewDto, 'file' | 'profile'>;

const ENDLESS_HEADER =
  'The header does not end within the first MiB of the file. Check the delimiter, the quotes and the line ends.';

/** Mapping of the columns of a file. */
interface Columns {
  header: Header;
  cells: (record: CsvRecord) => CsvRecord;
  use: (index: number) => Pick<PreviewColumnDto, 'column' | 'use'>;
}

/** Preview of the first rows of a file. It reports all their errors at once and creates no run. */
@Injectable()
export class ImportPreview {
  constructor(
    private readonly facts: RowUserLookup,
    private readonly settings: UserSettings,
  ) {}

  async of(head: FileHead, requested: ImportRequest, caller: Caller): Promise<Preview> {
    const { options, profile } = requested;
    const problems: PreviewProblemDto[] = [];
    const { reader, names: read } = await opened(head, requested, problems);
    if (!read && problems.length === 0) problems.push(refusal(1, 'row_too_long', ENDLESS_HEADER));
    const names = read ?? [];
    const { header, cells, use } = columnsOf(names, requested, reader.headerLine, problems);
    const records = read ? await firstRecords(reader, problems) : [];
    const fit = records.filter(({ misfit }) => misfit === undefined);
    problems.push(...records.flatMap(misfitOf));
    const rows = fit.map((record) => readRow(cells(record), header, options.blank_cells));
    const plain = (cell: string): string => (profile ? plainCell(profile, cell) : cell);
    const columns = names.map((name, index) => ({ source: plain(name), ...use(index) }));
    const found = suggestions(
      columns.map(({ source, use }, index) =>
        use === 'unknown'
          ? { name: source, cells: fit.map((record) => plain(record.cells[index] ?? '')) }
          : { name: '', cells: [] },
      ),
      header.flatMap((column) => column?.name ?? []),
    );
    const planned = await this.planRows(rows, requested, caller);
    problems.push(...planned.problems, ...repeated(rows));
    return {
      encoding: reader.found.encoding ?? null,
      delimiter: reader.found.delimiter ?? null,
      guard_limits: profile?.guards ?? null,
      columns: columns.map((column, index) => ({ ...column, suggestion: found[index] ?? null })),
      rows: planned.rows,
      problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    };
  }

  /** Plans each row alone against the current users. */
  private async planRows(
    rows: readonly FileRow[],
    { options }: ImportRequest,
    caller: Caller,
  ): Promise<Pick<Preview, 'rows' | 'problems'>> {
    const { users, managers } = await this.facts.find(rows);
    const initiator = { kind: 'import', id: randomUUID(), initiator: caller.actor, approver: null } as const;
    const scope = userScopeOf({ dataset: options.dataset, options });
    const problems: PreviewProblemDto[] = [];
    const planned = rows.map((file) => {
      const { line, manager: named } = file;
      const before = users.get(toExactKey(file.externalId));
      const manager = named && managers.get(named)?.uuid;
      const user = { before, uuid: randomUUID(), manager };
      const { row } = planRow(file, { options, scope, settings: this.settings, initiator, ...user });
      problems.push(...row.errors.map((error) => ({ line, ...error, refuses: false })));
      const fields = shown({ ...file.raw, ...(named !== undefined && { manager: named }) });
      return { line, outcome: row.outcome, fields: isObject(fields) ? fields : {} };
    });
    return { rows: planned, problems };
  }
}

/** Truncates a value for the preview, because a file may contain values that are too long for any field. */
function shown(value: unknown): unknown {
  if (typeof value === 'string') return truncate(value, MAX_SHOWN);
  if (Array.isArray(value)) return value.slice(0, MAX_LISTED).map(shown);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shown(member)]))
    : value;
}

/**
 * Opens a file and reads its header. If no import column reveals the delimiter, tries the common names in exports of other
 * systems.
 */
async function opened(
  head: FileHead,
  { options, profile }: ImportRequest,
  problems: PreviewProblemDto[],
): Promise<{ reader: CsvReader; names: string[] | undefined }> {
  const reader = csvReader(head.read(), options, profile);
  const names = await reading(problems, () => reader.header());
  const [only] = names ?? [];
  if (profile || names?.length !== 1 || only === undefined || isCommonName(only)) return { reader, names };
  const wider = csvReader(head.read(), options, null, isCommonName);
  return { reader: wider, names: await reading(problems, () => wider.header()) };
}

/** Calls `read` and returns its result. After an error of the file, adds the error to `problems` and returns undefined. */
async function reading<T>(problems: PreviewProblemDto[], read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HeadEnd) return undefined;
    problems.push(...faultsOf(error));
    return undefined;
  }
}

async function firstRecords(reader: CsvReader, problems: PreviewProblemDto[]): Promise<CsvRecord[]> {
  const records: CsvRecord[] = [];
  await reading(problems, async () => {
    for await (const some of reader.records(1)) {
      records.push(...some);
      if (records.length >= PREVIEW_ROWS) break;
    }
  });
  return records;
}

function columnsOf(
  names: readonly string[],
  { options, profile }: ImportRequest,
  line: number,
  problems: PreviewProblemDto[],
): Columns {
  const asUsed = (column: Column | undefined, listed: boolean): Pick<PreviewColumnDto, 'column' | 'use'> => ({
    column: column?.name ?? null,
    use: column ? 'column' : listed ? 'ignored' : 'unknown',
  });
  if (profile) {
    const mapper = new RecordMapper(profile, names, options);
    problems.push(...mapper.faults.map(({ code, message }) => refusal(line, code, message)));
    return {
      header: mapper.columns,
      cells: (record) => ({ ...record, cells: mapper.cells(record.cells) }),
      use: (index) =>
        mapper.read.has(index) && !mapper.filledBy.has(index)
          ? { column: null, use: 'template' }
          : asUsed(mapper.filledBy.get(index), mapper.ignored.has(index)),
    };
  }
  try {
    if (names.length > 0) readHeader(names, options, line);
  } catch (error) {
    problems.push(...faultsOf(error));
  }
  // Show the rows despite the errors. Of repeated columns, the first one counts.
  const known = names.map((name) => (name.trim().startsWith('_') ? undefined : columnOf(name)));
  const header = known.map((column, index) => (known.indexOf(column) === index ? column : undefined));
  return {
    header,
    cells: (record) => record,
    use: (index) => asUsed(header[index], (names[index] ?? '').trim().startsWith('_')),
  };
}

const refusal = (line: number | null, code: string, message: string): PreviewProblemDto => ({
  line,
  field: '',
  code,
  message,
  refuses: true,
});

/** Returns the problems that an error of the file reports. @throws the error itself if it is not a FileError. */
function faultsOf(error: unknown): PreviewProblemDto[] {
  if (!(error instanceof FileError)) throw error;
  return [error, ...error.others].map(({ code, message, line = null }) => refusal(line, code, message));
}

/** Returns the problem of a mismatched record. */
function misfitOf(record: CsvRecord): PreviewProblemDto[] {
  const { line, misfit } = record;
  if (misfit === undefined) return [];
  const message = `has ${describeCells(record)}, but the header has ${misfit}`;
  return [{ line, field: '', code: 'wrong_cell_count', message, refuses: false }];
}

/** Finds unique values that occur in several rows. Reports them for the later rows. */
function repeated(rows: readonly FileRow[]): PreviewProblemDto[] {
  const problems: PreviewProblemDto[] = [];
  const look = (field: string, keyOf: (row: FileRow) => string): void => {
    const lines = new Map<string, number>();
    for (const row of rows) {
      const key = keyOf(row);
      if (key === '') continue;
      const first = lines.get(key);
      if (first === undefined) lines.set(key, row.line);
      else {
        const message = `is also used on line ${first}`;
        problems.push({ line: row.line, field, code: 'duplicate', message, refuses: false });
      }
    }
  };
  const text = (row: FileRow, field: string): string => {
    const value = row.raw[field];
    return typeof value === 'string' ? toLoginKey(value) : '';
  };
  look('external_id', ({ externalId }) => toExactKey(externalId));
  look('username', (row) => text(row, 'username'));
  look('email', (row) => text(row, 'email'));
  return problems;
}
