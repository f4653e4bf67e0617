import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { NO_CHANGES } from '../../platform/common/field-changes.js';
import { unescapeFormula } from '../../platform/common/csv.js';
import { truncate } from '../../platform/common/text.js';
import { toMillis } from '../../platform/common/time.js';
import { isAssignedTo } from '../../users/search/user-scope.js';
import { toExactKey } from '../../users/model/comparison-keys.js';
import type { User } from '../../users/model/user.js';
import { UserSettings } from '../../users/rules/user-settings.js';
import { type CsvRecord, formatCellCount } from '../file/record-parser.js';
import { FileError } from '../file/file-error.js';
import { type RowKeys, readKeys, readRow } from '../file/file-row.js';
import { type Header, RunFiles } from '../file/run-files.js';
import { type ImportRun, callerOf, userScopeOf } from '../runs/import-run.js';
import { type FileFacts, type RowUsers, RowUserLookup } from './row-user-lookup.js';
import { MatchedUsers } from '../guards/matched-users.js';
import type { Past } from '../guards/plan.js';
import { hasUniqueUsernames } from './unique-usernames.js';
import { createUuidGenerator } from './external-ids.js';
import { ROWS_AT_ONCE, type PlanBuilder } from './plan-builder.js';
import { createUnwrittenRow } from './user-rows.js';
import {
  type PlannedRow,
  type RowContext,
  canManage,
  isBlockedAsMissing,
  isUnchangedRow,
  planRow,
  createUnchangedRow,
} from './row-rules.js';

const NO_LAST_LINE_END =
  'The last line has no line ending, but in the last import of this data set it had one. The file was probably cut short. ' +
  'Export it again. If the file is complete, add a line ending to its last line.';

/** Number of rows after which the planner lets the event loop send the next statement. */
const ROWS_PER_TICK = 10;

interface PlanState extends Pick<RowContext, 'options' | 'scope' | 'settings' | 'initiator'> {
  header: Header;
  facts: FileFacts;
  /** Returns true if an operator confirmed that the conflicting user of a row is the same person (`adopt_rows`). */
  isConfirmed: (record: CsvRecord) => boolean;
  builder: PlanBuilder;
  toUuid: (number: number) => string;
  /** Index of the column Username if existing users keep their usernames, or -1. */
  keptUsername: number;
}

interface Chunk {
  rows: readonly { record: CsvRecord; keys: RowKeys }[];
  users: Promise<RowUsers>;
  /** Number of bytes of the file that were read so far. */
  bytes: number;
}

type ChunkRow = Chunk['rows'][number];

/** Plans the rows of a file by comparing them with the current users. Does not change users. */
@Injectable()
export class FilePlanner {
  constructor(
    private readonly files: RunFiles,
    private readonly userLookup: RowUserLookup,
    private readonly settings: UserSettings,
  ) {}

