import type { ImportRun } from './import-run.js';

/** What it costs to apply a row, where reading and planning one costs 1. */
const APPLY_COST = 2;

type Progress = Pick<ImportRun, 'percent' | 'rows_done'>;

/**
 * How far a run is, over all its phases: from where it was when the phase began, up to 100. It never goes back, neither
 * when the next phase begins, nor when a plan is made again after a kill or for an approval. `rows_done` is the same share
 * of the rows. While a file is planned, the share of the plan in the whole is estimated from the changes so far: all of
 * it for a dry run, nearly all for a file that changes little.
 */
export class RunProgress {
  private share: number;
  private rows_done: number;
  private readonly from: number;

  constructor(
    private readonly run: Pick<ImportRun, 'percent' | 'rows_done' | 'rows_total' | 'dry_run' | 'approved'>,
  ) {
    this.from = run.percent / 100;
    this.share = this.from;
    this.rows_done = run.rows_done;
  }

  /** @param share of the file that is planned, 0 to 1. @param rows in it. @param changes of them that are to be applied. */
  planned(share: number, rows: number, changes: number): Progress {
    const { dry_run: dryRun, approved, rows_total } = this.run;
    const cost = dryRun && !approved ? 0 : (APPLY_COST * changes) / Math.max(1, rows);
    return this.reach(share / (1 + cost), rows_total ?? (share > 0 ? rows / share : 0));
  }

  /** @param share of the changes that were to be applied when the phase began, or went on after a kill. */
  applied(share: number): Progress {
    return this.reach(share, this.run.rows_total ?? 0);
  }

  private reach(share: number, rows: number): Progress {
    this.share = Math.max(this.share, this.from + (1 - this.from) * share);
    this.rows_done = Math.max(this.rows_done, Math.floor(rows * this.share));
    return { percent: Math.floor(100 * this.share), rows_done: this.rows_done };
  }
}
