import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { Actor } from '../../access/actor.js';
import { now, toLocalDay } from '../../platform/common/time.js';
import { Env } from '../../platform/config/env.js';
import { isObject } from '../../platform/common/json.js';
import { truncate } from '../../platform/common/text.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import { toExactKey, toLoginKey } from '../../users/model/comparison-keys.js';
import type { CsvReader } from '../file/csv-reader.js';
import { type CsvRecord, formatCellCount } from '../file/record-parser.js';
import { type FilePrefix, PrefixEndError } from '../file/file-store.js';
import { type FileRow, readRow } from '../file/file-row.js';
import { createCsvReader, mapHeader } from '../file/run-files.js';
import { ManagerKeys } from '../plan/manager-keys.js';
import { RowUserLookup } from '../plan/row-user-lookup.js';
import { UniqueUsernames, hasUniqueUsernames } from '../plan/unique-usernames.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { planRow } from '../plan/row-rules.js';
import { getVisibility, hideInRow } from '../runs/visible-values.js';
import { userScopeOf } from '../runs/import-run.js';
import {
  type ImportPreviewDto,
  PREVIEW_ROWS,
  type PreviewColumnDto,
  type PreviewProblemDto,
} from './import-preview.dto.js';
import { isCommonColumnName, suggestColumns } from './column-suggestion.js';
import { toPlainCell } from './record-mapper.js';
import type { ImportRequest } from '../runs/import-options.js';
import { FileError } from '../file/file-error.js';

const MAX_TEXT = 255;
const MAX_LISTED = 32;

export type Preview = Omit<ImportPreviewDto, 'file' | 'profile'>;

const HEADER_TOO_LONG =
  'The header does not end within the first MiB of the file. Check the delimiter, the quotes and the line endings.';

/** Previews the first rows of a file. Reports all errors at once and creates no run. */
@Injectable()
export class ImportPreview {
  constructor(
    private readonly facts: RowUserLookup,
    private readonly directory: UserDirectory,
    private readonly env: Env,
    private readonly settings: UserSettings,
  ) {}

  async build(head: FilePrefix, requested: ImportRequest, actor: Actor): Promise<Preview> {
    const { options, profile } = requested;
    const problems: PreviewProblemDto[] = [];
    const { reader, names: read } = await openWithHeader(head, requested, problems);
    if (!read && problems.length === 0) problems.push(toFileProblem(1, 'row_too_long', HEADER_TOO_LONG));
    const names = read ?? [];
    const {
      columns: header,
      targets,
      inputs,
      ignored,
      errors,
      mapRecord,
    } = mapHeader(
      names,
      {
        ignore_unknown_columns: options.ignore_unknown_columns,
        today: toLocalDay(now(), this.env.IMPORT_TIME_ZONE),
      },
      profile,
    );
    // Show the rows even if the header has errors.
    if (read || profile)
      problems.push(...errors.map(({ code, message }) => toFileProblem(reader.headerLine, code, message)));
    const records = read ? await readFirstRecords(reader, problems) : [];
    const fit = records.filter(({ expectedCells }) => expectedCells === undefined);
    problems.push(...records.flatMap(findMismatchProblems));
    const managerKeys = ManagerKeys.create(profile);
    const rows = fit.map((record) => {
      const mapped = mapRecord(record);
      const row = readRow(mapped, header, options.blank_cells);
      managerKeys?.add(mapped.managerKey ?? '', row.externalId);
      return row;
    });
    const toPlain = (cell: string): string => (profile ? toPlainCell(profile, cell) : cell);
    const columns = names.map((name, index): Omit<PreviewColumnDto, 'suggestion'> => {
      const column = targets.get(index);
      const unmapped = inputs.has(index) ? 'template' : ignored.has(index) ? 'ignored' : 'unknown';
      return { source: toPlain(name), column: column?.name ?? null, use: column ? 'column' : unmapped };
    });
    const found = suggestColumns(
      columns.map(({ source, use }, index) =>
        use === 'unknown'
          ? { name: source, cells: fit.map((record) => toPlain(record.cells[index] ?? '')) }
          : { name: '', cells: [] },
      ),
      header.flatMap((column) => column?.name ?? []),
    );
    const planned = await this.planRows(rows, requested, actor, managerKeys);
    problems.push(...planned.problems, ...findDuplicates(rows));
    return {
      encoding: reader.detected.encoding ?? null,
      delimiter: reader.detected.delimiter ?? null,
      guard_limits: profile?.guards ?? null,
      columns: columns.map((column, index) => ({ ...column, suggestion: found[index] ?? null })),
      rows: planned.rows,
      problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    };
  }

