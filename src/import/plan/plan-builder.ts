import type { UserDirectory } from '../../users/directory/user-directory.service.js';
import type { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { type Counts, noCounts } from '../runs/import-run.js';
import { type StagedRow, failedRow, isChange } from '../runs/import-row.js';
import type { Work } from '../runs/checkpoint.js';
import { resolveLinks } from './plan-links.js';
import { PlanState } from './plan-state.js';
import { PlanTally } from './plan-tally.js';
import type { JudgedRow } from './row-judge.js';

/** Rows of a batch: what one transaction of the applier writes. */
export const BATCH_ROWS = 500;
const CHUNK = 1000;

/** Takes judged rows, stages those that are not unchanged, and settles in the end what depends on the whole. */
export class PlanBuilder {
  readonly state = new PlanState();
  readonly tally = new PlanTally();
  private changes = 0;
  private lateBatches = 0;

  constructor(
    private readonly work: Work,
    private readonly rows: ImportRowsRepository,
    private readonly directory: UserDirectory,
  ) {}

  /** @param claims rows whose user this data set begins to manage, though nothing else changes. */
  async add(judged: readonly JudgedRow[], claims: ReadonlySet<number>, percent: number): Promise<void> {
    for (const row of judged) {
      this.state.add(row);
      this.tally.add(row);
    }
    const staged = judged
      .map(({ row }) => row)
      .filter(({ outcome, line }) => outcome !== 'unchanged' || claims.has(line));
    await this.stage(staged, { rowsDone: this.tally.rows, percent });
  }

  /** Stages rows that nothing else in the file can fail. */
  async stage(rows: readonly StagedRow[], progress: { rowsDone: number; percent: number }): Promise<void> {
    if (rows.length === 0) return this.work.report(progress);
    for (const row of rows) if (isChange(row)) row.batch = 1 + Math.floor(this.changes++ / BATCH_ROWS);
    await this.work.commit((tx) => this.rows.insert(tx, this.work.runId, rows), progress);
  }

  /** Settles what only the whole file can tell. */
  async resolve(): Promise<void> {
    const groups = await resolveLinks(this.state, this.directory);
    await this.failLate();
    await this.order(groups);
  }

  get batches(): number {
    return Math.ceil(this.changes / BATCH_ROWS) + this.lateBatches;
  }

  async counts(): Promise<Counts> {
    const kept = await this.rows.countByOutcome(this.work.runId);
    kept.delete('missing');
    return { ...noCounts(), ...Object.fromEntries(kept), unchanged: this.tally.unchanged };
  }

  /** Rows that looked good when they were read become errors; such a row may have been unchanged, and not staged. */
  private async failLate(): Promise<void> {
    const late = [...this.state.late].sort(([a], [b]) => a - b);
    for (let from = 0; from < late.length; from += CHUNK) {
      const part = late.slice(from, from + CHUNK);
      const known = new Map(
        (
          await this.rows.lines(
            this.work.runId,
            part.map(([line]) => line),
          )
        ).map((row) => [row.line, row]),
      );
      const failed = part.map(([line, errors]): StagedRow => {
        const row = known.get(line);
        if (!row || row.outcome === 'unchanged') this.tally.unchanged--;
        return failedRow(row ?? nobody(line), [...errors, ...(row?.errors ?? [])]);
      });
      for (const row of failed) this.tally.print(row);
      await this.work.commit((tx) => this.rows.replace(tx, this.work.runId, failed));
    }
  }

  /** Rows that wait for others move behind all that do not, whole groups into one batch. */
  private async order(groups: readonly number[][]): Promise<void> {
    const normal = this.batches;
    let lines: number[] = [];
    const flush = async (): Promise<void> => {
      if (lines.length === 0) return;
      const batch = normal + ++this.lateBatches;
      await this.work.commit((tx) => this.rows.assign(tx, this.work.runId, lines, batch));
      lines = [];
    };
    for (const group of groups) {
      if (lines.length + group.length > BATCH_ROWS) await flush();
      lines = lines.concat(group);
    }
    await flush();
  }
}

function nobody(line: number): StagedRow {
  return {
    line,
    outcome: 'error',
    externalId: '',
    userUuid: null,
    version: 0,
    batch: 0,
    changes: [],
    errors: [],
  };
}
