import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../access/actor.js';
import type { AuditAction } from '../audit/audit-event.js';
import { AuditService } from '../audit/audit.service.js';
import { ProblemError, unavailable } from '../common/errors.js';
import { truncated } from '../common/text.js';
import { type DbTime, now, secondsFrom, toMillis } from '../common/time.js';
import { Env } from '../config/env.js';
import type { Sql } from '../database/engine/sql.js';
import { TransactionRunner } from '../database/transaction-runner.js';
import { UserSettings } from '../users/input/user-settings.js';
import { ImportFilesRepository } from './file/import-files.repository.js';
import type { StoredFile } from './file/import-store.js';
import { ImportOptions } from './runs/import-options.js';
import { ImportReportRepository, type RowFilter } from './report/import-report.repository.js';
import { ImportRowsRepository } from './runs/import-rows.repository.js';
import { ImportRunsRepository, type RunFilter } from './runs/import-runs.repository.js';
import {
  type ImportRun,
  RUNNABLE,
  type RunChange,
  type RunState,
  WAITING,
  isFinal,
  newRun,
} from './runs/import-run.js';
import type { StagedRow } from './runs/import-row.js';
import { ImportWorker } from './apply/import-worker.service.js';

export type { RowFilter, RunFilter };

const DAY_SECONDS = 24 * 60 * 60;
const PURGE_RUNS = 100;
const MAX_PROBLEMS = 50;

