import { Injectable } from '@nestjs/common';
import type { ImportRun } from '../runs/import-run.js';
import { RUNNABLE, type RunState, WAITING } from '../runs/run-states.js';
import { Env } from '../../platform/config/env.js';
import { type DbTime, HOUR_SECONDS, now, addSeconds, toIso } from '../../platform/common/time.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';

export const MAX_DATASETS = 100;

/** Overview of all imports for operators. */
@Injectable()
export class ImportSummary {
  constructor(
    private readonly env: Env,
    private readonly runs: ImportRunsRepository,
  ) {}

  /** Lists the data sets with their last run and, if one is stored, their last completed run. */
  async listDatasets() {
    const found: { dataset: string; last_run: ImportRun; last_completed: ImportRun | null }[] = [];
    for (const { dataset, last, completed } of await this.runs.listNewestByDataset(MAX_DATASETS)) {
      const last_run = await this.runs.find(last);
      const last_completed = completed === null ? null : ((await this.runs.find(completed)) ?? null);
      // If the last run is gone, all runs of this data set were deleted in the meantime.
      if (last_run) found.push({ dataset, last_run, last_completed });
    }
    return found;
  }

  /** Counts the runs in each open state. `running` includes queued runs. */
  async countOpenRuns(): Promise<{ needs_approval: number; planned: number; running: number }> {
    const counts = await this.runs.countByState([...WAITING, ...RUNNABLE]);
    const getCount = (state: RunState) => counts.get(state) ?? 0;
    const running = RUNNABLE.reduce((sum, state) => sum + getCount(state), 0);
    return { needs_approval: getCount('needs_approval'), planned: getCount('planned'), running };
  }

  /**
   * Finds out whether imports are overdue. Returns undefined without IMPORT_OVERDUE_HOURS. A part of a data set is missing
   * if an import of another part has completed within this time, but none of this part.
   */
  async readOverdue() {
    if (this.env.IMPORT_OVERDUE_HOURS === undefined) return undefined;
    const last = await this.listCompletions();
    const parts = last.flatMap(({ part, ...rest }) => (part === null ? [] : { ...rest, part }));
    const active = new Set(parts.flatMap(({ dataset, isOld }) => (isOld ? [] : dataset)));
    const missing = parts.filter(({ dataset, isOld }) => isOld && active.has(dataset));
    const lastCompleted = last[0]?.finished ?? null;
    const isStale = last.every(({ isOld }) => isOld);
    return {
      isOverdue: isStale || missing.length > 0,
      lastCompleted,
      /** Last time at which no import was overdue, or null. */
      since: isStale ? lastCompleted : (missing[0]?.finished ?? null),
      missingParts: missing
        .slice(0, MAX_DATASETS)
        .map(({ dataset, part, finished }) => ({ dataset, part, last_completed: toIso(finished) })),
    };
  }

  /** Lists the data sets with the time of the last completed import. Reverts do not count as imports. */
  async listDueDatasets() {
    const hasLimit = this.env.IMPORT_OVERDUE_HOURS !== undefined;
    const completions = Map.groupBy(await this.listCompletions(), ({ dataset }) => dataset);
    return (await this.listDatasets()).map(({ dataset, last_run }) => {
      const own = completions.get(dataset) ?? [];
      const isOverdue = hasLimit && (own.length === 0 || own.some(({ isOld }) => isOld));
      return { dataset, last_run, lastCompleted: own[0]?.finished ?? null, isOverdue };
    });
  }

  /** Lists the last completed imports, newest first. `isOld` is true for an import before IMPORT_OVERDUE_HOURS. */
  private async listCompletions() {
    const hours = this.env.IMPORT_OVERDUE_HOURS ?? Infinity;
    const bound = hours === Infinity ? '' : addSeconds(now(), -hours * HOUR_SECONDS);
    return (await this.runs.listLastCompletions()).map((each) => ({ ...each, isOld: each.finished < bound }));
  }

  async findLastCompleted(): Promise<DbTime | null> {
    return (await this.runs.listLastCompletions())[0]?.finished ?? null;
  }
}