  /**
   * Plans the rows of a file.
   * @param lastRun last completed run of the data set, to detect a truncated file.
   * @returns the facts for the guards, and true in `lineEnded` if the last line of the file has a line ending.
   * @throws FileError if the whole file is rejected.
   */
  async plan(run: ImportRun, builder: PlanBuilder, lastRun: Past['last']) {
    const { options } = run;
    const { adopt, adopt_rows: adoptRows, expected_rows: expected } = options;
    const passes = adopt === 'none' && !adoptRows && run.profile?.manager_key === undefined ? 1 : 2;
    const toShare = (pass: number, bytes: number) => (pass - 1 + bytes / Math.max(1, run.file_size)) / passes;
    const report = (bytes: number) => builder.stageRows([], toShare(1, bytes));
    const facts = await this.userLookup.readAhead(run, report);
    const file = await this.files.open(run);
    const { reader, header } = file;
    const confirmed = new Set(adoptRows);
    const isConfirmed = (record: CsvRecord): boolean => confirmed.has(file.lineOf(record));
    const toUuid = createUuidGenerator({ id: run.id, created: toMillis(run.created) });
    const scope = userScopeOf(run);
    const keptUsername = hasUniqueUsernames(run.profile)
      ? header.findIndex((column) => column?.field === 'username')
      : -1;
    const context = { options, scope, settings: this.settings, initiator: callerOf(run).actor, header };
    const planning = { ...context, facts, isConfirmed, builder, toUuid, keptUsername };
    const users = new MatchedUsers(header, scope, run.created);
    const hasManagers = header.some((column) => column?.kind === 'manager');
    const stage = async (planned: readonly PlannedRow[], bytes: number): Promise<void> => {
      await builder.addConstraints(planned, hasManagers);
      const newlyManaged = planned
        .filter(({ before }) => before && canManage(scope, before) && !isAssignedTo(scope, before))
        .map(({ row }) => row.line);
      await builder.add(planned, new Set(newlyManaged), toShare(passes, bytes));
    };
    let staging = Promise.resolve();
    const addChunk = async (chunk: Chunk): Promise<void> => {
      const planned = await this.planRows(chunk, planning);
      for (const row of planned) users.add(row);
      await staging;
      // Stage these rows while the next rows are planned.
      staging = stage(planned, chunk.bytes);
      // Prevent an unhandled rejection. The error is thrown later, where `staging` is awaited.
      staging.catch(() => undefined);
    };
    let previous: Chunk | undefined;
    try {
      for await (const records of file.readRecords(ROWS_AT_ONCE)) {
        // Look up these users while the previous rows are planned.
        const chunk = this.lookUpUsers(records, reader.bytesRead, planning);
        // Let the event loop send the query.
        await setImmediate();
        if (previous) await addChunk(previous);
        previous = chunk;
      }
      if (previous) await addChunk(previous);
    } finally {
      await staging;
    }
    if (!reader.endsWithLineEnd && lastRun?.line_ended) throw new FileError('cut_short', NO_LAST_LINE_END);
    const { rows } = builder.tally;
    if (expected !== undefined && rows !== expected) {
      const message = `The file has ${rows} rows, but ${expected} were expected (option expected_rows). Check that the file is complete, or correct this number.`;
      throw new FileError('unexpected_rows', message);
    }
    return { lineEnded: reader.endsWithLineEnd, users, words: file.words };
  }

  private lookUpUsers(
    records: readonly CsvRecord[],
    bytes: number,
    { options: { blank_cells: blankCells }, header, facts, scope }: PlanState,
  ): Chunk {
    const rows = records.map((record) => ({ record, keys: readKeys(record, header, blankCells) }));
    const keysOfRows = rows.map(({ keys }) => keys);
    const users = this.userLookup.find(keysOfRows, scope.dataset, facts);
    // Prevent an unhandled rejection. `planRows` awaits this promise later and throws its error.
    users.catch(() => undefined);
    return { rows, users, bytes };
  }

  private async planRows(chunk: Chunk, planning: PlanState): Promise<PlannedRow[]> {
    const users = await chunk.users;
    const planned: PlannedRow[] = [];
    for (let at = 0; at < chunk.rows.length; at += ROWS_PER_TICK) {
      const rows = chunk.rows.slice(at, at + ROWS_PER_TICK);
      planned.push(...rows.map((row) => this.planRow(row, users, planning)));
      await setImmediate();
    }
    return planned;
  }

