import { Injectable } from '@nestjs/common';
import { FuseBlownError, KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { Log } from '../../platform/telemetry/log.js';
import { createFaultLogger, toProblemError } from '../../platform/http/problem.js';
import { now } from '../../platform/common/time.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import type { Reason, TransitionName } from '../runs/run-states.js';
import { FileError } from '../file/file-error.js';
import { ImportFilesRepository } from '../file/import-files.repository.js';
import { PlanGuards } from '../guards/plan-guards.service.js';
import { RunPlanner } from '../plan/run-planner.js';
import { FailedRows } from '../report/failed-rows.js';
import { Applier } from './applier.service.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { RunRights } from '../runs/run-rights.service.js';
import { type ImportRun, type RunChange, callerOf, hasFile, userScopeOf } from '../runs/import-run.js';
import {
  LeaseLostError,
  RunTransitions,
  RunStoppedError,
  ShuttingDownError,
  type Checkpoint,
} from '../runs/run-transitions.service.js';

/** Continues a run from its current state until it ends or waits for an operator. */
@Injectable()
export class RunExecutor {
  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly rows: ImportRowsRepository,
    private readonly files: ImportFilesRepository,
    private readonly planner: RunPlanner,
    private readonly applier: Applier,
    private readonly fuse: KeyFuse,
    private readonly guards: PlanGuards,
    private readonly failedRows: FailedRows,
    private readonly rights: RunRights,
    private readonly transitions: RunTransitions,
    private readonly log: Log,
  ) {}

  /**
   * Plans and applies a run until it ends or waits for an operator.
   * @throws LeaseLostError, ShuttingDownError, or an error of an unreachable database. After these errors, the run
   * keeps its state and is continued later.
   */
  async executeRun(checkpoint: Checkpoint): Promise<void> {
    try {
      let run = await this.findCurrentRun(checkpoint);
      if (run.state !== 'applying') {
        await this.plan(run, checkpoint);
        run = await this.findCurrentRun(checkpoint);
      } else {
        const phase = { phase_started: now(), phase_percent: run.percent };
        // Restart the timing of the phase. Otherwise the time without a worker would lengthen the estimated time left.
        await checkpoint.commit(async () => undefined, phase);
      }
      if (run.state !== 'applying') return;
      if (run.batches > 0) {
        const started = run;
        await this.fuse.runWithFuse(callerOf(run), () => this.applier.apply(started, checkpoint));
        run = await this.findCurrentRun(checkpoint);
      }
      await this.complete(run, checkpoint);
    } catch (error) {
      await this.endAfterError(error, checkpoint);
    }
  }

  /**
   * Reads a run from the database, with the current rights of its starter and its approver. A revoked or expired key
   * has no rights.
   */
  private async findCurrentRun(checkpoint: Checkpoint): Promise<ImportRun> {
    const run = await this.runs.find(checkpoint.runId);
    if (!run) throw new Error('an import was deleted while it was running');
    const starter = (await this.rights.findCurrentActor(run.starter)) ?? run.starter;
    const approver = run.approver && ((await this.rights.findCurrentActor(run.approver)) ?? run.approver);
    return { ...run, starter, approver };
  }

  private async plan(run: ImportRun, checkpoint: Checkpoint): Promise<void> {
    const time = now();
    await this.transition(checkpoint, 'plan', {
      started: run.started ?? time,
      phase_started: time,
      phase_percent: run.percent,
    });
    const planned = await this.planner.plan(run, checkpoint);
    const fuse = await this.guards.evaluateKeyFuse({ ...run, ...planned });
    const plan = { ...planned, guards: [...planned.guards, ...(fuse ? [fuse] : [])] };
    if (plan.counts.error > 0) await this.failedRows.storeCells(run, checkpoint);
    const hit = plan.guards.some((guard) => guard.hit);
    if (run.approved && run.plan_hash !== null && run.plan_hash !== plan.plan_hash) {
      const message =
        'The plan has changed since it was approved: users or the version of the service changed, or the approver has fewer permissions than the user or API key that started the import. Start a new import.';
      const reason = { code: 'plan_changed', message };
      return this.endRun(checkpoint, 'invalidate', async () => ({ ...plan, reason }));
    }
    if (run.dry_run && !run.approved) {
      return this.transition(checkpoint, 'present', plan);
    }
    // A guard may have tripped only after the approval, so check the approver again.
    const approver = run.approved ? run.approver : null;
    const obstacle = approver && (await this.rights.findApprovalObstacle({ ...run, ...plan }, approver));
    if (fuse?.hit === true || (hit && (approver === null || obstacle !== undefined))) {
      // Remove the approval, because its actor may not approve the run, or because the run would blow the fuse of its key.
      const unapproved = { approved: false, approver: null };
      return this.transition(checkpoint, 'park', { ...plan, ...unapproved });
    }
    const apply = {
      ...plan,
      dry_run: false,
      phase_started: now(),
      phase_percent: plan.percent,
      applied_batches: 0,
    };
    // Without a batch or an error, nothing is left to write. End the run in the same transaction.
    if (plan.batches === 0 && plan.counts.error === 0)
      await this.complete({ ...run, ...apply }, checkpoint, apply);
    else await this.transition(checkpoint, 'apply', apply);
  }

  /**
   * Moves a run to another state. The transitions `park` and `apply` also end the older plans that this run replaces.
   */
  private async transition(checkpoint: Checkpoint, name: TransitionName, change: RunChange): Promise<void> {
    const moved = await checkpoint.commit(async (tx, run) => {
      if (name === 'park' || name === 'apply') await this.endSupersededPlans(tx, run);
      return this.transitions.transition(tx, run, name, change);
    });
    if (name === 'park') this.transitions.logState(moved);
  }

  /**
   * Ends older plans of the same data set and part that wait for approval, because the file of this run is newer. A
   * correction replaces no plan, because it contains only some rows.
   */
  private async endSupersededPlans(tx: Sql, run: ImportRun): Promise<void> {
    if (!hasFile(run) || run.corrects !== null) return;
    const older = await this.runs.listInScope(userScopeOf(run), ['needs_approval'], 100, tx);
    for (const other of older.filter(({ id }) => id < run.id)) {
      const message = `A newer import of the same data set replaced this import: ${run.id}.`;
      const reason = { code: 'newer_run', message };
      await this.transitions.transition(tx, other, 'replace', { reason }, callerOf(run));
    }
  }

  /** Completes a run. @param plan changes to commit with the end of a run that was never in the state `applying`. */
  private async complete(run: ImportRun, checkpoint: Checkpoint, plan?: RunChange): Promise<void> {
    const result = await this.countResults(run);
    const hasErrors = result.counts.error > 0;
    // A missing file only prevents `failed.csv`. It does not make the run fail, because the changes are already applied.
    const reason = hasErrors
      ? await this.failedRows.storeCells(run, checkpoint).then(() => null, toReason)
      : null;
    const end = hasErrors ? 'completePartly' : 'complete';
    const all = { rows_done: run.rows_total ?? 0, percent: 100 };
    await this.endRun(checkpoint, end, async (tx) => {
      if (plan) await this.endSupersededPlans(tx, run);
      return { ...plan, ...result, ...all, reason };
    });
  }

  /**
   * Returns the final counts of a run: its rows by outcome, and the missing users whom it blocked. Most unchanged rows
   * are not stored, so their number is computed from the total.
   */
  private async countResults(run: ImportRun, tx?: Sql) {
    const counts = await this.rows.countByOutcome(run.id, tx);
    const others = Object.values({ ...counts, unchanged: 0 }).reduce((sum, count) => sum + count, 0);
    return {
      counts: { ...counts, unchanged: (run.rows_total ?? 0) - others },
      missing_blocked:
        run.missing_blocked === 0 ? 0 : await this.rows.countMissing(run.id, run.applied_batches, tx),
    };
  }

  private async endAfterError(error: unknown, checkpoint: Checkpoint): Promise<void> {
    if (error instanceof LeaseLostError || error instanceof ShuttingDownError) throw error;
    if (error instanceof RunStoppedError) return this.endEarly(checkpoint, 'stop', error.reason);
    if (error instanceof FuseBlownError) {
      return this.endEarly(checkpoint, 'stop', { code: error.code, message: error.detail });
    }
    if (error instanceof FileError) return this.endEarly(checkpoint, 'fail', toReason(error));
    const problem = toProblemError(error);
    // The database is unreachable or the answer to a commit was lost, so the run continues later.
    if (problem.status === 503) throw error;
    this.log.logFault(checkpoint.runId, problem.code, error);
    const message =
      'An internal error ended this import. Rows that were already applied stay applied. Search the log of the service for the id of this run.';
    return this.endEarly(checkpoint, 'fail', { code: 'internal', message });
  }

  /** Ends a run early. If the run is being applied, its remaining rows are skipped. Otherwise its plan is deleted. */
  private async endEarly(checkpoint: Checkpoint, end: 'stop' | 'fail', reason: Reason | null): Promise<void> {
    const run = await this.findCurrentRun(checkpoint);
    checkpoint.beginFinalWrites();
    if (run.state !== 'applying') {
      await this.rows.deleteAll(run.id, (write) => checkpoint.commit(write));
      const none = {
        counts: null,
        created_blocked: 0,
        guards: [],
        missing_reported: 0,
        missing_blocked: 0,
        batches: 0,
      };
      return this.endRun(checkpoint, end, async () => ({ ...none, reason: reason ?? run.reason }));
    }
    await this.failedRows.storeCells(run, checkpoint).catch((error: unknown) => {
      if (error instanceof LeaseLostError) throw error;
      this.log.logFault(run.id, toProblemError(error).code, error);
    });
    // Skip the rows and end the run in one transaction. After a crash between two transactions, another worker would
    // continue the run although its rows are skipped.
    await this.endRun(checkpoint, end, async (tx) => {
      await this.rows.markRowsSkipped(tx, run.id, run.applied_batches);
      return { ...(await this.countResults(run, tx)), reason: reason ?? run.reason };
    });
  }

  private async endRun(
    checkpoint: Checkpoint,
    end: TransitionName,
    result: (tx: Sql) => Promise<RunChange>,
  ): Promise<void> {
    const { runId } = checkpoint;
    const ended = await checkpoint.commit(async (tx, run) => {
      await this.files.deleteFirstPart(tx, runId);
      return this.transitions.transition(tx, run, end, await result(tx));
    });
    // If the rest of the file of this ended run cannot be deleted now, the next purge deletes it.
    await this.files.delete(runId).catch(createFaultLogger(this.log, runId));
    this.transitions.logState(ended);
  }
}

/** Converts a FileError to the reason of a run. Rethrows other errors. */
function toReason(error: unknown): Reason {
  if (!(error instanceof FileError)) throw error;
  const { code, message, line, others } = error;
  return { code, message, line, others };
}
