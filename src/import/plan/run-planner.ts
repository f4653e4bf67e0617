import { Injectable } from '@nestjs/common';
import { UserDirectory, type ManagedUser } from '../../users/search/user-directory.service.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { type ImportRun, callerOf, userScopeOf } from '../runs/import-run.js';
import type { Checkpoint } from '../runs/run-transitions.service.js';
import type { BulkChange } from '../runs/bulk-change.input.js';
import { BulkPlanner } from './bulk-planner.js';
import { hasAnyOther } from '../mapping/record-mapper.js';
import { FilePlanner } from './file-planner.js';
import { PlanGuards } from '../guards/plan-guards.service.js';
import { PlanBuilder } from './plan-builder.js';
import { RevertPlanner } from './revert-planner.js';
import { Changes, NO_CHANGES } from '../../platform/common/field-changes.js';
import { type StagedRow, createUserRow } from '../runs/import-row.js';

const NO_FILE = { missing_reported: 0, missing_blocked: 0, line_ended: null, words: null };

/** Plans a run and stages its rows. Deletes the staged rows of an earlier attempt. Does not change users. */
@Injectable()
export class RunPlanner {
  constructor(
    private readonly rows: ImportRowsRepository,
    private readonly runs: ImportRunsRepository,
    private readonly directory: UserDirectory,
    private readonly files: FilePlanner,
    private readonly reverts: RevertPlanner,
    private readonly bulkChanges: BulkPlanner,
    private readonly guards: PlanGuards,
  ) {}

  /**
   * Plans a run, which imports a file, changes selected users or reverts another run.
   * @param run the run as it was before this attempt. `started` is set if an earlier attempt may have staged rows.
   * @throws FileError if the whole file is rejected.
   */
  async plan(run: ImportRun, checkpoint: Checkpoint) {
    // Delete the rows in transactions that check the lease, because another worker may already plan this run.
    // The rows of a planned bulk change are replaced one by one, because they hold its users.
    const { bulk, reverts } = run;
    const isBulk = bulk !== null && reverts === null;
    if (run.started !== null && !(isBulk && run.plan_hash !== null))
      await this.rows.deleteAll(run.id, (chunk) => checkpoint.commit(chunk));
    const builder = new PlanBuilder(run, checkpoint, this.rows, this.directory);
    if (isBulk) return this.planBulkChange(run, bulk, builder);
    const original = reverts === null ? undefined : await this.runs.find(reverts);
    return original ? this.planRevert(run, original, builder) : this.planFile(run, builder);
  }

  /** Plans a revert. Guards do not check it, because an operator has reviewed the original run. */
  private async planRevert(run: ImportRun, original: ImportRun, builder: PlanBuilder) {
    await this.reverts.plan(original, run.rows_total ?? 0, builder, callerOf(run).actor);
    await builder.finalize();
    return { ...(await builder.summarize()), ...NO_FILE, guards: [] };
  }

  private async planBulkChange(run: ImportRun, bulk: BulkChange, builder: PlanBuilder) {
    await this.bulkChanges.plan(run, bulk, builder);
    await builder.finalize();
    const summary = await builder.summarize();
    const guards = await this.guards.evaluateBulkChange(run, summary.rows_total);
    return { ...summary, ...NO_FILE, guards, bulk: { ...bulk, uuids: [] } };
  }

  private async planFile(run: ImportRun, builder: PlanBuilder) {
    const past = await this.guards.findPast(run);
    const { lineEnded, users, words } = await this.files.plan(
      run,
      builder,
      run.corrects === null ? past.last : undefined,
    );
    await builder.finalize();
    const { tally } = builder;
    // The count reads all users of the data set. No guard needs it for a plan that changes no user.
    const isUnchanged = run.options.missing === 'keep' && tally.unchanged === tally.rows;
    const unlisted = isUnchanged ? 0 : await this.countUnlisted(run, builder);
    const missing = await this.planMissing(run, unlisted, builder);
    const summary = await builder.summarize();
    const { missing: mode } = run.options;
    const scope = { users: users.count + unlisted, active: users.active + unlisted };
    return {
      ...summary,
      missing_reported: mode === 'keep' ? 0 : missing,
      missing_blocked: mode === 'block' ? missing : 0,
      guards: await this.guards.evaluate(run, { rows: tally.rows, users, scope, words, past }),
      line_ended: lineEnded,
      words: hasAnyOther(run.profile) ? words.mergeInto(past.knownWords ?? {}) : null,
    };
  }

  /** Counts the active users of the data set and part who are not in the file. */
  private async countUnlisted(
    { dataset, options: { part } }: ImportRun,
    { tally }: PlanBuilder,
  ): Promise<number> {
    const managed = await this.directory.countByPart(dataset);
    let count = 0;
    for (const [name, users] of managed)
      if (part === undefined || name === part) count += Math.max(0, users - (tally.listed.get(name) ?? 0));
    return count;
  }

  /** Counts the missing users. Also stages them if the options report or block missing users. */
  private async planMissing(run: ImportRun, unlisted: number, builder: PlanBuilder): Promise<number> {
    const { missing } = run.options;
    if (unlisted === 0 || missing === 'keep') return unlisted;
    let count = 0;
    for await (const users of this.directory.readActive(userScopeOf(run))) {
      const gone = users.filter((user) => isMissing(user, builder));
      const rows = gone.map((user, index) =>
        createMissingRow(user, -(count + index + 1), run.dataset, missing === 'block'),
      );
      for (const row of rows) builder.tally.print(row);
      await builder.stageRows(rows, 1);
      count += gone.length;
    }
    return count;
  }
}

function isMissing(user: ManagedUser, { externalIds, failedNames }: PlanBuilder): boolean {
  return externalIds.findLine(user.external_id) === 0 && !failedNames.has(user) && !user.isWebmaster;
}

/** Returns the staged row of a missing user. `blocked_by` allows a later run to reactivate a blocked user. */
function createMissingRow(user: ManagedUser, line: number, dataset: string, block: boolean): StagedRow {
  const changes = Changes.fromList([
    { field: 'status', old: 'Active', new: 'Blocked' },
    { field: 'managed_by', old: dataset, new: null },
    ...(user.managed_part === null ? [] : [{ field: 'managed_part', old: user.managed_part, new: null }]),
    { field: 'blocked_by', old: null, new: dataset },
  ]);
  return createUserRow(line, 'missing', user, { changes: block ? changes : NO_CHANGES });
}
