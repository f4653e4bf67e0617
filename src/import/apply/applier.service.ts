import { Inject, Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import type { Caller } from '../../access/actor.js';
import { Changes } from '../../platform/common/field-changes.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { BATCH_TARGETS, BatchSizer } from '../../platform/database/transaction-runner.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { WriteLock } from '../../platform/database/sqlite/write-lock.js';
import type { User } from '../../users/model/user.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import type { Failure } from '../../users/rules/failure.js';
import { type UserChange, prepareUser } from '../../users/writer/change-set.js';
import { UserWriter } from '../../users/writer/user-writer.service.js';
import { patchOf } from '../plan/row-rules.js';
import { toRevertConflicts } from '../plan/user-rows.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { type ImportRun, RunProgress, callerOf, userScopeOf } from '../runs/import-run.js';
import { type StagedRow, createUserRow, toFailedRow } from '../runs/import-row.js';
import type { Checkpoint } from '../runs/run-transitions.service.js';

/** Number of rows to prepare before the event loop may send the next statement of the open transaction. */
const ROWS_AT_ONCE = 10;

/** Batches of one transaction. A retry of the transaction writes them again, so they must not change. */
interface PreparedBatches {
  last: number;
  batches: number;
  /** UUIDs of otherwise unchanged users whom the data set or part starts to manage. */
  newlyManaged: readonly string[];
  rows: readonly StagedRow[];
  /** Changes to the users of `rows`, in the same order. */
  changes: readonly UserChange[];
}

/**
 * Writes the batches of a plan through the user writer, in transactions whose size is adjusted to a target duration.
 * Each transaction also stores the number of applied batches, so a crash never leaves a batch applied but not counted.
 * Prepares the next batches during each transaction.
 */
@Injectable()
export class Applier {
  constructor(
    private readonly rows: ImportRowsRepository,
    private readonly writer: UserWriter,
    private readonly directory: UserDirectory,
    @Inject(DATABASE) private readonly database: Database,
    private readonly lock: WriteLock,
  ) {}

  /** Applies the batches of a run that are not applied yet. @throws the errors of `Checkpoint.commit`. */
  async apply(run: ImportRun, checkpoint: Checkpoint): Promise<void> {
    const caller = callerOf(run);
    const sizer = new BatchSizer(BATCH_TARGETS[this.database.dialect]);
    const progress = new RunProgress(run);
    const left = run.batches - run.applied_batches;
    let waiting = this.prepareBatches(run, run.applied_batches, sizer);
    try {
      for (let applied = run.applied_batches; applied < run.batches;) {
        const prepared = await waiting;
        waiting = this.prepareBatches(run, prepared.last, sizer);
        // Prevents an unhandled rejection. The next iteration awaits `waiting` and throws its error.
        waiting.catch(() => undefined);
        const reached = progress.recordApplied((prepared.last - run.applied_batches) / left);
        let duration = 0;
        await checkpoint.commit(
          async (tx) => {
            // Measure only the last attempt, without the wait for the write lock and the sync of the disk.
            const startedAt = performance.now();
            await this.writeBatches(tx, run, prepared, caller);
            duration = performance.now() - startedAt;
          },
          { ...reached, applied_batches: prepared.last },
        );
        sizer.recordDuration(prepared.batches, duration, this.lock.isContended);
        applied = prepared.last;
      }
    } finally {
      // After an error, wait until the next batches are read, so that no query runs after the return.
      await waiting.catch(() => undefined);
    }
  }

  /**
   * Reads the batches after batch number `applied` and builds the changes to their users. This is safe even
   * before earlier batches are written, because only the worker of this run changes staged rows.
   */
  private async prepareBatches(run: ImportRun, applied: number, sizer: BatchSizer): Promise<PreparedBatches> {
    const last = Math.min(applied + sizer.batches, run.batches);
    const staged = last > applied ? await this.rows.listBatchRows(run.id, applied + 1, last) : [];
    const newlyManaged = staged.flatMap(({ outcome, user_uuid }) =>
      outcome === 'unchanged' ? (user_uuid ?? []) : [],
    );
    const rows = staged.filter(({ outcome }) => outcome !== 'unchanged');
    const changes: UserChange[] = [];
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      changes.push(...rows.slice(at, at + ROWS_AT_ONCE).map(toChange));
      await setImmediate();
    }
    return { last, batches: last - applied, newlyManaged, rows, changes };
  }

  private async writeBatches(
    tx: Sql,
    run: ImportRun,
    { newlyManaged, rows, changes }: PreparedBatches,
    caller: Caller,
  ): Promise<void> {
    await this.directory.assignScope(tx, newlyManaged, userScopeOf(run));
    const { outcomes, reports } = await this.writer.applyWithReports(tx, changes, caller);
    // A row fails here if its user or one of its identifiers was changed after the row was planned.
    const failed = rows.flatMap((row, index) => {
      const outcome = outcomes[index];
      return outcome?.outcome === 'error' ? [toRejectedRow(row, outcome.failures, run)] : [];
    });
    await this.rows.replace(tx, run.id, failed);
    if (reports.length === 0) return;
    const last = Math.max(run.rows_total ?? 0, await this.rows.findLastLine(run.id, tx));
    await this.rows.insert(tx, run.id, createReportRows(rows, reports, last + 1));
  }
}

/**
 * Returns rows that record the cleared managers of `reports`, in the order of the deleted managers. This order does not
 * depend on how many batches a transaction contains.
 */
function createReportRows(rows: readonly StagedRow[], reports: readonly User[], firstLine: number) {
  const byManager = Map.groupBy(reports, ({ manager_uuid }) => manager_uuid);
  const cleared = rows.flatMap(({ batch, user_uuid }) =>
    (byManager.get(user_uuid) ?? []).map((user) => ({ batch, user })),
  );
  return cleared.map(({ batch, user }, index) => {
    const changes = Changes.fromList([{ field: 'manager_uuid', old: user.manager_uuid, new: null }]);
    return createUserRow(firstLine + index, 'manager_cleared', user, { batch, changes });
  });
}

/** Returns the row of a change that the user writer has refused. */
function toRejectedRow(row: StagedRow, failures: readonly Failure[], { reverts }: ImportRun): StagedRow {
  if (reverts === null) return toFailedRow(row, [...failures]);
  const isGone = row.outcome === 'deleted' && failures.some(({ code }) => code === 'not_found');
  const failed = toFailedRow(row, toRevertConflicts(row, failures));
  return isGone ? { ...failed, outcome: 'unchanged', errors: [] } : failed;
}

function toChange(row: StagedRow): UserChange {
  const uuid = row.user_uuid ?? '';
  const { changes } = row;
  if (row.outcome === 'deleted') return { kind: 'delete', uuid, patch: {}, ifVersions: [row.version] };
  if (row.outcome === 'restored') return { kind: 'restore', uuid, patch: {}, ifVersions: [row.version] };
  if (row.outcome !== 'created')
    return { kind: 'update', uuid, patch: patchOf(changes.list, 'new'), ifVersions: [row.version] };
  const patch = changes.values;
  return { kind: 'create', uuid, patch, prepared: prepareUser(uuid, patch, changes) };
}
