import { Injectable } from '@nestjs/common';
import { UserDirectory } from '../../users/directory/user-directory.service.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { type ImportRun, type RunChange, callerOf, userScopeOf } from '../runs/import-run.js';
import type { Checkpoint } from '../runs/checkpoint.js';
import { RunProgress } from '../runs/run-progress.js';
import { FilePlanner } from './file-planner.js';
import { GuardSettings, guardsOf } from './guards.js';
import { MissingUsers } from './missing.js';
import { PlanBuilder } from './plan-builder.js';
import { RevertPlanner } from './revert-planner.js';

/** The result of planning a run. */
export type Plan = Required<
  Pick<
    RunChange,
    | 'rowsDone'
    | 'percent'
    | 'rowsTotal'
    | 'counts'
    | 'missing'
    | 'guards'
    | 'planHash'
    | 'batches'
    | 'lineEnded'
  >
>;

/** Plans a run from the beginning: nothing of an earlier attempt remains, and no user changes. */
@Injectable()
export class Planner {
  constructor(
    private readonly rows: ImportRowsRepository,
    private readonly runs: ImportRunsRepository,
    private readonly directory: UserDirectory,
    private readonly files: FilePlanner,
    private readonly reverts: RevertPlanner,
    private readonly missing: MissingUsers,
    private readonly limits: GuardSettings,
  ) {}

  /** @throws FileError where the file is refused as a whole. */
  async plan(run: ImportRun, checkpoint: Checkpoint): Promise<Plan> {
    // In transactions that check the lease: another worker may have planned this run meanwhile.
    await this.rows.deleteAll(run.id, (chunk) => checkpoint.commit(chunk));
    const builder = new PlanBuilder(checkpoint, this.rows, this.directory, new RunProgress(run));
    const original = run.reverts === null ? undefined : await this.runs.find(run.reverts);
    let lineEnded: boolean | null = null;
    if (original) await this.reverts.plan(original, run.rowsTotal ?? 0, builder, callerOf(run).actor);
    else lineEnded = await this.files.plan(run, builder, await this.lastOf(run));
    await builder.resolve();
    const missing = original ? 0 : await this.missing.plan(run, builder);
    return { ...(await this.sumUp(run, builder, missing)), lineEnded };
  }

  /** The last completed run of the data set and part. */
  private async lastOf(run: ImportRun): Promise<ImportRun | undefined> {
    return (await this.runs.inScope(userScopeOf(run), ['completed', 'completed_with_errors'], 1))[0];
  }

  private async sumUp(
    run: ImportRun,
    builder: PlanBuilder,
    missing: number,
  ): Promise<Omit<Plan, 'lineEnded'>> {
    const counts = await builder.counts();
    const last = await this.lastOf(run);
    const { missing: mode } = run.options;
    const numbers = builder.tally.numbers({
      errors: counts.error,
      blocked: counts.blocked,
      reactivations: counts.reactivated,
      missing,
      missingBlocked: mode === 'block' ? missing : 0,
      lastRows: last?.rowsTotal ?? null,
    });
    return {
      ...builder.planned(),
      rowsTotal: builder.tally.rows,
      counts,
      missing: { reported: mode === 'keep' ? 0 : missing, blocked: mode === 'block' ? missing : 0 },
      // A revert is an operator's own decision about a run that has been seen.
      guards: run.reverts === null ? guardsOf(numbers, this.limits, mode) : [],
      planHash: builder.tally.fingerprint(),
      batches: builder.batches,
    };
  }
}
