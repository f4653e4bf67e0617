import { Injectable } from '@nestjs/common';
import { readPages } from '../../platform/database/keyset-pages.js';
import { UserDirectory, type ManagedUser } from '../../users/search/user-directory.service.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { type ImportRun, RunProgress, callerOf, userScopeOf } from '../runs/import-run.js';
import type { Checkpoint } from '../runs/run-transitions.service.js';
import { FilePlanner } from './file-planner.js';
import { PlannedChanges } from './compact-collections.js';
import { PlanGuards } from '../guards/plan-guards.service.js';
import { PlanBuilder } from './plan-builder.js';
import { RevertPlanner } from './revert-planner.js';
import { Changes, NO_CHANGES } from '../../platform/common/field-changes.js';
import { isInScope } from '../../users/search/user-scope.js';
import { type StagedRow, EMPTY_ROW } from '../runs/import-row.js';

const PAGE_SIZE = 1000;

/** Number of active users in each part of the data set who are not in the file. The empty string stands for no part. */
type UnlistedCounts = ReadonlyMap<string, number>;

const sumCounts = (unlisted: UnlistedCounts): number =>
  [...unlisted.values()].reduce((sum, count) => sum + count, 0);

/** Plans a run and stages its rows. Deletes the staged rows of an earlier attempt. Does not change users. */
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
   * Plans a run, which imports a file or reverts another run.
   * @param run the run as it was before this attempt. `started` is set if an earlier attempt may have staged rows.
   * @throws FileError if the whole file is rejected.
   */
  async plan(run: ImportRun, checkpoint: Checkpoint) {
    // Delete the rows in transactions that check the lease, because another worker may already plan this run.
    if (run.started !== null) await this.rows.deleteAll(run.id, (chunk) => checkpoint.commit(chunk));
    const builder = new PlanBuilder(checkpoint, this.rows, this.directory, new RunProgress(run));
    const original = run.reverts === null ? undefined : await this.runs.find(run.reverts);
    return original ? this.planRevert(run, original, builder) : this.planFile(run, builder);
  }

  /** Plans a revert. Guards do not check it, because an operator has reviewed the original run. */
  private async planRevert(run: ImportRun, original: ImportRun, builder: PlanBuilder) {
    await this.reverts.plan(original, run.rows_total ?? 0, builder, callerOf(run).actor);
    await builder.finalize();
    const none = { missing_reported: 0, missing_blocked: 0, guards: [], line_ended: null };
    return { ...(await builder.summarize()), ...none };
  }

  private async planFile(run: ImportRun, builder: PlanBuilder) {
    const past = await this.guards.past(run);
    if (past.lastChanging || past.reverts.length > 0) builder.tally.changes = new PlannedChanges();
    const lineEnded = await this.files.plan(run, builder, past.last);
    await builder.finalize();
    const { tally } = builder;
    // The count reads all users of the data set. No guard needs it for a plan that changes no user.
    const isUnchanged = run.options.missing === 'keep' && tally.unchanged === tally.rows;
    const left: UnlistedCounts = isUnchanged ? new Map() : await this.countUnlisted(run, builder);
    const missing = await this.planMissing(run, left, builder);
    const elsewhere =
      run.options.part === undefined ? 0 : sumCounts(left) - (left.get(run.options.part) ?? 0);
    const summary = await builder.summarize();
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

  private async countUnlisted({ dataset }: ImportRun, { tally }: PlanBuilder): Promise<UnlistedCounts> {
    const managed = await this.directory.countByPart(dataset);
    return new Map(
      [...managed].map(([part, count]) => [part, Math.max(0, count - (tally.listed.get(part) ?? 0))]),
    );
  }

  /** Counts the missing users. Also stages them if the options report or block missing users. */
  private async planMissing(run: ImportRun, unlisted: UnlistedCounts, builder: PlanBuilder): Promise<number> {
    const { part, missing } = run.options;
    const fewer = part === undefined ? sumCounts(unlisted) : (unlisted.get(part) ?? 0);
    if (fewer === 0 || missing === 'keep') return fewer;
    const scope = userScopeOf(run);
    let count = 0;
    const readUsers = (after: string) => this.directory.listManaged(scope, after, PAGE_SIZE);
    for await (const users of readPages('', ({ uuid }) => uuid, readUsers)) {
      const gone = users.filter(
        (user) =>
          isInScope(scope, { managed_by: run.dataset, managed_part: user.managed_part }) &&
          isMissing(user, builder),
      );
      const rows = gone.map((user, index) =>
        createMissingRow(user, -(count + index + 1), run.dataset, missing === 'block'),
      );
      for (const row of rows) builder.tally.print(row);
      await builder.stageRows(rows, { rows_done: builder.tally.rows, percent: 99 });
      count += gone.length;
    }
    return count;
  }
}

function isMissing(user: ManagedUser, { externalIds, failedNames }: PlanBuilder): boolean {
  if (user.status !== 'Active' || externalIds.findLine(user.external_id) !== 0) return false;
  return !failedNames.has(user) && !user.isWebmaster;
}

/** Returns the staged row of a missing user. `blocked_by` allows a later run to reactivate a blocked user. */
function createMissingRow(user: ManagedUser, line: number, dataset: string, block: boolean): StagedRow {
  const changes = Changes.fromList([
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
