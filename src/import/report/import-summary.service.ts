import { Injectable } from '@nestjs/common';
import type { ImportRun } from '../runs/import-run.js';
import { COMPLETED, RUNNABLE, type RunState, WAITING } from '../runs/run-states.js';
import { Env } from '../../platform/config/env.js';
import { type DbTime, now, addSeconds } from '../../platform/common/time.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';

export const MAX_DATASETS = 100;

export interface DatasetSummary {
  dataset: string;
  last_run: ImportRun;
  /** Null if no completed run is stored. */
  last_completed: ImportRun | null;
}

/** Overview of all imports for operators. */
@Injectable()
export class ImportSummary {
  constructor(
    private readonly env: Env,
    private readonly runs: ImportRunsRepository,
  ) {}

  async listDatasets(): Promise<DatasetSummary[]> {
    const found: DatasetSummary[] = [];
    for (let name = ''; found.length < MAX_DATASETS;) {
      const next = await this.runs.findNextDataset(name);
      if (next === undefined) break;
      const summary = await this.summarize(next);
      if (summary) found.push(summary);
      name = next;
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

  /** Returns true if no import has completed within IMPORT_OVERDUE_HOURS, or undefined without this setting. */
  async isOverdue(): Promise<boolean | undefined> {
    if (this.env.IMPORT_OVERDUE_HOURS === undefined) return undefined;
    return this.isTooLongAgo(await this.findLastCompleted());
  }

  /**
   * Returns true if the last completed import is older than IMPORT_OVERDUE_HOURS, or `lastCompleted` is null. Returns false
   * without this setting.
   */
  isTooLongAgo(lastCompleted: DbTime | null): boolean {
    const hours = this.env.IMPORT_OVERDUE_HOURS;
    return (
      hours !== undefined && (lastCompleted === null || lastCompleted < addSeconds(now(), -hours * 60 * 60))
    );
  }

  async findLastCompleted(): Promise<DbTime | null> {
    return this.runs.findLastCompletion();
  }

  async countParkedRuns(): Promise<number> {
    return (await this.countOpenRuns()).needs_approval;
  }

  private async summarize(dataset: string): Promise<DatasetSummary | undefined> {
    const newest = await this.runs.listNewestByState(dataset);
    const last = findNewestId(newest);
    const completed = findNewestId(newest.filter(({ state }) => COMPLETED.includes(state)));
    // The runs of this data set were deleted in the meantime.
    if (last === undefined) return undefined;
    const runs = await this.runs.findByIds([last, completed ?? last]);
    const run = runs.find(({ id }) => id === last);
    const completedRun = runs.find(({ id }) => id === completed) ?? null;
    return run && { dataset, last_run: run, last_completed: completedRun };
  }
}

/** Returns the id of the newest run. The ids of runs sort by creation time. */
const findNewestId = (runs: readonly { id: string }[]): string | undefined =>
  runs
    .map(({ id }) => id)
    .sort()
    .at(-1);
