import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import {
  WorkerEndedError,
  type WorkerCalls,
  WorkerProcess,
} from '../../platform/database/engine/worker-process.js';
import { toProblemError } from '../../platform/http/problem.js';
import { CLEAN_EXITS } from '../../platform/common/signals.js';
import { ProblemError, createUnavailableError } from '../../platform/common/errors.js';
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
import type { ImportRequest } from '../runs/import-profile.js';
import type { Preview } from '../mapping/import-preview.js';
import type { FilePrefix } from '../file/file-store.js';
import type { Actor, Caller } from '../../access/actor.js';
import { WorkerPrograms } from '../../platform/config/config.module.js';
import {
  WriteLock,
  type WriteLockCalls,
  createWriteLockCalls,
} from '../../platform/database/sqlite/write-lock.js';
import { ImportFilesRepository } from '../file/import-files.repository.js';

/** The parts of a ProblemError that the constructor expects. */
type ProblemParts = Pick<ProblemError, 'code' | 'detail' | 'extras'>;

export interface ImportWorkerCalls extends WorkerCalls {
  executeRuns(): Promise<void>;
  /** Builds a preview. Returns errors instead of throwing them, because a thrown error would lose its code. */
  preview(head: FilePrefix, requested: ImportRequest, actor: Actor): Promise<Preview | ProblemParts>;
  /** Stops the worker at its next checkpoint and closes its database connections. */
  stop(): Promise<void>;
}

export interface ServiceCalls extends WriteLockCalls {
  /** Reports that the worker has stopped working on a run. */
  notify(runId: string): void;
}

/**
 * Node.js flags for the size of the young generation in MiB. Most objects of an import are short-lived: with 4 MiB,
 * garbage collection takes twice as long. The minimum size is set too, because `runProgram` prevents the young
 * generation from growing.
 */
const FLAGS = ['--min-semi-space-size=16', '--max-semi-space-size=16'];

/** Scheduling priority of the process (`nice`). It is low, so the service can answer requests during an import. */
const NICENESS = 10;

/** Separate process that runs imports, if the path of its program is configured. */
@Injectable()
export class ImportWorkerProcess {
  private readonly process: WorkerProcess<ImportWorkerCalls, ServiceCalls> | undefined;
  private stopping = false;

  constructor(
    { import: program }: WorkerPrograms,
    private readonly lock: WriteLock,
    private readonly events: RunEvents,
    private readonly log: Log,
  ) {
    if (program !== undefined)
      this.process = new WorkerProcess({ program, flags: FLAGS, niceness: NICENESS }, () =>
        this.createProcessHandlers(),
      );
  }

  get isUsed(): boolean {
    return this.process !== undefined;
  }

  /** Plans and applies all runnable runs. @throws an error if the process ends early. */
  async executeRuns(): Promise<void> {
    if (!this.stopping) await this.process?.startAndCall((calls) => calls.executeRuns());
  }

  /**
   * Builds a preview in the process of the import worker, so that it does not delay other requests.
   * @throws ProblemError `unavailable` if the process ends early, or an error of `ImportPreview.build`.
   */
  async preview(head: FilePrefix, requested: ImportRequest, actor: Actor): Promise<Preview> {
    const result = await this.process
      ?.startAndCall((calls) => calls.preview(head, requested, actor))
      .catch((error: unknown) => {
        if (error instanceof WorkerEndedError) return undefined;
        throw error;
      });
    if (!result) throw createUnavailableError('The preview was interrupted. Send the request again.', 1);
    if ('code' in result) throw new ProblemError(result.code, result.detail, result.extras);
    return result;
  }

