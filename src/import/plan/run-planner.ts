import { Injectable } from '@nestjs/common';
import { readPages } from '../../platform/database/keyset-pages.js';
import { UserDirectory, type Managed } from '../../users/search/user-directory.service.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { type ImportRun, RunProgress, callerOf, userScopeOf } from '../runs/import-run.js';
import type { Checkpoint } from '../runs/run-transitions.service.js';
import { FilePlanner } from './file-planner.js';
import { ChangeSet } from './packed-numbers.js';
import { PlanGuards } from '../guards/plan-guards.service.js';
import { PlanBuilder } from './plan-builder.js';
import { RevertPlanner } from './revert-planner.js';
import { Changes, NO_CHANGES } from '../../platform/common/field-changes.js';
import { covers } from '../../users/search/user-scope.js';
import { type StagedRow, EMPTY_ROW } from '../runs/import-row.js';

/** The result of planning a run: what changes of it. */
export type Plan = Awaited<ReturnType<RunPlanner['plan']>>;

/** Users of a data set that are searched at once. */
const PAGE = 1000;

/** Part ('' for none) → active users of a data set that a file does not name. */
type Left = ReadonlyMap<string, number>;

const sumOf = (left: Left): number => [...left.values()].reduce((sum, count) => sum + count, 0);

/** Plans a run from the beginning: nothing of an earlier attempt remains, and no user changes. */
@Injectable()
export class RunPlanner {
  constructor(
    private readonly rows: ImportRowsRepository,
    private readonly runs: ImportRunsRepository,
    private readonly directory: UserDirectory,
    private readonly files: FilePlanner,
    private readonly reverts: RevertPlanner,
    private readonly guards: PlanGuards,
  ) {}

  /**
   * @param run as it was before this attempt: `started` is set when an earlier attempt may have left rows.
   * @throws FileError where the file is refused as a whole.
   */
  async plan(run: ImportRun, checkpoint: Checkpoint) {
    // In transactions that check the lease: another worker may have planned this run meanwhile.
    if (run.started !== null) await this.rows.deleteAll(run.id, (chunk) => checkpoint.commit(chunk));
    const builder = new PlanBuilder(checkpoint, this.rows, this.directory, new RunProgress(run));
    const original = run.reverts === null ? undefined : await this.runs.find(run.reverts);
    return original ? this.planRevert(run, original, builder) : this.planFile(run, builder);
  }

  /** A revert is an operator's own decision about a run that has been seen: it has no guards. */
  private async planRevert(run: ImportRun, original: ImportRun, builder: PlanBuilder) {
    await this.reverts.plan(original, run.rows_total ?? 0, builder, callerOf(run).actor);
    await builder.resolve();
    const none = { missing_reported: 0, missing_blocked: 0, guards: [], line_ended: null };
    return { ...(await builder.summary()), ...none };
  }

  private async planFile(run: ImportRun, builder: PlanBuilder) {
    const past = await this.guards.past(run);
    if (past.lastChanging || past.reverts.length > 0) builder.tally.changes = new ChangeSet();
    const lineEnded = await this.files.plan(run, builder, past.last);
    await builder.resolve();
    const left = await this.countLeft(run, builder);
    const missing = await this.planMissing(run, left, builder);
    const elsewhere = run.options.part === undefined ? 0 : sumOf(left) - (left.get(run.options.part) ?? 0);
    const summary = await builder.summary();
    const { counts } = summary;
    const { missing: mode } = run.options;
    return {
      ...summary,
      missing_reported: mode === 'keep' ? 0 : missing,
      missing_blocked: mode === 'block' ? missing : 0,
      guards: await this.guards.evaluate(run, past, { counts, missing, elsewhere, tally: builder.tally }),
      line_ended: lineEnded,
    };
  }

  /** Counts the active users of each part of the data set that the file does not name, so far as counts tell. */
  private async countLeft({ dataset }: ImportRun, { tally }: PlanBuilder): Promise<Left> {
    const managed = await this.directory.countManaged(dataset);
    return new Map(
      [...managed].map(([part, count]) => [part, Math.max(0, count - (tally.listed.get(part) ?? 0))]),
    );
  }

  /**
   * Counts the active users that the data set of a run manages and its file lacks. They are searched only where the options want
   * them listed or blocked, and the file has fewer users than the data set: a change of a user while the file is read may
   * hide one of them from this run, not from the next.
   */
  private async planMissing(run: ImportRun, left: Left, builder: PlanBuilder): Promise<number> {
    const { part, missing } = run.options;
    const fewer = part === undefined ? sumOf(left) : (left.get(part) ?? 0);
    return fewer === 0 || missing === 'keep' ? fewer : this.stageMissing(run, builder);
  }

  /** Stages the missing users. @returns how many there are. */
  private async stageMissing(run: ImportRun, builder: PlanBuilder): Promise<number> {
    const scope = userScopeOf(run);
    let count = 0;
    const read = (after: string) => this.directory.managed(scope, after, PAGE);
    for await (const users of readPages('', ({ uuid }) => uuid, read)) {
      const gone = users.filter(
        (user) =>
          covers(scope, { managed_by: run.dataset, managed_part: user.managed_part }) &&
          isMissing(user, builder),
      );
      const rows = gone.map((user, index) =>
        missingRow(user, -(count + index + 1), run.dataset, run.options.missing === 'block'),
      );
      for (const row of rows) builder.tally.print(row);
      await builder.stage(rows, { rows_done: builder.tally.rows, percent: 99 });
      count += gone.length;
    }
    return count;
  }
}

/** A Webmaster is never missing. */
function isMissing(user: Managed, { externalIds, failedNames }: PlanBuilder): boolean {
  if (user.status !== 'Active' || externalIds.lineOf(user.external_id) !== 0) return false;
  return !failedNames.has(user) && !user.isWebmaster;
}

/** A blocked user is let go, so that another data set may take it up; the mark tells that it may return. */
function missingRow(user: Managed, line: number, dataset: string, block: boolean): StagedRow {
  const changes = Changes.of([
    { field: 'status', old: 'Active', new: 'Blocked' },
    { field: 'managed_by', old: dataset, new: null },
    ...(user.managed_part === null ? [] : [{ field: 'managed_part', old: user.managed_part, new: null }]),
    { field: 'blocked_by', old: null, new: dataset },
  ]);
  const { external_id, uuid: user_uuid, version } = user;
  return {
    ...EMPTY_ROW,
    line,
    outcome: 'missing',
    external_id,
    user_uuid,
    version,
    changes: block ? changes : NO_CHANGES,
  };
}
