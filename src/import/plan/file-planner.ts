import { Injectable } from '@nestjs/common';
import { toMillis } from '../../common/time.js';
import { isUuid } from '../../common/uuid.js';
import { UserDirectory } from '../../users/user-directory.js';
import { exactKey, loginIdentifier, loginKey } from '../../users/user.keys.js';
import type { User } from '../../users/user.model.js';
import { UserSettings } from '../../users/user.settings.js';
import { CsvReader, type CsvRecord } from '../file/csv-reader.js';
import { columnOf } from '../file/columns.js';
import { FileError } from '../file/file-error.js';
import { type FileRow, readRow } from '../file/file-row.js';
import { type Header, readHeader } from '../file/header.js';
import { ImportFilesRepository } from '../file/import-files.repository.js';
import type { ImportRun } from '../run/import.run.js';
import { newUuid } from './new-uuid.js';
import { OwnerCheck } from './owner-check.js';
import { BATCH_ROWS, type PlanBuilder } from './plan-builder.js';
import { repeatedError } from './plan-state.js';
import { type JudgedRow, judgeRow, unchanged } from './row-judge.js';
import { isSame } from './same-row.js';

/** How a cell names a manager that has no external id: what the export writes. */
const BY_UUID = /^uuid:(.*)$/i;

/** Reads the file of a run and judges its rows against the live ones, a batch at a time, without a write to them. */
@Injectable()
export class FilePlanner {
  constructor(
    private readonly files: ImportFilesRepository,
    private readonly directory: UserDirectory,
    private readonly settings: UserSettings,
    private readonly owners: OwnerCheck,
  ) {}

  /** A reader of the run's file and its columns. @throws FileError where the header is refused. */
  async open(run: ImportRun): Promise<{ reader: CsvReader; names: string[]; header: Header }> {
    const { encoding, delimiter } = run.options;
    const reader = new CsvReader(this.files.read(run.id), {
      encoding,
      delimiter,
      knownColumn: (name) => columnOf(name) !== undefined,
    });
    const names = await reader.header();
    return { reader, names, header: readHeader(names, run.options) };
  }

  /** @throws FileError where the file is refused as a whole. */
  async plan(run: ImportRun, builder: PlanBuilder): Promise<void> {
    const { reader, header } = await this.open(run);
    for await (const records of reader.records(BATCH_ROWS)) {
      const judged = await this.judge(run, records, header, builder);
      const claims = judged.filter(({ before }) => before?.managed_by === null).map(({ row }) => row.line);
      const percent = Math.floor((reader.bytesRead / Math.max(1, run.file.size)) * 100);
      await builder.add(judged, new Set(claims), Math.min(99, percent));
    }
    if (reader.bytesRead !== run.file.size) {
      throw new FileError('file_lost', 'The stored file is not whole any more; send it again.');
    }
    const { expected_rows: expected } = run.options;
    const { rows } = builder.tally;
    if (expected !== undefined && rows !== expected) {
      throw new FileError(
        'unexpected_rows',
        `The file has ${rows} rows, and expected_rows says ${expected}.`,
      );
    }
  }

  private async judge(
    run: ImportRun,
    records: readonly CsvRecord[],
    header: Header,
    builder: PlanBuilder,
  ): Promise<JudgedRow[]> {
    const rows = records.map((record) => readRow(record, header, run.options.blank_cells));
    const users = await this.directory.byExternalIds(
      rows.map(({ externalId }) => externalId).filter((id) => id !== ''),
    );
    await this.adopt(run, rows, users);
    const managers = await this.managers(rows);
    const idOf = (externalId: string): string =>
      newUuid({ id: run.id, created: toMillis(run.created) }, exactKey(externalId));
    const judged = rows.map((row, index): JudgedRow => {
      const cells = records[index]?.cells ?? [];
      const key = exactKey(row.externalId);
      const before = users.get(key);
      const seen = key === '' ? undefined : builder.state.claimExternalId(row.line, key, cells);
      const manager = row.manager && (managers.get(row.manager) ?? idOf(row.manager));
      const usual = before && seen === undefined && run.options.mode !== 'create_only';
      if (usual && isSame(cells, header, before, manager, run.options.blank_cells))
        return unchanged(row, before);
      const uuid = before?.uuid ?? idOf(key);
      const context = {
        options: run.options,
        settings: this.settings,
        initiator: run.caller.actor,
        before,
        uuid,
        manager,
      };
      const result = judgeRow(row, context);
      if (seen !== undefined) return repeat(result, seen, builder.state.externalIds.get(key));
      const awaited = row.manager && !managers.has(row.manager) ? row.manager : undefined;
      builder.state.addManager(result, awaited);
      return result;
    });
    await this.owners.meet(judged, builder);
    return judged;
  }

  /** Users without external id whom a row may take over. */
  private async adopt(run: ImportRun, rows: readonly FileRow[], users: Map<string, User>): Promise<void> {
    const field = run.options.adopt;
    if (field === 'none') return;
    const strangers = rows.filter((row) => row.externalId !== '' && !users.has(exactKey(row.externalId)));
    const nameOf = (row: FileRow): string => (typeof row.raw[field] === 'string' ? row.raw[field] : '');
    const owners = await this.directory.owners(strangers.map((row) => loginIdentifier(nameOf(row))));
    const unlinked = [...owners.values()].filter(({ external_id }) => external_id === '');
    const found = await this.directory.byUuids(unlinked.map(({ uuid }) => uuid));
    for (const row of strangers) {
      const user = found.get(owners.get(loginIdentifier(nameOf(row)))?.uuid ?? '');
      if (user && loginKey(user[field]) === loginKey(nameOf(row))) users.set(exactKey(row.externalId), user);
    }
  }

  /** Manager cell → uuid, of those that exist already. */
  private async managers(rows: readonly FileRow[]): Promise<Map<string, string>> {
    const cells = [...new Set(rows.flatMap(({ manager }) => manager ?? []))];
    const byId = await this.directory.uuidsByExternalIds(cells);
    const named = cells.flatMap((cell) => BY_UUID.exec(cell)?.[1]?.trim().toLowerCase() ?? []).filter(isUuid);
    const byUuid = await this.directory.externalIdsOf(named);
    return new Map(
      cells.flatMap((cell): [string, string][] => {
        const uuid = byId.get(exactKey(cell)) ?? BY_UUID.exec(cell)?.[1]?.trim().toLowerCase();
        return uuid !== undefined && (byId.has(exactKey(cell)) || byUuid.has(uuid)) ? [[cell, uuid]] : [];
      }),
    );
  }
}

/** A row whose ExternalId stood in the file before. */
function repeat({ row, before }: JudgedRow, seen: 'same' | 'differs', first: number): JudgedRow {
  const fate =
    seen === 'same'
      ? ({ outcome: 'skipped', errors: [] } as const)
      : { outcome: 'error' as const, errors: [repeatedError('external_id', first)] };
  return { row: { ...row, ...fate, errors: [...fate.errors], changes: [] }, before, after: undefined };
}
