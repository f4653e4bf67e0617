import { Injectable } from '@nestjs/common';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { type ImportRun, type RunChange, callerOf } from '../runs/import-run.js';
import type { Checkpoint } from '../runs/checkpoint.js';
import { RunProgress } from '../runs/run-progress.js';
import { FilePlanner } from './file-planner.js';
import { ChangeSet } from './change-set.js';
import { type Past, PlanGuards } from '../guards/plan-guards.service.js';
import { MissingUsers, sumOf } from './missing.js';
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
    private readonly guards: PlanGuards,
  ) {}

  /** @throws FileError where the file is refused as a whole. */
  async plan(run: ImportRun, checkpoint: Checkpoint): Promise<Plan> {
    // In transactions that check the lease: another worker may have planned this run meanwhile.
    await this.rows.deleteAll(run.id, (chunk) => checkpoint.commit(chunk));
    const builder = new PlanBuilder(checkpoint, this.rows, this.directory, new RunProgress(run));
    const original = run.reverts === null ? undefined : await this.runs.find(run.reverts);
    // A revert is an operator's own decision about a run that has been seen: it has no guards.
    const past = original ? undefined : await this.guards.past(run);
    if (past && (past.lastChanging || past.reverts.length > 0)) builder.tally.changes = new ChangeSet();
    let lineEnded: boolean | null = null;
    if (original) await this.reverts.plan(original, run.rowsTotal ?? 0, builder, callerOf(run).actor);
    else lineEnded = await this.files.plan(run, builder, past?.last);
    await builder.resolve();
    if (!past) return { ...(await this.sumUp(run, builder)), lineEnded };
    const left = await this.missing.left(run, builder);
    const missing = await this.missing.plan(run, left, builder);
    const elsewhere = run.options.part === undefined ? 0 : sumOf(left) - (left.get(run.options.part) ?? 0);
    return { ...(await this.sumUp(run, builder, { past, missing, elsewhere })), lineEnded };
  }

  private async sumUp(
    run: ImportRun,
    builder: PlanBuilder,
    absent?: { past: Past; missing: number; elsewhere: number },
  ): Promise<Omit<Plan, 'lineEnded'>> {
    const { tally, batches } = builder;
    const counts = await builder.counts();
    const { missing: mode } = run.options;
    const missing = absent?.missing ?? 0;
    return {
      ...builder.planned(),
      rowsTotal: tally.rows,
      counts,
      missing: { reported: mode === 'keep' ? 0 : missing, blocked: mode === 'block' ? missing : 0 },
      guards: absent ? await this.guards.evaluate(run, absent.past, { ...absent, counts, tally }) : [],
      planHash: tally.fingerprint(),
      batches,
    };
  }
}
