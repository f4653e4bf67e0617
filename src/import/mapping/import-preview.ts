import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { Actor } from '../../access/actor.js';
import { now, toLocalDay } from '../../platform/common/time.js';
import { Env } from '../../platform/config/env.js';
import { isObject } from '../../platform/common/json.js';
import { truncate } from '../../platform/common/text.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import { toExactKey, toLoginKey } from '../../users/model/comparison-keys.js';
import { isBlank, isPasswordHeader, listFilled } from '../file/columns.js';
import { type CsvRecord, formatCellCount } from '../file/record-parser.js';
import type { FilePrefix } from '../file/file-store.js';
import { type FileRow, readRow } from '../file/file-row.js';
import { mapHeader } from '../file/run-files.js';
import { ManagerKeys } from '../plan/manager-keys.js';
import { RowUserLookup } from '../plan/row-user-lookup.js';
import { UniqueUsernames, hasUniqueUsernames } from '../plan/unique-usernames.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { planRow } from '../plan/row-rules.js';
import { getVisibility, hideInRow } from '../runs/visible-values.js';
import { userScopeOf } from '../runs/import-run.js';
import {
  type ImportPreviewDto,
  MAX_TEXT,
  PREVIEW_ROWS,
  type PreviewColumnDto,
  type PreviewProblemDto,
} from './import-preview.dto.js';
import { suggestColumns } from './column-suggestion.js';
import { readWithOffers, toFileProblem } from './preview-reading.js';
import { suggestProfile } from './profile-suggestion.js';
import { type TemplateSource, offerTemplates } from './template-offers.js';
import { countWords, hasWords } from './word-offers.js';
import { toPlainCell } from './record-mapper.js';
import { IGNORED, type ImportRequest } from '../runs/import-profile.js';

const MAX_LISTED = 32;

const MAX_SAMPLES = 3;

export type Preview = Omit<ImportPreviewDto, 'file' | 'profile'>;

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
    const headerOptions = {
      ignore_unknown_columns: options.ignore_unknown_columns,
      today: toLocalDay(now(), this.env.IMPORT_TIME_ZONE),
    };
    const { asked, shown, isHeaderAssumed, reading, offers } = await readWithOffers(
      head,
      requested,
      headerOptions,
    );
    // An assumed footer is only a suggestion, so its lines are read as rows and have problems.
    const records = (isHeaderAssumed ? shown : asked).records.slice(0, PREVIEW_ROWS);
    const names = shown.names ?? [];
    const mapping = mapHeader(names, headerOptions, profile);
    const { columns: header, targets, inputs, ignored, mapRecord } = mapping;
    const problems = [...asked.problems];
    // Show the rows even if the header has errors.
    if (asked.names || profile) {
      const { errors } = isHeaderAssumed ? mapHeader(asked.names ?? [], headerOptions, profile) : mapping;
      const line = asked.reader.headerLine;
      problems.push(...errors.map(({ code, message }) => toFileProblem(line, code, message)));
    }
    const hasValidWidth = ({ expectedCells }: CsvRecord): boolean => expectedCells === undefined;
    problems.push(...records.flatMap(findMismatchProblems));
    const managerKeys = ManagerKeys.create(profile);
    const rows = records.filter(hasValidWidth).map((record) => {
      const mapped = mapRecord(record);
      const row = readRow(mapped, header, options.blank_cells);
      managerKeys?.add(mapped.managerKey ?? '', row.externalId);
      return row;
    });
    const planned = await this.planRows(rows, requested, actor, managerKeys);
    problems.push(...planned.problems, ...findDuplicates(rows));
    const fit = shown.records.filter(hasValidWidth);
    const firstFit = fit.slice(0, PREVIEW_ROWS);
    const toPlain = (cell: string): string => (profile ? toPlainCell(profile, cell) : cell);
    const readCells = (index: number, from: readonly CsvRecord[]): string[] =>
      from.map((record) => toPlain(record.cells[index] ?? '').trim());
    const sources = names.map((name, index) => {
      const column = targets.get(index);
      const unmapped: PreviewColumnDto['use'] = inputs.has(index)
        ? 'template'
        : ignored.has(index)
          ? 'ignored'
          : 'unknown';
      const isHidden = ignored.has(index) || isPasswordHeader(name);
      return {
        source: toPlain(name),
        column: column?.name ?? null,
        use: column ? ('column' as const) : unmapped,
        cells: isHidden ? [] : readCells(index, firstFit),
      };
    });
    const filled = header.flatMap((column) => column?.name ?? []);
    const found = suggestColumns(
      sources.map(({ source: name, use, cells }) =>
        use === 'unknown' ? { name, cells } : { name: '', cells: [] },
      ),
      filled,
    );
    const columns = sources.map(({ cells, ...column }, index) => {
      const samples = listFilled(cells).slice(0, MAX_SAMPLES);
      const suggestion = found[index] ?? null;
      return { ...column, suggestion, samples: samples.map((cell) => truncate(cell, MAX_TEXT)) };
    });
    const readable = columns.flatMap(({ source: name, column, use, suggestion }, index): TemplateSource[] => {
      if (use === 'ignored' || suggestion === IGNORED || isBlank(name)) return [];
      return [{ name, target: column ?? suggestion ?? undefined, cells: sources[index]?.cells ?? [] }];
    });
    const templates = offerTemplates(readable, (column) => filled.includes(column) || found.includes(column));
    // Rare words often occur only after the previewed rows.
    const allRows = readable.filter(hasWords).map((source) => {
      const index = sources.findIndex(({ cells }) => cells === source.cells);
      return { ...source, cells: readCells(index, fit) };
    });
    const words = countWords(allRows, profile, this.settings.roles);
    const findings = { fileName: head.name, columns, sources: readable, templates, words, reading };
    return {
      encoding: shown.reader.detected.encoding ?? null,
      delimiter: shown.reader.detected.delimiter ?? null,
      columns,
      rows: planned.rows.slice(0, firstFit.length),
      problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
      ...offers,
      templates,
      words,
      suggested: shown.names ? suggestProfile(requested, findings, this.settings) : null,
    };
  }

  /** Plans each row against the current users, as if the other rows of the file did not exist. */
  private async planRows(
    rows: readonly FileRow[],
    { options, profile }: ImportRequest,
    actor: Actor,
    managerKeys: ManagerKeys | undefined,
  ): Promise<Pick<Preview, 'rows' | 'problems'>> {
    const found = await this.facts.find(rows, options.dataset, { managerKeys });
    const { users, deleted, managers, managerTexts } = found;
    const { allow_privileged: allowsPrivileged } = options;
    const initiator: Actor = { kind: 'import', id: '', initiator: actor, approver: null, allowsPrivileged };
    const scope = userScopeOf({ dataset: options.dataset, options });
    const visibility = getVisibility(actor, { starter: actor, reverts: null, bulk: null });
    const problems: PreviewProblemDto[] = [];
    const isUnique = hasUniqueUsernames(profile);
    const planned = rows.map((file) => {
      const { line, manager: named } = file;
      const key = toExactKey(file.externalId);
      const before = users.get(key);
      if (before && isUnique) file.raw['username'] = before.username;
      const manager = named && managers.get(managerTexts.get(named) ?? named)?.uuid;
      const user = { before, deleted: deleted.get(key), uuid: randomUUID(), manager };
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