/** What the doors ask of imports. The work itself is the worker's. */
@Injectable()
export class ImportsService {
  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly rows: ImportRowsRepository,
    private readonly report: ImportReportRepository,
    private readonly files: ImportFilesRepository,
    private readonly worker: ImportWorker,
    private readonly transactions: TransactionRunner,
    private readonly audit: AuditService,
    private readonly settings: UserSettings,
    private readonly env: Env,
  ) {}

  /** @throws ProblemError `invalid_parameter` where options name roles that are none. */
  assertOptions(options: ImportOptions): void {
    const unknown = options.default_roles?.find((role) => this.settings.roles.find(role) === undefined);
    if (unknown !== undefined) {
      throw new ProblemError(
        'invalid_parameter',
        `default_roles names "${truncated(unknown, 64)}", which is no role here.`,
      );
    }
  }

  /**
   * Makes a stored file a run, which starts when its turn comes.
   * @throws ProblemError `unavailable` when the file is not whole any more: somebody took it for a broken upload.
   */
  async start(file: StoredFile, options: ImportOptions, caller: Caller): Promise<ImportRun> {
    const run = newRun(file, options, caller);
    await this.transactions.run(async (tx) => {
      const parts = await this.files.lock(tx, file.runId);
      if (parts !== file.parts) throw unavailable('The stored file is not whole any more; send it again.', 1);
      await this.runs.insert(tx, run);
    });
    this.worker.wake();
    return run;
  }

  async get(id: string): Promise<ImportRun> {
    const run = await this.runs.find(id);
    if (!run) throw notFound(id);
    return run;
  }

  /** The first rows that failed or came with a warning. */
  async firstProblems(id: string): Promise<StagedRow[]> {
    return this.report.problems(id, MAX_PROBLEMS);
  }

  async list(filter: RunFilter): Promise<{ count: number; runs: ImportRun[] }> {
    return this.runs.list(filter);
  }

  async listRows(
    id: string,
    filter: RowFilter,
    page: { offset: number; limit: number },
  ): Promise<{ count: number; rows: StagedRow[] }> {
    await this.get(id);
    return this.report.list(id, filter, page);
  }

  /** Applies a plan, or approves a parked run: it is planned again first, and void if it would do something else. */
  async apply(id: string, caller: Caller): Promise<ImportRun> {
    return this.decide(id, caller, WAITING, 'import.approved', { state: 'queued', approved: true });
  }

  async reject(id: string, caller: Caller): Promise<ImportRun> {
    return this.decide(id, caller, WAITING, 'import.rejected', { state: 'rejected', finished: now() });
  }

  /** Stops a run: at once where it waits, at its next batch where it works. */
  async cancel(id: string, caller: Caller): Promise<ImportRun> {
    const states = [...RUNNABLE, ...WAITING];
    return this.decide(id, caller, states, 'import.cancelled', (run) =>
      run.state === 'validating' || run.state === 'applying'
        ? { cancel: true }
        : { state: 'cancelled', finished: now() },
    );
  }

  /** Undoes a run as a new one. @returns the new run. */
  async revert(id: string, caller: Caller): Promise<ImportRun> {
    const run = await this.transactions.run(async (tx) => {
      const original = await this.runs.lock(tx, id);
      if (!original) throw notFound(id);
      const earlier = (await this.runs.revertsOf(tx, id)).find(
        ({ state }) => state !== 'failed' && state !== 'cancelled',
      );
      if (earlier) throw wrongState(`Import ${id} is undone by ${earlier.id} already.`);
      if (!isFinal(original.state) || original.appliedBatches === 0) {
        throw wrongState(`Import ${id} is ${original.state} and has nothing that could be undone.`);
      }
      const file = { runId: uuidv7(), name: original.file.name, size: 0, sha256: original.file.sha256 };
      const { counts } = original;
      const total =
        (counts?.created ?? 0) + (counts?.updated ?? 0) + (counts?.blocked ?? 0) + (counts?.reactivated ?? 0);
      const revert: ImportRun = {
        ...newRun(file, Object.assign(new ImportOptions(), { dataset: original.dataset }), caller),
        reverts: id,
        rowsTotal: total + original.missing.blocked,
      };
      await this.runs.insert(tx, revert);
      await this.audit.record(tx, caller, [{ action: 'import.reverted', target: { kind: 'import', id } }]);
      return revert;
    });
    this.worker.wake();
    return run;
  }

  /** Whether no import has been completed for longer than the settings allow; undefined where they do not care. */
  async isOverdue(): Promise<boolean | undefined> {
    const hours = this.env.IMPORT_OVERDUE_HOURS;
    if (hours === undefined) return undefined;
    const last = await this.lastCompleted();
    return last === null || last < secondsFrom(now(), -hours * 60 * 60);
  }

  /** When the last import was completed. */
  async lastCompleted(): Promise<DbTime | null> {
    return this.runs.lastFinished(['completed', 'completed_with_errors']);
  }

  /** Imports that wait for an operator. */
  async countParked(): Promise<number> {
    return this.runs.countIn(['needs_approval']);
  }

  /**
   * Takes away finished runs that are older than the settings say, and what broken uploads have left. A plan that nobody
   * has decided on for so long ends: its file would stay for ever.
   */
  async purge(): Promise<void> {
    const oldest = secondsFrom(now(), -this.env.IMPORT_RETENTION_DAYS * DAY_SECONDS);
    for (const id of await this.runs.waitingSince(oldest, PURGE_RUNS)) await this.lapse(id);
    for (const id of await this.runs.finishedBefore(oldest, PURGE_RUNS)) await this.remove(id);
    const yesterday = toMillis(now()) - DAY_SECONDS * 1000;
    for (const id of await this.files.orphans(uuidv7({ msecs: yesterday, random: new Uint8Array(16) }))) {
      await this.transactions.run((tx) => this.files.deleteUnneeded(tx, id));
    }
  }

  private async lapse(id: string): Promise<void> {
    const days = this.env.IMPORT_RETENTION_DAYS;
    const reason = { code: 'lapsed', message: `Nobody has decided on this plan for ${days} days.` };
    const lapsed = await this.transactions.run(async (tx) => {
      const run = await this.runs.lock(tx, id);
      if (!run || !WAITING.includes(run.state)) return false; // somebody has decided at last
      await this.runs.update(tx, id, { state: 'superseded', finished: now(), reason });
      return true;
    });
    if (lapsed) await this.files.delete(id);
  }

  /** Takes a run away with all that belongs to it, but not from under a revert, which reads its rows. */
  private async remove(id: string): Promise<void> {
    const free = await this.transactions.run(async (tx) => {
      await this.runs.lock(tx, id);
      if ((await this.runs.revertsOf(tx, id)).some(({ finished }) => finished === null)) return false;
      await this.runs.update(tx, id, { appliedBatches: 0 }); // its rows go bit by bit: nobody can undo it any more
      return true;
    });
    if (!free) return;
    await this.rows.deleteAll(id);
    await this.files.delete(id);
    await this.transactions.run((tx) => this.runs.delete(tx, id));
  }

  /** An operator's word on a run, in one transaction with its audit row. */
  private async decide(
    id: string,
    caller: Caller,
    states: readonly RunState[],
    action: AuditAction,
    change: RunChange | ((run: ImportRun) => RunChange),
  ): Promise<ImportRun> {
    const decided = await this.transactions.run(async (tx: Sql) => {
      const run = await this.runs.lock(tx, id);
      if (!run) throw notFound(id);
      if (!states.includes(run.state)) {
        throw wrongState(`Import ${id} is ${run.state}; this needs one that is ${states.join(' or ')}.`);
      }
      const next = typeof change === 'function' ? change(run) : change;
      await this.runs.update(tx, id, next);
      await this.audit.record(tx, caller, [{ action, target: { kind: 'import', id } }]);
      return { ...run, ...next };
    });
    if (isFinal(decided.state)) await this.files.delete(id);
    this.worker.wake();
    return decided;
  }
}

const notFound = (id: string) => new ProblemError('not_found', `There is no import ${id}.`);
const wrongState = (detail: string) => new ProblemError('wrong_state', detail);
