import { Injectable } from '@nestjs/common';
import type { ImportRun } from '../runs/import-run.js';
import { COMPLETED, RUNNABLE, type RunState, WAITING } from '../runs/run-states.js';
import { Env } from '../../platform/config/env.js';
import { type DbTime, now, secondsFrom } from '../../platform/common/time.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';

/** Data sets of one page. */
export const MAX_DATASETS = 100;

/** The last runs of a data set. */
export interface DatasetSummary {
  dataset: string;
  last_run: ImportRun;
  /** null where none is left. */
  last_completed: ImportRun | null;
}

/** What operators see of all imports at once. */
@Injectable()
export class ImportSummary {
  constructor(
    private readonly env: Env,
    private readonly runs: ImportRunsRepository,
  ) {}

  /** The data sets with their last runs, by name: the first hundred. */
  async datasets(): Promise<DatasetSummary[]> {
    const found: DatasetSummary[] = [];
    for (let name = ''; found.length < MAX_DATASETS;) {
      const next = await this.runs.nextDataset(name);
      if (next === undefined) break;
      const summary = await this.summary(next);
      if (summary) found.push(summary);
      name = next;
    }
    return found;
  }

  /** How many runs wait for a decision, and how many are being worked on or queued. */
  async open(): Promise<{ needs_approval: number; planned: number; running: number }> {
    const counts = await this.runs.countByState([...WAITING, ...RUNNABLE]);
    const of = (state: RunState) => counts.get(state) ?? 0;
    const running = RUNNABLE.reduce((sum, state) => sum + of(state), 0);
    return { needs_approval: of('needs_approval'), planned: of('planned'), running };
  }

  /** Returns whether no import has completed within IMPORT_OVERDUE_HOURS; undefined when that is not set. */
  async isOverdue(): Promise<boolean | undefined> {
    if (this.env.IMPORT_OVERDUE_HOURS === undefined) return undefined;
    return this.isOverdueSince(await this.lastCompleted());
  }

  /** Returns whether imports are overdue, given when the last import completed. False where IMPORT_OVERDUE_HOURS is not set. */
  isOverdueSince(last: DbTime | null): boolean {
    const hours = this.env.IMPORT_OVERDUE_HOURS;
    return hours !== undefined && (last === null || last < secondsFrom(now(), -hours * 60 * 60));
  }

  /** When the last import completed. */
  async lastCompleted(): Promise<DbTime | null> {
    return this.runs.lastCompleted();
  }

  /** Imports that wait for an operator. */
  async countParked(): Promise<number> {
    return (await this.open()).needs_approval;
  }

  private async summary(dataset: string): Promise<DatasetSummary | undefined> {
    const newest = await this.runs.newest(dataset);
    const last = latest(newest);
    const completed = latest(newest.filter(({ state }) => COMPLETED.includes(state)));
    if (last === undefined) return undefined; // deleted in the meantime
    const runs = await this.runs.runs([last, completed ?? last]);
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