  private planRow(
    row: ChunkRow,
    { users, deleted, managers, managerTexts }: RowUsers,
    planning: PlanState,
  ): PlannedRow {
    const { record, keys } = row;
    if (record.expectedCells !== undefined) return planUnreadableRow(record, record.expectedCells, planning);
    const { options, scope, header, builder } = planning;
    const key = toExactKey(keys.externalId);
    const before = users.get(key);
    const isRepeated = key !== '' && !builder.externalIds.add(keys.line, key, record.cells);
    if (before && planning.keptUsername >= 0) record.cells[planning.keptUsername] = '';
    if (before && !isRepeated) builder.tally.countListed(before, scope);
    const managerText = keys.manager && (managerTexts.get(keys.manager) ?? keys.manager);
    const namedManager = managerText ? managers.get(managerText) : undefined;
    const manager = managerText && (namedManager?.uuid ?? createUuid(managerText, planning));
    const isTakenOver =
      before &&
      key === toExactKey(before.external_id) &&
      planning.facts.adopted?.confirmed.has(before.uuid) === true;
    const isUsual =
      before &&
      !isRepeated &&
      !isTakenOver &&
      !record.damaged &&
      options.mode !== 'create_only' &&
      (before.status === 'Active' || !needsStatusRules(record.cells, planning, before));
    if (isUsual && isUnchangedRow(record.cells, header, before, manager, options.blank_cells))
      return createUnchangedRow(keys, before);
    const uuid = before?.uuid ?? createUuid(key, planning);
    const fileRow = readRow(record, header, options.blank_cells);
    const isConfirmed = planning.isConfirmed(record);
    const user = { before, deleted: deleted.get(key), uuid, manager };
    const planned = planRow(fileRow, { ...planning, ...user, isConfirmed, isTakenOver });
    const setsManager = planned.row.version === 0 || hasManagerChange(planned);
    if (managerText && (!namedManager || namedManager.isAdopted) && planned.after && setsManager)
      planned.row.manager = truncate(managerText, 255);
    // A row with a repeated ExternalId may still fail, so its user must not count as missing.
    if (isRepeated || planned.row.outcome === 'error') recordFailedRowNames(record.cells, planning);
    if (isRepeated) return skipRepeatedRow(planned);
    if (managerText && namedManager?.isAdopted && planned.after && hasManagerChange(planned))
      builder.adoptedManagers.push({ line: keys.line, externalId: managerText });
    return planned;
  }
}

const createUuid = (externalId: string, { toUuid, builder }: PlanState): string =>
  toUuid(builder.externalIds.assignNumber(externalId));

/** Returns true if the row of a blocked user may change the user's block or cause a warning. */
function needsStatusRules(cells: readonly string[], { header, scope }: PlanState, user: User): boolean {
  if (isBlockedAsMissing(user)) return true;
  const at = header.findIndex((column) => column?.field === 'status');
  return user.blocked_by !== scope.dataset && (at < 0 || (cells[at] ?? '').trim() === '');
}

function hasManagerChange({ row }: PlannedRow): boolean {
  return row.changes.list.some(({ field }) => field === 'manager_uuid');
}

/** Records the identifiers in a failed row. Users with these identifiers do not count as missing. */
function recordFailedRowNames(cells: readonly (string | undefined)[], { header, builder }: PlanState): void {
  for (const [index, column] of header.entries()) {
    const cell = unescapeFormula((cells[index] ?? '').trim());
    if (column?.field === 'external_id') builder.failedNames.addExternalId(cell);
    if (column?.field === 'username' || column?.field === 'email') builder.failedNames.addLogin(cell);
  }
}

/** Returns a failed row for a record with too few or too many cells. Also records the identifiers in its cells. */
function planUnreadableRow(record: CsvRecord, width: number, planning: PlanState): PlannedRow {
  const { header } = planning;
  const { line, cells } = record;
  const key = header.findIndex((column) => column?.field === 'external_id');
  // It is unknown which cell is missing or extra, so align the cells with both ends of the header.
  const fromRight = header.map((_, index) => cells[index + cells.length - width]);
  for (const reading of record.alignments ?? [cells, fromRight]) recordFailedRowNames(reading, planning);
  const message =
    `has ${formatCellCount(record)}, but the header has ${width}; enclose cells that contain the delimiter in quotes, and do not ` +
    'leave out empty cells';
  const errors = [{ field: '', code: 'wrong_cell_count', message }];
  const external_id = truncate(unescapeFormula((cells[key] ?? '').trim()), 255);
  return createUnwrittenRow({ line, external_id, user_uuid: null }, undefined, errors);
}

/**
 * Returns a skipped row for a row with a repeated ExternalId. If the rows with this ExternalId differ, all of them fail
 * at the end of the file.
 */
function skipRepeatedRow({ row, before }: PlannedRow): PlannedRow {
  return { row: { ...row, outcome: 'skipped', errors: [], changes: NO_CHANGES }, before, after: undefined };
}
