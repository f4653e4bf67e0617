import { Injectable } from '@nestjs/common';
import { type ImportRun, RUNNABLE, type RunState, WAITING } from '../runs/import-run.js';
import { ImportSummaryRepository } from '../runs/import-summary.repository.js';

/** More than these nobody looks at on one page. */
export const MAX_DATASETS = 100;
const COMPLETED: readonly RunState[] = ['completed', 'completed_with_errors'];

/** The last runs of a data set. */
export interface DatasetSummary {
  dataset: string;
  last_run: ImportRun;
  /** null where none is left. */
  last_completed: ImportRun | null;
}

/** What operators want to see of all imports at once. */
@Injectable()
export class ImportSummary {
  constructor(private readonly repository: ImportSummaryRepository) {}

  /** The data sets with their last runs, by name: the first hundred. */
  async datasets(): Promise<DatasetSummary[]> {
    const found: DatasetSummary[] = [];
    for (let name = ''; found.length < MAX_DATASETS;) {
      const next = await this.repository.nextDataset(name);
      if (next === undefined) break;
      const summary = await this.summary(next);
      if (summary) found.push(summary);
      name = next;
    }
    return found;
  }

  /** How many runs wait for a decision, and how many are being worked on or wait for their turn. */
  async open(): Promise<{ needs_approval: number; planned: number; running: number }> {
    const counts = await this.repository.countByState([...WAITING, ...RUNNABLE]);
    const of = (state: RunState) => counts.get(state) ?? 0;
    const running = RUNNABLE.reduce((sum, state) => sum + of(state), 0);
    return { needs_approval: of('needs_approval'), planned: of('planned'), running };
  }

  private async summary(dataset: string): Promise<DatasetSummary | undefined> {
    const newest = await this.repository.newest(dataset);
    const last = latest(newest);
    const completed = latest(newest.filter(({ state }) => COMPLETED.includes(state)));
    if (last === undefined) return undefined; // deleted in the meantime
    const runs = await this.repository.runs([last, completed ?? last]);
    const run = runs.find(({ id }) => id === last);
    const lastCompleted = runs.find(({ id }) => id === completed) ?? null;
    return run && { dataset, last_run: run, last_completed: lastCompleted };
  }
}

/** Ids are in the order of arrival. */
const latest = (runs: readonly { id: string }[]): string | undefined =>
  runs
    .map(({ id }) => id)
    .sort()
    .at(-1);
