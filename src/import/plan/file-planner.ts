import { Injectable } from '@nestjs/common';
import { toMillis } from '../../common/time.js';
import { isUuid } from '../../common/uuid.js';
import { UserDirectory } from '../../users/user-directory.js';
import { exactKey } from '../../users/user.keys.js';
import type { User } from '../../users/user.model.js';
import { UserSettings } from '../../users/user.settings.js';
import type { CsvRecord } from '../file/csv-reader.js';
import { FileError } from '../file/file-error.js';
import { type FileRow, readRow } from '../file/file-row.js';
import type { Header } from '../file/header.js';
import { RunFiles } from '../file/run-files.js';
import type { ImportRun } from '../run/import.run.js';
import { type Adopted, Adoption } from './adoption.js';
import { newUuid } from './new-uuid.js';
import { OwnerCheck } from './owner-check.js';
import { BATCH_ROWS, type PlanBuilder } from './plan-builder.js';
import { repeatedError } from './plan-state.js';
import { type JudgedRow, judgeRow, unchanged } from './row-judge.js';
import { isSame } from './same-row.js';

/** How a cell names a manager that has no external id: what the export writes. */
const BY_UUID = /^uuid:(.*)$/i;

/** A manager that a cell names: an existing user or one to be. `awaited` while only this file links the ExternalId. */
interface NamedManager {
  uuid: string;
  awaited: boolean;
}

/** Reads the file of a run and judges its rows against the live ones, a batch at a time, without a write to them. */
@Injectable()
export class FilePlanner {
  constructor(
    private readonly files: RunFiles,
    private readonly directory: UserDirectory,
    private readonly settings: UserSettings,
    private readonly owners: OwnerCheck,
    private readonly adoption: Adoption,
  ) {}

  /** @throws FileError where the file is refused as a whole. */
  async plan(run: ImportRun, builder: PlanBuilder): Promise<void> {
    const passes = run.options.adopt === 'none' ? 1 : 2;
    const percent = (pass: number, bytes: number): number =>
      Math.min(99, Math.floor(((pass - 1 + bytes / Math.max(1, run.file.size)) / passes) * 100));
    const adopted = await this.adoption.of(run, (bytes) =>
      builder.stage([], { rowsDone: 0, percent: percent(1, bytes) }),
    );
    const { reader, header } = await this.files.open(run);
    for await (const records of reader.records(BATCH_ROWS)) {
      const judged = await this.judge(run, records, header, adopted, builder);
      const claims = judged.filter(({ before }) => before?.managed_by === null).map(({ row }) => row.line);
      await builder.add(judged, new Set(claims), percent(passes, reader.bytesRead));
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
    adopted: Adopted,
    builder: PlanBuilder,
  ): Promise<JudgedRow[]> {
    const rows = records.map((record) => readRow(record, header, run.options.blank_cells));
    const users = await this.users(rows, adopted);
    const idOf = (externalId: string): string =>
      newUuid({ id: run.id, created: toMillis(run.created) }, exactKey(externalId));
    const managers = await this.managers(rows, adopted);
    const judged = rows.map((row, index): JudgedRow => {
      const cells = records[index]?.cells ?? [];
      const key = exactKey(row.externalId);
      const before = users.get(key);
      const seen = key === '' ? undefined : builder.state.claimExternalId(row.line, key, cells);
      const named = row.manager ? managers.get(row.manager) : undefined;
      const manager = row.manager && (named?.uuid ?? idOf(row.manager));
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
      if (seen !== undefined) return repeat(result, seen, builder.state.lineOf(key));
      builder.state.addManager(result, {
        exists: named !== undefined,
        awaited: named?.awaited === false ? undefined : (row.manager ?? undefined),
      });
      return result;
    });
    await this.owners.meet(judged, builder);
    return judged;
  }

  /** The users whom rows are about: those with their ExternalIds, and those whom rows take over. */
  private async users(rows: readonly FileRow[], adopted: Adopted): Promise<Map<string, User>> {
    const named = rows.map(({ externalId }) => externalId).filter((id) => id !== '');
    const users = await this.directory.byExternalIds(named);
    const uuids = named.flatMap((id): [string, string][] => {
      const uuid = users.has(exactKey(id)) ? undefined : adopted.get(id);
      return uuid === undefined ? [] : [[exactKey(id), uuid]];
    });
    if (uuids.length === 0) return users;
    const found = await this.directory.byUuids(uuids.map(([, uuid]) => uuid));
    for (const [key, uuid] of uuids) {
      const user = found.get(uuid);
      if (user?.external_id === '') users.set(key, user); // nobody has linked it since
    }
    return users;
  }

  /** Manager cell → manager, of those that exist already. */
  private async managers(rows: readonly FileRow[], adopted: Adopted): Promise<Map<string, NamedManager>> {
    const cells = [...new Set(rows.flatMap(({ manager }) => manager ?? []))];
    const linked = await this.directory.uuidsByExternalIds(cells);
    const byUuid = new Map(
      cells.flatMap((cell): [string, string][] => {
        const uuid = BY_UUID.exec(cell)?.[1]?.trim().toLowerCase() ?? '';
        return isUuid(uuid) ? [[cell, uuid]] : [];
      }),
    );
    const known = await this.directory.externalIdsOf([...byUuid.values()]);
    const find = (cell: string): NamedManager | undefined => {
      const uuid = linked.get(exactKey(cell));
      if (uuid !== undefined) return { uuid, awaited: false };
      const taken = adopted.get(cell);
      if (taken !== undefined) return { uuid: taken, awaited: true };
      const named = byUuid.get(cell);
      return named !== undefined && known.has(named) ? { uuid: named, awaited: false } : undefined;
    };
    return new Map(
      cells.flatMap((cell): [string, NamedManager][] => {
        const manager = find(cell);
        return manager ? [[cell, manager]] : [];
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
