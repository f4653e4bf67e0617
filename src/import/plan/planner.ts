import { Injectable } from '@nestjs/common';
import { UserDirectory } from '../../users/directory/user-directory.service.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { type ImportRun, type RunChange, callerOf, userScopeOf } from '../runs/import-run.js';
import type { Checkpoint } from '../runs/checkpoint.js';
import { FilePlanner } from './file-planner.js';
import { GuardSettings, guardsOf } from './guards.js';
import { MissingUsers } from './missing.js';
import { PlanBuilder } from './plan-builder.js';
import { RevertPlanner } from './revert-planner.js';

/** The result of planning a run. */
export type Plan = Required<
  Pick<RunChange, 'rowsDone' | 'rowsTotal' | 'counts' | 'missing' | 'guards' | 'planHash' | 'batches'>
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
    const builder = new PlanBuilder(checkpoint, this.rows, this.directory);
    const original = run.reverts === null ? undefined : await this.runs.find(run.reverts);
    if (original) await this.reverts.plan(original, run.rowsTotal ?? 0, builder, callerOf(run).actor);
    else await this.files.plan(run, builder);
    await builder.resolve();
    const missing = original ? 0 : await this.missing.plan(run, builder);
    return this.sumUp(run, builder, missing);
  }

  private async sumUp(run: ImportRun, builder: PlanBuilder, missing: number): Promise<Plan> {
    const counts = await builder.counts();
    const [last] = await this.runs.inScope(userScopeOf(run), ['completed', 'completed_with_errors'], 1);
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
      rowsDone: builder.tally.rows,
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
