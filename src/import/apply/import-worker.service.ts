import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { toProblemError } from '../../http/problem.js';
import { Log } from '../../telemetry/log.js';
import { TransactionRunner } from '../../database/transaction-runner.js';
import { RunEvents } from '../report/run-events.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { Leases } from '../../leases/leases.service.js';
import { RunProcess } from './run-process.service.js';
import { IMPORT_LEASE, LEASE_SECONDS, NotOurs, Stopping, Checkpoint } from '../runs/checkpoint.js';

/** How often an idle instance looks whether another one has left something to do. */
const POLL_MILLIS = 1000;

/**
 * Takes up runs, one at a time among all instances (a lease in the database), in the order of their arrival. What a
 * killed instance has left is taken up by whoever comes first, as soon as its lease has run out.
 */
@Injectable()
export class ImportWorker implements BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private busy: Promise<void> | undefined;
  private stopping = false;

  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly leases: Leases,
    private readonly process: RunProcess,
    private readonly transactions: TransactionRunner,
    private readonly events: RunEvents,
    private readonly log: Log,
  ) {}

  /** Ends at the next checkpoint; the run goes on where the service starts again. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await this.busy;
  }

  /** There may be something to do, now and from now on. */
  wake(): void {
    if (this.busy || this.stopping) return;
    clearTimeout(this.timer);
    this.busy = this.drain()
      .catch((error: unknown) => {
        this.log.fault('imports', toProblemError(error).code, error);
      })
      .finally(() => {
        this.busy = undefined;
        if (!this.stopping)
          this.timer = setTimeout(() => {
            this.wake();
          }, POLL_MILLIS).unref();
      });
  }

  private async drain(): Promise<void> {
    while (!this.stopping && (await this.runs.next()) !== undefined) {
      const held = await this.leases.hold(IMPORT_LEASE, LEASE_SECONDS, () => this.workOnNext());
      if (!held) return;
    }
  }

  /** The run is chosen with the lease in hand: what another instance has just ended is not begun again. */
  private async workOnNext(): Promise<void> {
    const id = await this.runs.next();
    if (id === undefined) return;
    const checkpoint = new Checkpoint(id, () => this.stopping, this.transactions, this.leases, this.runs);
    try {
      await this.process.run(checkpoint);
    } catch (error) {
      if (!(error instanceof NotOurs) && !(error instanceof Stopping)) throw error;
    } finally {
      this.events.tell(id);
    }
  }
}
