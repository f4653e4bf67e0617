import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { toMillis } from '../../common/time.js';
import { exactKey } from '../../users/model/keys.js';
import { UserSettings } from '../../users/input/user-settings.js';
import type { CsvRecord } from '../file/csv-reader.js';
import { FileError } from '../file/file-error.js';
import { type RowKeys, readKeys, readRow } from '../file/file-row.js';
import { type Header, RunFiles } from '../file/run-files.js';
import type { ImportRun } from '../runs/import-run.js';
import { type Adopted, Adoption } from './adoption.js';
import { newUuid } from './new-uuid.js';
import { OwnerCheck } from './owner-check.js';
import { BATCH_ROWS, type PlanBuilder } from './plan-builder.js';
import { type Facts, RowFacts } from './row-facts.js';
import { type JudgedRow, judgeRow, unchanged } from './row-judge.js';
import { isSame } from './same-row.js';

/** Rows that are judged in one go: other requests, and the answers of the database, get their turn between two. */
const ROWS_AT_ONCE = 100;

/** A file that is being planned. */
interface Planning {
  run: ImportRun;
  header: Header;
  adopted: Adopted;
  builder: PlanBuilder;
}

/** Some rows of the file, whose look-up is under way. */
interface Batch {
  rows: readonly { record: CsvRecord; keys: RowKeys }[];
  facts: Promise<Facts>;
  /** Bytes of the file up to their end. */
  bytes: number;
}

/** Reads the file of a run and judges its rows against the live ones, a batch at a time, without a write to them. */
@Injectable()
export class FilePlanner {
  constructor(
    private readonly files: RunFiles,
    private readonly facts: RowFacts,
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
    const planning = { run, header, adopted, builder };
    let staging = Promise.resolve();
    const add = async (batch: Batch): Promise<void> => {
      const judged = await this.judge(batch, planning);
      const claims = judged.filter(({ before }) => before?.managed_by === null).map(({ row }) => row.line);
      await staging;
      staging = builder.add(judged, new Set(claims), percent(passes, batch.bytes));
      staging.catch(() => undefined); // told where it is waited for
    };
    let waiting: Batch | undefined;
    try {
      for await (const records of reader.records(BATCH_ROWS)) {
        // The server looks these rows up, and takes in those that are judged, while the others are judged.
        const batch = this.lookUp(records, reader.bytesRead, planning);
        await setImmediate(); // the statement is on its way then
        if (waiting) await add(waiting);
        waiting = batch;
      }
      if (waiting) await add(waiting);
    } finally {
      await staging;
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

  private lookUp(records: readonly CsvRecord[], bytes: number, { run, header, adopted }: Planning): Batch {
    const rows = records.map((record) => ({
      record,
      keys: readKeys(record, header, run.options.blank_cells),
    }));
    const facts = this.facts.of(
      rows.map(({ keys }) => keys),
      adopted,
    );
    facts.catch(() => undefined); // told where it is waited for
    return { rows, facts, bytes };
  }

  private async judge(batch: Batch, { run, header, builder }: Planning): Promise<JudgedRow[]> {
    const { users, managers } = await batch.facts;
    const { blank_cells: blankCells, mode } = run.options;
    const idOf = (externalId: string): string =>
      newUuid({ id: run.id, created: toMillis(run.created) }, exactKey(externalId));
    const judgeOne = ({ record, keys }: Batch['rows'][number]): JudgedRow => {
      const key = exactKey(keys.externalId);
      const before = users.get(key);
      const repeats = key !== '' && !builder.state.claimExternalId(keys.line, key, record.cells);
      if (before && !repeats) builder.tally.meet(before, run.dataset);
      const named = keys.manager ? managers.get(keys.manager) : undefined;
      const manager = keys.manager && (named?.uuid ?? idOf(keys.manager));
      const usual = before && !repeats && mode !== 'create_only';
      if (usual && isSame(record.cells, header, before, manager, blankCells)) return unchanged(keys, before);
      const context = {
        options: run.options,
        settings: this.settings,
        initiator: run.caller.actor,
        before,
        uuid: before?.uuid ?? idOf(key),
        manager,
      };
      const result = judgeRow(readRow(record, header, blankCells), context);
      if (repeats) return repeat(result);
      builder.state.addManager(result, {
        exists: named !== undefined,
        awaited: named?.awaited === false ? undefined : (keys.manager ?? undefined),
      });
      return result;
    };
    const judged: JudgedRow[] = [];
    for (let at = 0; at < batch.rows.length; at += ROWS_AT_ONCE) {
      judged.push(...batch.rows.slice(at, at + ROWS_AT_ONCE).map(judgeOne));
      await setImmediate();
    }
    await this.owners.meet(judged, builder);
    return judged;
  }
}

/** A row whose ExternalId stood in the file before. The whole file tells whether it fails with the others of its id. */
function repeat({ row, before }: JudgedRow): JudgedRow {
  return { row: { ...row, outcome: 'skipped', errors: [], changes: [] }, before, after: undefined };
}
