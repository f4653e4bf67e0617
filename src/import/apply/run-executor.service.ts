import { Injectable, Inject } from '@nestjs/common';
import { FuseBlownError, KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { Log } from '../../platform/telemetry/log.js';
import { toProblemError } from '../../platform/http/problem.js';
import { now } from '../../platform/common/time.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { TRANSITIONS, type Reason, type TransitionName } from '../runs/run-states.js';
import { FileError } from '../file/file-error.js';
import { ImportFilesRepository } from '../file/import-files.repository.js';
import { RunPlanner, type Plan } from '../plan/run-planner.js';
import { FailedRows } from '../report/failed-rows.js';
import { Applier } from './applier.service.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { RunRights } from '../runs/run-rights.service.js';
import { type ImportRun, type RunChange, callerOf, userScopeOf } from '../runs/import-run.js';
import type { Guard } from '../runs/guard-limits.js';
import {
  LeaseLostError,
  RunTransitions,
  StopRequestedError,
  RightsLostError,
  ShuttingDownError,
  type Checkpoint,
} from '../runs/run-transitions.service.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';

/** Takes a run from its current state as far as it can go without an operator. */
@Injectable()
export class RunExecutor {
  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly rows: ImportRowsRepository,
    private readonly files: ImportFilesRepository,
    private readonly planner: RunPlanner,
    private readonly applier: Applier,
    private readonly fuse: KeyFuse,
    private readonly directory: UserDirectory,
    @Inject(DATABASE) private readonly database: Database,
    private readonly failedRows: FailedRows,
    private readonly rights: RunRights,
    private readonly transitions: RunTransitions,
    private readonly log: Log,
  ) {}

  /** @throws LeaseLostError, ShuttingDownError, and errors of an unreachable database; the run keeps its state and is continued later. */
  async run(checkpoint: Checkpoint): Promise<void> {
    try {
      let run = await this.current(checkpoint);
      if (run.state !== 'applying') {
        await this.plan(run, checkpoint);
        run = await this.current(checkpoint);
      } else {
        const goesOn = { phase_started: now(), phase_percent: run.percent };
        await checkpoint.commit(async () => undefined, goesOn); // the time without a worker does not count
      }
      if (run.state !== 'applying') return;
      if (run.batches > 0) run = await this.apply(run, checkpoint);
      await this.end(run, checkpoint);
    } catch (error) {
      await this.stop(error, checkpoint);
    }
  }

  private async apply(run: ImportRun, checkpoint: Checkpoint): Promise<ImportRun> {
    await this.fuse.watched(callerOf(run), () => this.applier.apply(run, checkpoint));
    return this.current(checkpoint);
  }

  /** Returns the run as it is now, with the rights that its keys have: none, for a key that is not in force any more. */
  private async current(checkpoint: Checkpoint): Promise<ImportRun> {
    const run = await this.runs.find(checkpoint.runId);
    if (!run) throw new Error('an import was deleted while it was running');
    const starter = (await this.rights.current(run.starter)) ?? run.starter;
    const approver = run.approver && ((await this.rights.current(run.approver)) ?? run.approver);
    return { ...run, starter, approver };
  }

  private async plan(run: ImportRun, checkpoint: Checkpoint): Promise<void> {
    const time = now();
    await this.move(checkpoint, 'plan', {
      started: run.started ?? time,
      phase_started: time,
      phase_percent: run.percent,
    });
    const planned = await this.planner.plan(run, checkpoint);
    const blocked = await this.countBlocked(run, planned);
    const fuse = blocked > 0 ? await this.fuseGuard(run, blocked) : undefined;
    const plan = { ...planned, guards: [...planned.guards, ...(fuse ? [fuse] : [])] };
    if (plan.counts.error > 0) await this.failedRows.keepCells(run, checkpoint);
    const hit = plan.guards.some((guard) => guard.hit);
    if (run.approved && run.plan_hash !== null && run.plan_hash !== plan.plan_hash) {
      return this.invalidate(checkpoint, plan);
    }
    if (run.dry_run && !run.approved) {
      return this.move(checkpoint, 'present', plan);
    }
    if (fuse?.hit === true || (hit && !run.approved)) {
      const unapproved = { approved: false, approver: null }; // of the key itself, whose fuse it would blow
      return this.move(checkpoint, 'park', { ...plan, ...unapproved });
    }
    await this.move(checkpoint, 'apply', {
      ...plan,
      dry_run: false,
      phase_started: now(),
      phase_percent: plan.percent,
      applied_batches: 0,
    });
  }

  private async invalidate(checkpoint: Checkpoint, plan: RunChange): Promise<void> {
    const message =
      'The plan no longer holds: users or the version of this program have changed since, or whoever approved it may do less than whoever started it. Import again.';
    const reason = { code: 'plan_changed', message };
    return this.finish(checkpoint, 'invalidate', async () => ({ ...plan, reason }));
  }

  /** Counts the users that a plan blocks. What is applied of failed rows of a revert blocks users too. */
  private async countBlocked({ id, reverts }: ImportRun, { counts, missing_blocked }: Plan): Promise<number> {
    const ofFailed = reverts === null ? 0 : await this.rows.countBlockedByFailed(id);
    return counts.blocked + missing_blocked + ofFailed;
  }

  /**
   * Returns the guard `key_fuse`: a run of a key parks where it would blow the fuse of its key, so that it does not stop half way.
   * It is for reverts too, which have no other guard. Only another credential's approval lets the run go on.
   * @returns undefined where no fuse counts the run.
   */
  private async fuseGuard(run: ImportRun, blocked: number): Promise<Guard | undefined> {
    const load = await this.fuse.loadOf(callerOf(run), this.database, () => this.directory.countActive());
    if (!load) return undefined;
    const value = load.count + blocked;
    return {
      name: 'key_fuse',
      field: null,
      value,
      limit: load.limit,
      hit: value > load.limit,
      examples: [],
      hint: 'The key would block more users than it may within an hour; somebody else has to approve that.',
    };
  }

  /** Moves a run on. One that parks or applies takes the place of older plans. */
  private async move(checkpoint: Checkpoint, name: TransitionName, change: RunChange): Promise<void> {
    await checkpoint.commit(async (tx, run) => {
      if (name === 'park' || name === 'apply') await this.supersede(tx, run);
      await this.transitions.transition(tx, run, name, change);
    });
  }

  /** Ends older plans of the data set, and of the same part of it, that still wait for approval: this newer file replaces theirs. */
  private async supersede(tx: Sql, run: ImportRun): Promise<void> {
    if (run.reverts !== null) return;
    const older = await this.runs.inScope(userScopeOf(run), ['needs_approval'], 100, tx);
    for (const other of older.filter(({ id }) => id < run.id)) {
      const message = `A newer import of this data set took its place: ${run.id}.`;
      const reason = { code: 'newer_run', message };
      await this.transitions.transition(tx, other, 'replace', { reason }, callerOf(run));
    }
  }

  private async end(run: ImportRun, checkpoint: Checkpoint): Promise<void> {
    const result = await this.result(run);
    const reason = result.counts.error > 0 ? await this.keptCells(run, checkpoint) : null;
    const end = result.counts.error > 0 ? 'completePartly' : 'complete';
    const all = { rows_done: run.rows_total ?? 0, percent: 100 };
    await this.finish(checkpoint, end, async () => ({ ...result, ...all, reason }));
  }

  /** A run of which all is applied does not fail because its file is gone: why `failed.csv` cannot be had, then. */
  private async keptCells(run: ImportRun, checkpoint: Checkpoint): Promise<Reason | null> {
    try {
      await this.failedRows.keepCells(run, checkpoint);
      return null;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return reasonOf(error);
    }
  }

  /** The final counts: the stored rows by outcome, the unchanged ones, which are not stored, and the blocked missing users. */
  private async result(run: ImportRun, tx?: Sql) {
    const counts = await this.rows.countByOutcome(run.id, tx);
    const others = Object.values({ ...counts, unchanged: 0 }).reduce((sum, count) => sum + count, 0);
    return {
      counts: { ...counts, unchanged: (run.rows_total ?? 0) - others },
      missing_blocked:
        run.missing_blocked === 0 ? 0 : await this.rows.countMissing(run.id, run.applied_batches, tx),
    };
  }

  private async stop(error: unknown, checkpoint: Checkpoint): Promise<void> {
    if (error instanceof LeaseLostError || error instanceof ShuttingDownError) throw error;
    if (error instanceof StopRequestedError) return this.abandon(checkpoint, 'stop', null);
    if (error instanceof RightsLostError) return this.abandon(checkpoint, 'stop', error.reason);
    if (error instanceof FuseBlownError) {
      return this.abandon(checkpoint, 'stop', { code: error.code, message: error.detail });
    }
    if (error instanceof FileError) return this.abandon(checkpoint, 'fail', reasonOf(error));
    const problem = toProblemError(error);
    if (problem.status === 503) throw error; // of a database that is away, or of a commit whose answer was lost
    this.log.fault(checkpoint.runId, problem.code, error);
    const message =
      'The service failed during this import; its log names the run. Rows that were applied stay applied.';
    return this.abandon(checkpoint, 'fail', { code: 'internal', message });
  }

  /** Ends a run early: before applying, as if it had planned nothing; later, with its remaining rows skipped. */
  private async abandon(checkpoint: Checkpoint, end: 'stop' | 'fail', reason: Reason | null): Promise<void> {
    const run = await this.current(checkpoint);
    checkpoint.end();
    if (run.state !== 'applying') {
      await this.rows.deleteAll(run.id, (write) => checkpoint.commit(write));
      const none = { counts: null, guards: [], missing_reported: 0, missing_blocked: 0, batches: 0 };
      return this.finish(checkpoint, end, async () => ({ ...none, reason }));
    }
    await this.tryKeepCells(run, checkpoint);
    // In one transaction, because half of it would look like a run that still has rows to apply.
    await this.finish(checkpoint, end, async (tx) => {
      await this.rows.skipBehind(tx, run.id, run.applied_batches);
      return { ...(await this.result(run, tx)), reason };
    });
  }

  /** Stores the cells of failed rows if the file can still be read. */
  private async tryKeepCells(run: ImportRun, checkpoint: Checkpoint): Promise<void> {
    try {
      await this.failedRows.keepCells(run, checkpoint);
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      this.log.fault(run.id, toProblemError(error).code, error);
    }
  }

  private async finish(
    checkpoint: Checkpoint,
    end: TransitionName,
    result: (tx: Sql) => Promise<RunChange>,
  ): Promise<void> {
    await checkpoint.commit(async (tx, run) => this.transitions.transition(tx, run, end, await result(tx)));
    const { runId } = checkpoint;
    // The run has ended. If its file cannot be deleted, the next purge deletes it.
    await this.files.delete(runId).catch((error: unknown) => {
      this.log.fault(runId, toProblemError(error).code, error);
    });
    this.log.event('import', { run: runId, state: TRANSITIONS[end].to });
  }
}

function reasonOf({ code, message, line, others }: FileError): Reason {
  return {
    code,
    message,
    ...(line !== undefined && { line }),
    ...(others.length > 0 && { others: [...others] }),
  };
}
