import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import { ProblemError } from '../../platform/common/errors.js';
import { now } from '../../platform/common/time.js';
import type { Caller } from '../../access/actor.js';
import { AuditService } from '../../audit/audit.service.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import type { Leases } from '../../platform/database/leases/leases.service.js';
import type { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { type ImportRun, type RunChange, callerOf, resultOf } from './import-run.js';
import {
  FINAL,
  type Reason,
  RUNNABLE,
  type RunState,
  TRANSITIONS,
  type Transition,
  type TransitionName,
} from './run-states.js';
import { ImportRunsRepository } from './import-runs.repository.js';
import type { RunRights } from './run-rights.service.js';

export const IMPORT_LEASE = 'imports';
/** After a crash another worker goes on when this has passed. */
export const LEASE_SECONDS = 5;
/** Progress is never older. */
const REPORT_MILLIS = 500;

/** Moves runs from one state to another (`TRANSITIONS`), and records that in the audit. */
@Injectable()
export class RunTransitions {
  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly audit: AuditService,
  ) {}

  /**
   * Moves a run that the transaction has locked. @param change what else changes of the run.
   * @param caller of the audit: the operator, or the run that causes the transition.
   * @returns the changed run. @throws ProblemError `wrong_state`, for a worker LeaseLostError.
   */
  async transition(
    tx: Sql,
    run: ImportRun,
    name: TransitionName,
    change: RunChange = {},
    caller: Caller = callerOf(run),
  ): Promise<ImportRun> {
    const next = { ...change, ...changeState(name, run) };
    await this.runs.move(tx, run.id, next);
    const moved = { ...run, ...next };
    const step = TRANSITIONS[name];
    if (name === 'approve') await this.audit.approveRun(tx, caller, run.id);
    else if ('audit' in step) {
      const target = { kind: 'import', id: run.id } as const;
      const changes = step.by === 'operator' ? {} : { changes: resultOf(moved) };
      await this.audit.record(tx, caller, [{ action: step.audit, target, ...changes }]);
    }
    return moved;
  }
}

/**
 * Returns what a transition changes in the state of a run.
 * @throws ProblemError `wrong_state`, for a worker LeaseLostError, unless the transition starts from the state of the run.
 */
export function changeState(
  name: TransitionName,
  { id, state }: { id: string; state: RunState },
): { state?: RunState; finished?: string; cancel?: boolean } {
  const { from, to, by, requestedIn }: Transition = TRANSITIONS[name];
  if (!from.includes(state)) {
    if (by === 'worker') throw new LeaseLostError();
    throw new ProblemError('wrong_state', `Import ${id} is ${state}; it must be ${from.join(' or ')}.`);
  }
  if (requestedIn?.includes(state)) return { cancel: true };
  return { state: to, ...(FINAL.includes(to) && { finished: now() }) };
}

/** Thrown for a worker whose lease has expired, or whose run was ended by an operator: it may write nothing of the run. */
export class LeaseLostError extends Error {}
/** Thrown when an operator has asked the run to stop. */
export class StopRequestedError extends Error {}
/** Thrown when a credential that the run acts for would be refused now. */
export class RightsLostError extends Error {
  constructor(readonly reason: Reason) {
    super(reason.message);
  }
}
/** Thrown when this process is about to end. */
export class ShuttingDownError extends Error {}

/**
 * One worker's work on one run: every write checks the lease, the requests of operators, and the credentials that the run
 * acts for.
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

  /**
   * Commits a write together with the progress of the run. @param write gets the locked run.
   * @throws LeaseLostError, StopRequestedError, RightsLostError, ShuttingDownError: nothing of `write` is done then.
   */
  async commit(
    write: (tx: Sql, run: ImportRun) => Promise<unknown>,
    progress: RunChange = {},
  ): Promise<void> {
    if (this.stopping() && !this.ending) throw new ShuttingDownError();
    await this.transactions.run(async (tx) => {
      if (!(await this.leases.keep(IMPORT_LEASE, LEASE_SECONDS, tx))) throw new LeaseLostError();
      const run = await this.runs.lock(tx, this.runId);
      if (!run || !RUNNABLE.includes(run.state)) throw new LeaseLostError();
      if (run.cancel && !this.ending) throw new StopRequestedError();
      // Once all batches are applied, nothing is left but to record that.
      const isWritten = run.state === 'applying' && run.applied_batches === run.batches;
      const lost = this.ending || isWritten ? undefined : await this.rights.lost(tx, run);
      if (lost) throw new RightsLostError(lost);
      await write(tx, run);
      await this.runs.update(tx, this.runId, progress);
    });
    this.reported = Date.now();
    // SQLite works in this thread and never waits: other requests run between two batches.
    await setImmediate();
  }

  /** Moves the progress on, where it is not fresh enough. */
  async report(progress: RunChange): Promise<void> {
    if (Date.now() - this.reported >= REPORT_MILLIS) await this.commit(async () => undefined, progress);
  }
}
