import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { ProblemError } from '../../platform/common/errors.js';
import { now, toMillis } from '../../platform/common/time.js';
import type { Caller } from '../../access/actor.js';
import { recordEvents } from '../../audit/audit.service.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import type { Leases } from '../../platform/database/leases/leases.service.js';
import type { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { Log } from '../../platform/telemetry/log.js';
import {
  type ImportRun,
  type RunChange,
  type StateChange,
  callerOf,
  isUnchanged,
  toResultChanges,
  toStartChanges,
} from './import-run.js';
import {
  CREDENTIAL_REVOKED,
  FINAL,
  type Reason,
  RUNNABLE,
  TRANSITIONS,
  type Transition,
  type TransitionName,
  WAITING,
} from './run-states.js';
import { ImportRunsRepository } from './import-runs.repository.js';
import type { RunRights } from './run-rights.service.js';

export const IMPORT_LEASE = 'imports';
/** Duration of the lease of a worker. If the worker crashes, another worker can continue after this time. */
export const LEASE_SECONDS = 5;
/** Minimum interval between progress reports, in milliseconds. */
const REPORT_MILLIS = 500;

/** Moves runs from one state to another (`TRANSITIONS`), and records the transitions in the audit. */
@Injectable()
export class RunTransitions {
  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly log: Log,
  ) {}

  /**
   * Logs the state of a run that has ended or waits for approval. Call it once, after the commit of the transition. The
   * reason is a code or the names of guards, because the log contains no cells of files.
   */
  logState({ id, state, file_name: file, dataset, guards, reason }: ImportRun): void {
    const hits = guards.filter(({ hit }) => hit).map(({ name }) => name);
    const cause = reason?.code ?? (state === 'needs_approval' ? [...new Set(hits)].join(', ') : undefined);
    const isUrgent = ['needs_approval', 'failed'].includes(state) || cause === CREDENTIAL_REVOKED;
    this.log[isUrgent ? 'warn' : 'info']('import', {
      ...{ run: id, state, file, dataset },
      ...(cause !== undefined && { reason: cause }),
    });
  }

  /** Stores a new run, and records its start in the audit. */
  async start(tx: Sql, run: ImportRun, caller: Caller): Promise<void> {
    await this.runs.insert(tx, run);
    const reason = run.reverts === null && run.bulk !== null && { reason: run.bulk.reason };
    const target = { kind: 'import', id: run.id } as const;
    const event = { action: 'import.created', target, changes: toStartChanges(run) } as const;
    await recordEvents(tx, { ...caller, ...reason }, [event]);
  }

  /**
   * Moves a run to another state. The transaction must have locked the run.
   * @param change other changes of the run.
   * @param caller actor for the audit: the operator, or the run that causes the transition.
   * @returns the changed run.
   * @throws ProblemError `wrong_state`, or LeaseLostError for a worker, if the state does not allow the transition.
   */
  async transition(
    tx: Sql,
    run: ImportRun,
    name: TransitionName,
    change: RunChange = {},
    caller: Caller = callerOf(run),
  ): Promise<ImportRun> {
    const next = { ...change, ...getStateChange(name, run) };
    await this.runs.updateState(tx, run.id, next);
    const moved = { ...run, ...next };
    const step = TRANSITIONS[name];
    if (
      'audit' in step &&
      !(name === 'complete' && isUnchanged(moved)) &&
      !(name === 'cancel' && run.cancel)
    ) {
      const target = { kind: 'import', id: run.id } as const;
      const changes = step.by === 'operator' ? {} : { changes: toResultChanges(moved) };
      await recordEvents(tx, caller, [{ action: step.audit, target, ...changes }]);
    }
    return moved;
  }
}

type TransitionedRun = Pick<ImportRun, 'id' | 'state' | 'phase_started' | 'waited_seconds'>;

/**
 * Returns the changes that a transition makes to the state of a run.
 * @throws ProblemError `wrong_state`, or LeaseLostError for a worker, if the state does not allow the transition.
 */
