import { Injectable } from '@nestjs/common';
import { Changes, NO_CHANGES } from '../../platform/common/changes.js';
import { type Managed, UserDirectory } from '../../users/search/user-directory.service.js';
import { covers } from '../../users/search/user-scope.js';
import { type ImportRun, userScopeOf } from '../runs/import-run.js';
import { type StagedRow, stagedRow } from '../runs/import-row.js';
import type { PlanBuilder } from './plan-builder.js';

const PAGE = 1000;

/** Part ('' for none) → active users of a data set that a file does not name. */
export type Left = ReadonlyMap<string, number>;

export const sumOf = (left: Left): number => [...left.values()].reduce((sum, count) => sum + count, 0);

/** Active users that the data set of a run manages and its file lacks. A Webmaster is never one of them. */
@Injectable()
export class MissingUsers {
  constructor(private readonly directory: UserDirectory) {}

  /** Those of each part that the file does not name, so far as counts tell. */
  async left({ dataset }: ImportRun, { tally }: PlanBuilder): Promise<Left> {
    const managed = await this.directory.countManaged(dataset);
    return new Map(
      [...managed].map(([part, count]) => [part, Math.max(0, count - (tally.listed.get(part) ?? 0))]),
    );
  }

  /**
   * Stages them where the options want them listed or blocked. They are searched only where the file has fewer users than
   * the data set: a change of a user while the file is read may hide one of them from this run, not from the next.
   * @returns how many there are.
   */
  async plan(run: ImportRun, left: Left, builder: PlanBuilder): Promise<number> {
    const { missing } = run.options;
    const scope = userScopeOf(run);
    const fewer = scope.part === null ? sumOf(left) : (left.get(scope.part) ?? 0);
    if (fewer === 0 || missing === 'keep') return fewer;
    let count = 0;
    let after = '';
    for (;;) {
      const users = await this.directory.managed(scope, after, PAGE);
      const gone = users.filter(
        (user) =>
          covers(scope, { managed_by: run.dataset, managed_part: user.managed_part }) &&
          isMissing(user, builder),
      );
      const rows = gone.map((user, index) =>
        toRow(user, -(count + index + 1), run.dataset, missing === 'block'),
      );
      for (const row of rows) builder.tally.print(row);
      await builder.stage(rows, { rowsDone: builder.tally.rows, percent: 99 });
      count += gone.length;
      const last = users.at(-1);
      if (!last) return count;
      after = last.uuid;
    }
  }
}

function isMissing(user: Managed, { externalIds, failedNames }: PlanBuilder): boolean {
  if (user.status !== 'Active' || externalIds.lineOf(user.external_id) !== 0) return false;
  return !failedNames.has(user) && !user.isWebmaster;
}

/** A blocked user is let go, so that another data set may take it up; the mark tells that it may return. */
function toRow(user: Managed, line: number, dataset: string, block: boolean): StagedRow {
  const changes = Changes.of([
    { field: 'status', old: 'Active', new: 'Blocked' },
    { field: 'managed_by', old: dataset, new: null },
    ...(user.managed_part === null ? [] : [{ field: 'managed_part', old: user.managed_part, new: null }]),
    { field: 'blocked_by', old: null, new: dataset },
  ]);
  const { external_id: externalId, uuid: userUuid, version } = user;
  return stagedRow({
    line,
    outcome: 'missing',
    externalId,
    userUuid,
    version,
    changes: block ? changes : NO_CHANGES,
  });
}