  /** Plans each row against the current users, as if the other rows of the file did not exist. */
  private async planRows(
    rows: readonly FileRow[],
    { options, profile }: ImportRequest,
    actor: Actor,
    managerKeys: ManagerKeys | undefined,
  ): Promise<Pick<Preview, 'rows' | 'problems'>> {
    const { users, managers, managerTexts } = await this.facts.find(rows, { managerKeys });
    const { allow_privileged: allowsPrivileged } = options;
    const initiator: Actor = { kind: 'import', id: '', initiator: actor, approver: null, allowsPrivileged };
    const scope = userScopeOf({ dataset: options.dataset, options });
    const visibility = getVisibility(actor, { starter: actor, reverts: null });
    const problems: PreviewProblemDto[] = [];
    const isUnique = hasUniqueUsernames(profile);
    const planned = rows.map((file) => {
      const { line, manager: named } = file;
      const before = users.get(toExactKey(file.externalId));
      if (before && isUnique) file.raw['username'] = before.username;
      const manager = named && managers.get(managerTexts.get(named) ?? named)?.uuid;
      const user = { before, uuid: randomUUID(), manager };
      const { row } = planRow(file, { options, scope, settings: this.settings, initiator, ...user });
      const { errors } = hideInRow(row, visibility);
      problems.push(...errors.map((error) => ({ line, ...error, refuses: false })));
      return { file, outcome: row.outcome };
    });
    if (isUnique) await this.nameNewUsers(planned);
    const shown = planned.map(({ file: { line, raw, manager: named }, outcome }) => {
      const fields = truncateValue({ ...raw, ...(named !== undefined && { manager: named }) });
      return { line, outcome, fields: isObject(fields) ? fields : {} };
    });
    return { rows: shown, problems };
  }

  /** Sets the usernames of new users as a plan of these rows would. */
  private async nameNewUsers(planned: readonly { file: FileRow; outcome: string }[]): Promise<void> {
    const created = planned.flatMap(({ file, outcome }) => (outcome === 'created' ? file : []));
    const names = new UniqueUsernames(this.directory, () => false);
    const rows = created.map(({ line, externalId, raw }) => ({
      line,
      externalId,
      username: String(raw['username']),
    }));
    const chosen = await names.choose(rows);
    for (const { line, raw } of created) raw['username'] = chosen.get(line) ?? raw['username'];
  }
}

function truncateValue(value: unknown): unknown {
  if (typeof value === 'string') return truncate(value, MAX_TEXT);
  if (Array.isArray(value)) return value.slice(0, MAX_LISTED).map(truncateValue);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, truncateValue(member)]))
    : value;
}

/**
 * Opens a file and reads its header. If the header seems to consist of one unknown column, detects the delimiter again
 * with column names of other systems.
 */
async function openWithHeader(
  head: FilePrefix,
  { options, profile }: ImportRequest,
  problems: PreviewProblemDto[],
): Promise<{ reader: CsvReader; names: string[] | undefined }> {
  const reader = createCsvReader(head.read(), options, profile);
  const names = await tryRead(problems, () => reader.readHeader());
  const [only] = names ?? [];
  if (profile || names?.length !== 1 || only === undefined || isCommonColumnName(only))
    return { reader, names };
  const wider = createCsvReader(head.read(), options, null, isCommonColumnName);
  return { reader: wider, names: await tryRead(problems, () => wider.readHeader()) };
}

async function tryRead<T>(problems: PreviewProblemDto[], read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PrefixEndError) return undefined;
    if (!(error instanceof FileError)) throw error;
    for (const { code, message, line = null } of [error, ...error.others])
      problems.push(toFileProblem(line, code, message));
    return undefined;
  }
}

async function readFirstRecords(reader: CsvReader, problems: PreviewProblemDto[]): Promise<CsvRecord[]> {
  const records: CsvRecord[] = [];
  await tryRead(problems, async () => {
    for await (const some of reader.readRecords(1)) {
      records.push(...some);
      if (records.length >= PREVIEW_ROWS) break;
    }
  });
  return records;
}

function toFileProblem(line: number | null, code: string, message: string): PreviewProblemDto {
  return { line, field: '', code, message, refuses: true };
}

function findMismatchProblems(record: CsvRecord): PreviewProblemDto[] {
  const { line, expectedCells } = record;
  if (expectedCells === undefined) return [];
  const message = `has ${formatCellCount(record)}, but the header has ${expectedCells}`;
  return [{ line, field: '', code: 'wrong_cell_count', message, refuses: false }];
}

/**
 * Finds values that must be unique but occur in several rows. Reports each row that repeats a value of an earlier row.
 */
function findDuplicates(rows: readonly FileRow[]): PreviewProblemDto[] {
  const findRepeated = (field: string, keyOf: (row: FileRow) => string): PreviewProblemDto[] => {
    const groups = Map.groupBy(rows, keyOf);
    groups.delete('');
    return [...groups.values()].flatMap(([first, ...others]) => {
      const message = `is also used on line ${first?.line ?? ''}`;
      return others.map(({ line }) => ({ line, field, code: 'duplicate', message, refuses: false }));
    });
  };
  const loginKeyOf = (row: FileRow, field: string): string => {
    const value = row.raw[field];
    return typeof value === 'string' ? toLoginKey(value) : '';
  };
  return [
    ...findRepeated('external_id', ({ externalId }) => toExactKey(externalId)),
    ...findRepeated('username', (row) => loginKeyOf(row, 'username')),
    ...findRepeated('email', (row) => loginKeyOf(row, 'email')),
  ];
}
