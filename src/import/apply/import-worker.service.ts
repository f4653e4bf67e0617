import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { LaneEnded, type LaneCalls, LaneProcess } from '../../platform/database/engine/lane-process.js';
import { toProblemError } from '../../platform/http/problem.js';
import { Log } from '../../platform/telemetry/log.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { RunEvents } from '../report/run-events.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { RunRights } from '../runs/run-rights.service.js';
import { Leases } from '../../platform/database/leases/leases.service.js';
import { RunExecutor } from './run-executor.service.js';
import {
  IMPORT_LEASE,
  LEASE_SECONDS,
  LeaseLostError,
  ShuttingDownError,
  Checkpoint,
  RunTransitions,
} from '../runs/run-transitions.service.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import type { ImportRun } from '../runs/import-run.js';
import { type Reason, type RunState, WAITING } from '../runs/run-states.js';
import { LanePrograms } from '../../platform/config/config.module.js';
import { WriteLock, type WriteLockCalls, lendWriteLock } from '../../platform/database/sqlite/write-lock.js';
import { ImportFilesRepository } from '../file/import-files.repository.js';

/** Calls to the process that imports. */
export interface ImportLaneCalls extends LaneCalls {
  /** Works on waiting runs until there are none. */
  work(): Promise<void>;
  /** Stops at the next checkpoint, and uses the database no more. */
  stop(): Promise<void>;
}

/** Calls from that process to the service. */
export interface ServiceCalls extends WriteLockCalls {
  /** A run has stopped. */
  notify(runId: string): void;
}

/**
 * What an import allocates dies young; little room for it keeps the process small. It has that room from the start, since the
 * young generation of no program grows (`runProgram`): with less an unchanged row takes a tenth more time.
 */
const FLAGS = ['--min-semi-space-size=4', '--max-semi-space-size=4'];

/** Where an import and a request want one processor, the request has it. */
const NICENESS = 10;

/** Runs imports in a separate process, where the settings name its program. */
@Injectable()
export class ImportLane {
  private readonly lane: LaneProcess<ImportLaneCalls, ServiceCalls> | undefined;
  private stopping = false;

  constructor(
    { import: program }: LanePrograms,
    private readonly lock: WriteLock,
    private readonly events: RunEvents,
    private readonly log: Log,
  ) {
    if (program !== undefined)
      this.lane = new LaneProcess({ program, flags: FLAGS, niceness: NICENESS }, () => this.link());
  }

  /** Whether imports run in a separate process. */
  get isUsed(): boolean {
    return this.lane !== undefined;
  }

  /** Works on waiting runs until there are none. @throws LaneEnded when the process ends before. */
  async work(): Promise<void> {
    await this.lane?.use((calls) => calls.work());
  }

  /** Resolves when the process has stopped at its next checkpoint, and has ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    if (!this.lane?.isRunning) return;
    await this.lane.use((calls) => calls.stop()).catch(() => undefined); // it has ended, then
    await this.lane.end();
  }

  private link() {
    const lock = lendWriteLock(this.lock);
    const answers: ServiceCalls = {
      ...lock.calls,
      notify: (id) => {
        this.events.notify(id);
      },
    };
    const printed = (lines: string): void => {
      this.log.relay(lines);
    };
    const ended = (how: string): void => {
      lock.end();
      if (how !== '0' && !this.stopping) this.log.warning('import process ended', { exit: how });
    };
    return { answers, printed, ended };
  }
}

/** How often an idle instance looks for runs that another instance has left. */
const POLL_MILLIS = 1000;
/** A file that ends each process that reads it is tried again after twice as long each time, up to about a minute. */
const MOST_DOUBLED = 6;

/** Runs of each waiting state that one pass looks at: what it costs does not grow with their number. */
const LOOKED_AT = 100;

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
  /** The last waiting run of each state that was checked for revoked credentials. */
  private readonly seen = new Map<RunState, string>();

  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly leases: Leases,
    private readonly rights: RunRights,
    private readonly files: ImportFilesRepository,
    private readonly transitions: RunTransitions,
    private readonly process: RunExecutor,
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
      .then(() => this.endRevoked())
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

  /**
   * Ends runs that wait for a decision when the credential that started them has lost its rights (interface §6), because no
   * approval could apply them any more. Each call checks the next ones, until all were checked, and begins again. A decision
   * checks its run at once.
   */
  async endRevoked(): Promise<void> {
    for (const state of WAITING) {
      const page = await this.runs.waiting(state, this.seen.get(state) ?? '', LOOKED_AT);
      const lost = new Map<string, boolean>();
      for (const { id, starter } of page) {
        const who = `${starter.kind} ${starter.id ?? ''}`;
        const hasLost = lost.get(who) ?? (await this.rights.hasLost(starter));
        lost.set(who, hasLost);
        if (hasLost) await this.endIfRevoked(id);
      }
      this.seen.set(state, page.length < LOOKED_AT ? '' : (page.at(-1)?.id ?? ''));
    }
  }

  /** Ends a run that waits for a decision where its starter has lost the rights. */
  async endIfRevoked(id: string): Promise<void> {
    const ended = await this.endWaiting(id, 'disown', (tx, { starter }) =>
      this.rights.lost(tx, { starter, approver: null }),
    );
    if (!ended) return;
    this.log.event('import', { run: id, state: 'cancelled' });
    this.events.notify(id);
  }

  /**
   * Ends a run that waits for a decision where there is a reason to.
   * @returns false where there is none, or an operator has decided in the meantime.
   */
  async endWaiting(
    id: string,
    name: 'disown' | 'lapse',
    reasonFor: (tx: Sql, run: ImportRun) => Promise<Reason | undefined>,
  ): Promise<boolean> {
    const ended = await this.transactions.run(async (tx) => {
      const run = await this.runs.lock(tx, id);
      const reason = run && WAITING.includes(run.state) ? await reasonFor(tx, run) : undefined;
      if (run && reason) await this.transitions.transition(tx, run, name, { reason });
      return reason !== undefined;
    });
    if (ended) await this.files.delete(id); // a purge does it, where this fails
    return ended;
  }
}
