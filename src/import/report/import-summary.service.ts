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
    const [last] = newest;
    const completed = newest.find(({ state }) => COMPLETED.includes(state));
    const last_run = last && (await this.runs.find(last.id));
    const last_completed = (completed && (await this.runs.find(completed.id))) ?? null;
    // If no run is left, the runs of this data set were deleted in the meantime.
    return last_run && { dataset, last_run, last_completed };
  }
}