export function getStateChange(
  name: TransitionName,
  { id, state, phase_started, waited_seconds }: TransitionedRun,
): StateChange {
  const { from, to, by, requestedIn }: Transition = TRANSITIONS[name];
  if (!from.includes(state)) {
    if (by === 'worker') throw new LeaseLostError();
    throw new ProblemError('wrong_state', `Import ${id} is ${state}. It must be ${from.join(' or ')}.`);
  }
  if (requestedIn?.includes(state)) return { cancel: true };
  const time = now();
  const waited = (toMillis(time) - toMillis(phase_started ?? time)) / 1000;
  return {
    state: to,
    ...(WAITING.includes(state) && {
      waited_seconds: waited_seconds + Math.max(0, Math.round(waited)),
    }),
    ...(WAITING.includes(to) && { phase_started: time }),
    ...(FINAL.includes(to) && { finished: time, alerted: null }),
  };
}

const RESTORED = {
  code: 'database_restored',
  message: 'The database went back to an earlier state after this import was accepted. Start a new import.',
};

const MAX_RUNS = 1_000_000;
/**
 * Cancels all unfinished runs, as an operator would. After the next start, the worker ends the runs that were being
 * planned or applied.
 */
export async function cancelUnfinishedRuns(sql: Sql, caller: Caller): Promise<void> {
  const runs = new ImportRunsRepository(sql);
  const unfinished = await runs.list({ state: TRANSITIONS.cancel.from }, { offset: 0, limit: MAX_RUNS });
  for (const run of unfinished.runs) {
    await runs.updateState(sql, run.id, { reason: RESTORED, ...getStateChange('cancel', run) });
    const target = { kind: 'import', id: run.id } as const;
    await recordEvents(sql, caller, [{ action: TRANSITIONS.cancel.audit, target }]);
  }
}

/** Thrown if the lease of a worker has expired or an operator has ended its run. The worker must stop writing to the run. */
export class LeaseLostError extends Error {}
/**
 * Thrown if the run must stop: an operator has requested it (the reason is null), or the starter or the approver of the
 * run no longer has the required rights.
 */
export class RunStoppedError extends Error {
  constructor(readonly reason: Reason | null) {
    super(reason?.message);
  }
}
export class ShuttingDownError extends Error {}

/**
 * Makes all writes of one worker for one run. Before each write, checks the lease, stop requests of operators, and the
 * rights of the starter and the approver.
 */
export class Checkpoint {
  private lastReport = 0;
  private isEnding = false;

  constructor(
    readonly runId: string,
    private readonly isStopping: () => boolean,
    private readonly transactions: TransactionRunner,
    private readonly leases: Leases,
    private readonly runs: ImportRunsRepository,
    private readonly rights: RunRights,
  ) {}

  /** Begins the final writes of the run. Stop requests, lost rights and a shutdown no longer interrupt these writes. */
  beginFinalWrites(): void {
    this.isEnding = true;
  }

  /**
   * Commits a write together with the progress of the run.
   * @param write receives the transaction and the locked run.
   * @throws LeaseLostError, RunStoppedError or ShuttingDownError. In these cases the write is rolled back.
   */
  async commit<T>(write: (tx: Sql, run: ImportRun) => Promise<T>, change: RunChange = {}): Promise<T> {
    if (this.isStopping() && !this.isEnding) throw new ShuttingDownError();
    const written = await this.transactions.run(async (tx) => {
      if (!(await this.leases.renew(IMPORT_LEASE, LEASE_SECONDS, tx))) throw new LeaseLostError();
      const run = await this.runs.lock(tx, this.runId);
      if (!run || !RUNNABLE.includes(run.state)) throw new LeaseLostError();
      if (run.cancel && !this.isEnding) throw new RunStoppedError(null);
      // After the last batch, only the end of the run remains to be recorded, which requires no rights.
      const isWritten = run.state === 'applying' && run.applied_batches === run.batches;
      const lost = this.isEnding || isWritten ? undefined : await this.rights.findLostRight(tx, run);
      if (lost) throw new RunStoppedError(lost);
      const result = await write(tx, run);
      await this.runs.update(tx, this.runId, change);
      return result;
    });
    this.lastReport = performance.now();
    // A query on SQLite blocks this thread, so let other requests run between two batches.
    await setImmediate();
    return written;
  }

  async reportProgress(progress: RunChange): Promise<void> {
    if (performance.now() - this.lastReport >= REPORT_MILLIS)
      await this.commit(async () => undefined, progress);
  }
}