  /** Stops the process at its next checkpoint and waits until it has ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    if (!this.process?.isRunning) return;
    // Ignore errors, because the call fails only if the process has already ended.
    await this.process.startAndCall((calls) => calls.stop()).catch(() => undefined);
    await this.process.end();
  }

  private createProcessHandlers() {
    const lock = createWriteLockCalls(this.lock);
    const handlers: ServiceCalls = { ...lock.calls, notify: this.events.notify.bind(this.events) };
    const onLine = this.log.writeLine.bind(this.log);
    const onExit = (exit: string): void => {
      lock.end();
      if (!CLEAN_EXITS.includes(exit) && !this.stopping) this.log.warn('import worker ended', { exit });
    };
    return { handlers, onLine, onExit };
  }
}

/** Interval at which an idle instance looks for runs that other instances have left unfinished, in milliseconds. */
const POLL_MILLIS = 1000;
/**
 * Maximum number of doublings of POLL_MILLIS, up to about a minute. The interval doubles after each crash of the worker
 * process, because the same file may crash it again.
 */
const MAX_DOUBLINGS = 6;

/** Maximum number of runs in each waiting state that are checked at a time for revoked credentials. */
const RUNS_PER_PASS = 100;

/**
 * Plans and applies runs in the order of their creation. A lease in the database ensures that all instances together
 * work on one run at a time. After a crash, another instance continues the run when the lease expires. In the service,
 * this class delegates the work to a separate process (`ImportWorkerProcess`). In that process and on the command line,
 * it does the work itself.
 */
@Injectable()
export class ImportWorker implements BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private busy: Promise<void> | undefined;
  private executing: Promise<void> | undefined;
  private stopping = false;
  private crashes = 0;
  /** Maps a waiting state to the id of the last run in this state that was checked for revoked credentials. */
  private readonly lastChecked = new Map<RunState, string>();

  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly leases: Leases,
    private readonly rights: RunRights,
    private readonly files: ImportFilesRepository,
    private readonly transitions: RunTransitions,
    private readonly executor: RunExecutor,
    private readonly transactions: TransactionRunner,
    private readonly events: RunEvents,
    private readonly workerProcess: ImportWorkerProcess,
    private readonly log: Log,
  ) {}

  /** Stops the current run at its next checkpoint. After a restart, the run continues from there. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await this.workerProcess.stop();
    // The callers of `wake` and `executeRuns` handle errors.
    await Promise.allSettled([this.busy, this.executing]);
  }

  /**
   * Plans and applies runs, then ends waiting runs whose starters have lost their rights. Repeats both until the
   * service shuts down.
   */
  readonly wake = (): void => {
    if (this.busy || this.stopping) return;
    clearTimeout(this.timer);
    this.busy = this.executeRuns()
      .then(() => this.endRevokedRuns())
      .catch((error: unknown) => {
        // The run continues later. A signal to all processes ends a process that is still starting.
        if (error instanceof WorkerEndedError && (this.stopping || CLEAN_EXITS.includes(error.exit))) return;
        if (error instanceof WorkerEndedError) this.crashes++;
        this.log.logFault('imports', toProblemError(error).code, error);
      })
      .finally(() => {
        this.busy = undefined;
        if (this.stopping) return;
        const wait = POLL_MILLIS * 2 ** Math.min(this.crashes, MAX_DOUBLINGS);
        this.timer = setTimeout(this.wake, wait).unref();
      });
  };

  /**
   * Stores a new run, and wakes the worker after the commit.
   * @param create creates the run in the transaction that stores it.
   */
  async queueRun(caller: Caller, create: (tx: Sql) => Promise<ImportRun>): Promise<ImportRun> {
    const queued = await this.transactions.run(async (tx) => {
      const run = await create(tx);
      await this.transitions.start(tx, run, caller);
      return run;
    }, caller);
    await this.transactions.runAfterCommit(caller, this.wake);
    return queued;
  }

  /** Plans and applies runs until no runnable run is left, or until another worker holds the lease. */
  executeRuns(): Promise<void> {
    return (this.executing = this.executeRunnableRuns());
  }

  private async executeRunnableRuns(): Promise<void> {
    while (!this.stopping && (await this.runs.findNextRunId()) !== undefined) {
      if (this.workerProcess.isUsed) {
        // Check the lease first, so that not every instance starts a process only to find that another worker holds the
        // lease.
        if (await this.leases.isHeld(IMPORT_LEASE, LEASE_SECONDS)) return;
        await this.workerProcess.executeRuns();
        this.crashes = 0;
        continue;
      }
      // Keep the lease for all runs, because a small run takes less time than the two writes of a lease.
      const held = await this.leases.runUnderLease(IMPORT_LEASE, LEASE_SECONDS, async () => {
        while (await this.executeNextRun());
      });
      if (!held) return;
    }
  }

  /**
   * Plans or applies the next run. Call it only under the lease. Otherwise, a run that another instance has just
   * finished could start again.
   * @returns false if no run is left, or this worker can no longer write to the run.
   */
  private async executeNextRun(): Promise<boolean> {
    const id = await this.runs.findNextRunId();
    if (id === undefined) return false;
    const { transactions, leases, runs, rights } = this;
    const checkpoint = new Checkpoint(id, () => this.stopping, transactions, leases, runs, rights);
    try {
      await this.executor.executeRun(checkpoint);
      return true;
    } catch (error) {
      if (!(error instanceof LeaseLostError) && !(error instanceof ShuttingDownError)) throw error;
      return false;
    } finally {
      this.events.notify(id);
    }
  }

  /**
   * Ends runs that wait for a decision and whose starter has lost the required rights (interface §6), because an
   * approval could no longer apply them. Each call checks the next page of runs in each waiting state. After the last
   * page, the next call starts over.
   */
  async endRevokedRuns(): Promise<void> {
    for (const state of WAITING) {
      const page = await this.runs.listByState(state, this.lastChecked.get(state) ?? '', RUNS_PER_PASS);
      const checked = new Map<string, boolean>();
      for (const { id, starter } of page) {
        const actorKey = `${starter.kind} ${starter.id ?? ''}`;
        const hasRight = checked.get(actorKey) ?? (await this.rights.hasImportRight(starter));
        checked.set(actorKey, hasRight);
        if (!hasRight) await this.endRunIfRevoked(id);
      }
      this.lastChecked.set(state, page.length < RUNS_PER_PASS ? '' : (page.at(-1)?.id ?? ''));
    }
  }

  async endRunIfRevoked(id: string): Promise<void> {
    const ended = await this.endWaitingRun(id, 'disown', (tx, { starter }) =>
      this.rights.findLostRight(tx, { starter, approver: null }),
    );
    if (ended) this.events.notify(id);
  }

  /**
   * Ends a run that waits for a decision if `findReason` returns a reason.
   * @returns false if there is no reason, or an operator has decided in the meantime.
   */
  async endWaitingRun(
    id: string,
    name: 'disown' | 'lapse',
    findReason: (tx: Sql, run: ImportRun) => Promise<Reason | undefined>,
  ): Promise<boolean> {
    const ended = await this.transactions.run(async (tx) => {
      const run = await this.runs.lock(tx, id);
      const reason = run && WAITING.includes(run.state) ? await findReason(tx, run) : undefined;
      return run && reason && this.transitions.transition(tx, run, name, { reason });
    });
    if (!ended) return false;
    this.transitions.logState(ended);
    // If the file cannot be deleted now, the next purge deletes it.
    await this.files.delete(id);
    return true;
  }
}
