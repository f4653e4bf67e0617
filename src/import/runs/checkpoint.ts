import { setImmediate } from 'node:timers/promises';
import type { Sql } from '../../platform/database/engine/sql.js';
import type { TransactionRunner } from '../../platform/database/transaction-runner.js';
import type { ImportRunsRepository } from './import-runs.repository.js';
import { RUNNABLE, type Reason, type RunChange } from './import-run.js';
import type { RunRights } from './run-rights.service.js';
import type { Leases } from '../../platform/database/leases/leases.service.js';

export const IMPORT_LEASE = 'imports';
/** After a crash another worker goes on when this has passed. */
export const LEASE_SECONDS = 5;
/** Progress is never older. */
const REPORT_MILLIS = 500;

/** Another worker holds the lease now, or an operator has ended the run: nothing of it is this worker's to write. */
export class NotOurs extends Error {}
/** Someone has asked the run to stop. */
export class Cancelled extends Error {}
/** A credential that the run acts for would be refused now. */
export class RightsLost extends Error {
  constructor(readonly reason: Reason) {
    super(reason.message);
  }
}
/** This process is about to end. */
export class Stopping extends Error {}

type Progress = Pick<RunChange, 'rowsDone' | 'percent'>;

/**
 * One worker's work on one run: every write goes with a look at the lease, at what operators have asked for, and at the
 * credentials that the run acts for.
 */
export class Checkpoint {
  private reported = 0;
  private ending = false;

  constructor(
    readonly runId: string,
    private readonly stopping: () => boolean,
    private readonly transactions: TransactionRunner,
    private readonly leases: Leases,
    private readonly runs: ImportRunsRepository,
    private readonly rights: RunRights,
  ) {}

  /** What is written from now on ends the run, and is not stopped any more. */
  end(): void {
    this.ending = true;
  }

  /** @throws NotOurs, Cancelled, RightsLost, Stopping: nothing of `write` is done then. */
  async commit(write: (tx: Sql) => Promise<void>, progress: RunChange = {}): Promise<void> {
    if (this.stopping() && !this.ending) throw new Stopping();
    await this.transactions.run(async (tx) => {
      if (!(await this.leases.keep(IMPORT_LEASE, LEASE_SECONDS, tx))) throw new NotOurs();
      const run = await this.runs.lockState(tx, this.runId);
      if (!run || !RUNNABLE.includes(run.state)) throw new NotOurs();
      if (run.cancel && !this.ending) throw new Cancelled();
      const lost = this.ending || run.isWritten ? undefined : await this.rights.lost(tx, run);
      if (lost) throw new RightsLost(lost);
      await write(tx);
      await this.runs.update(tx, this.runId, progress);
    });
    this.reported = Date.now();
    // SQLite works in this thread and never waits: other requests get their turn between two batches.
    await setImmediate();
  }

  /** Moves the progress on, where it is not fresh enough. */
  async report(progress: Progress): Promise<void> {
    if (Date.now() - this.reported >= REPORT_MILLIS) await this.commit(async () => undefined, progress);
  }
}
