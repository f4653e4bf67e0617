import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { LaneEnded } from '../../platform/database/engine/lane-process.js';
import { toProblemError } from '../../platform/http/problem.js';
import { Log } from '../../platform/telemetry/log.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { RunEvents } from '../report/run-events.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { RunRights } from '../runs/run-rights.service.js';
import { Leases } from '../../platform/database/leases/leases.service.js';
import { ImportLane } from './import-lane.js';
import { RunProcess } from './run-process.service.js';
import { WaitingRuns } from './waiting-runs.service.js';
import {
  IMPORT_LEASE,
  LEASE_SECONDS,
  ShuttingDownError,
  Checkpoint,
} from '../runs/run-transitions.service.js';
import { LeaseLostError } from '../runs/run-states.js';

/** How often an idle instance looks for runs that another instance has left. */
const POLL_MILLIS = 1000;
/** A file that ends each process that reads it is tried again after twice as long each time, up to about a minute. */
const MOST_DOUBLED = 6;

/**
 * Works on runs in the order of their arrival, one at a time across all instances, under a lease in the database. After a
 * crash another instance continues the run as soon as the lease has expired. A service has a process for that work
 * (`ImportLane`); a command of the command line, and that process, work here.
 */
@Injectable()
export class ImportWorker implements BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private busy: Promise<void> | undefined;
  private stopping = false;
  /** Attempts in a row that have ended with their process. */
  private lost = 0;

  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly leases: Leases,
    private readonly rights: RunRights,
    private readonly waiting: WaitingRuns,
    private readonly process: RunProcess,
    private readonly transactions: TransactionRunner,
    private readonly events: RunEvents,
    private readonly lane: ImportLane,
    private readonly log: Log,
  ) {}

  /** Stops at the next checkpoint; the run continues there after a restart. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await this.lane.stop();
    await this.busy;
  }

  /** Starts working on runs, looks whether others wait in vain, and polls for more from then on. */
  wake(): void {
    if (this.busy || this.stopping) return;
    clearTimeout(this.timer);
    this.busy = this.work()
      .then(() => this.waiting.pass())
      .catch((error: unknown) => {
        if (error instanceof LaneEnded) this.lost++;
        this.log.fault('imports', toProblemError(error).code, error);
      })
      .finally(() => {
        this.busy = undefined;
        if (!this.stopping)
          this.timer = setTimeout(
            () => {
              this.wake();
            },
            POLL_MILLIS * 2 ** Math.min(this.lost, MOST_DOUBLED),
          ).unref();
      });
  }

  /** Works on waiting runs until there are none, or another worker works on them. */
  async work(): Promise<void> {
    while (!this.stopping && (await this.runs.next()) !== undefined) {
      if (this.lane.isUsed) {
        // Otherwise every instance would start a process that finds the lease taken.
        if (await this.leases.isHeld(IMPORT_LEASE)) return;
        await this.lane.work();
        this.lost = 0;
        continue;
      }
      const held = await this.leases.hold(IMPORT_LEASE, LEASE_SECONDS, () => this.workOnNext());
      if (!held) return;
    }
  }

  /** Chooses the run under the lease, so that one that another instance has just finished is not started again. */
  private async workOnNext(): Promise<void> {
    const id = await this.runs.next();
    if (id === undefined) return;
    const { transactions, leases, runs, rights } = this;
    const checkpoint = new Checkpoint(id, () => this.stopping, transactions, leases, runs, rights);
    try {
      await this.process.run(checkpoint);
    } catch (error) {
      if (!(error instanceof LeaseLostError) && !(error instanceof ShuttingDownError)) throw error;
    } finally {
      this.events.notify(id);
    }
  }
}
