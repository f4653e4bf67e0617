import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type Caller, datasetScope } from '../access/actor.js';
import { assertScope } from '../access/policy.js';
import { AuditService } from '../audit/audit.service.js';
import { ProblemError } from '../platform/common/errors.js';
import { now, secondsFrom, toMillis } from '../platform/common/time.js';
import { Env } from '../platform/config/env.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { ImportFilesRepository } from './file/import-files.repository.js';
import { ImportOptions } from './runs/import-options.js';
import { ImportRowsRepository, type Place, type RowFilter } from './runs/import-rows.repository.js';
import { ImportRunsRepository, type RunFilter } from './runs/import-runs.repository.js';
import { type ImportRun, type RunChange, newRun, startOf } from './runs/import-run.js';
import { ROW_OUTCOMES, type StagedRow, BEFORE_ALL } from './runs/import-row.js';
import { FINAL, RUNNABLE } from './runs/run-states.js';
import { RunTransitions } from './runs/run-transitions.service.js';
import { RunRights } from './runs/run-rights.service.js';
import { presentRun } from './import.view.js';
import type { ImportRunDto } from './imports.dto.js';
import { ImportWorker } from './apply/import-worker.service.js';
import { usersNamedBy } from '../audit/audit-names.service.js';
import { UserDirectory } from '../users/search/user-directory.service.js';
import type { User } from '../users/model/user.js';

const DAY_SECONDS = 24 * 60 * 60;
const PURGE_RUNS = 100;
const MAX_PROBLEMS = 50;

export interface RowPage {
  /** Of all pages. */
  count: number;
  rows: StagedRow[];
  /** The last line of the page, where there is another one: `after` of the next. */
  next: number | undefined;
  /** uuid → user, of the users of these rows and of the managers that they name. */
  people: Map<string, User>;
}

/** Reads runs, records the decisions of operators on them, and purges old ones. `ImportWorker` does the work itself. */
@Injectable()
export class ImportsService {
  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly rows: ImportRowsRepository,
    private readonly directory: UserDirectory,
    private readonly rights: RunRights,
    private readonly files: ImportFilesRepository,
    private readonly worker: ImportWorker,
    private readonly transactions: TransactionRunner,
    private readonly transitions: RunTransitions,
    private readonly audit: AuditService,
    private readonly env: Env,
  ) {}

  async get(id: string): Promise<ImportRun> {
    const run = await this.runs.find(id);
    if (!run) throw notFound(id);
    return run;
  }

  /** The answer for a run, with its first problems by line. @param sql the transaction that this is part of, if any. */
  async present(run: ImportRun, sql?: Sql): Promise<ImportRunDto> {
    const problems = await this.rows.problems(run.id, MAX_PROBLEMS, sql);
    const revert = (await this.runs.revertsOf(run.id, sql)).find(undoes);
    return presentRun(run, problems, revert?.id ?? null);
  }

  async list(filter: RunFilter): Promise<{ count: number; runs: ImportRun[] }> {
    return this.runs.list(filter);
  }

  /**
   * A page of the rows of a run that are kept, in the order of their lines.
   * @param place `after`: the last line of the page before. @throws ProblemError `not_found`.
   */
  async listRows(
    id: string,
    filter: RowFilter,
    { after = BEFORE_ALL, offset, limit }: Partial<Place> & Omit<Place, 'after'>,
  ): Promise<RowPage> {
    const run = await this.get(id);
    const found = await this.rows.list(id, filter, { after, offset, limit: limit + 1 });
    const rows = found.slice(0, limit);
    const count = await this.countRows(run, filter);
    const people = await this.directory.byUuids(rows.flatMap(uuidsOf));
    return { count, rows, next: found.length > limit ? rows.at(-1)?.line : undefined, people };
  }

  /**
   * Applies a plan, or approves a parked run. It is planned again first, and superseded if the new plan differs. From then
   * on the run needs the rights of both: who started it, and who has approved it.
   * @throws ProblemError `not_found`; `wrong_state` unless the run waits for a decision; `insufficient_scope`
   * for a key that may not change this data set. So do `reject` and `cancel`. And `self_block` where the plan would block
   * the caller, `forbidden` for who has sent the file where IMPORT_FOUR_EYES is on.
   */
  async apply(id: string, caller: Caller): Promise<ImportRun> {
    await this.worker.endIfRevoked(id);
    await this.rights.assertOtherPerson(await this.get(id), caller);
    if (caller.actor.kind === 'user' && (await this.rows.blocks(id, caller.actor.id))) {
      const detail = `Import ${id} would block your own account: another Webmaster or key has to decide on it.`;
      throw new ProblemError('self_block', detail);
    }
    return this.decide(id, caller, 'approve', ({ state }) => {
      const anew: RunChange = state === 'planned' ? { percent: 0, rows_done: 0 } : {}; // a dry run was done
      return { ...anew, approved: true, approver: caller.actor };
    });
  }

  async reject(id: string, caller: Caller): Promise<ImportRun> {
    return this.decide(id, caller, 'reject');
  }

  /** Stops a run: at once while it waits, at its next batch while it is being worked on. */
  async cancel(id: string, caller: Caller): Promise<ImportRun> {
    return this.decide(id, caller, 'cancel');
  }

  /**
   * Queues a new run that undoes a finished one.
   * @param dryRun it stops at its plan; `apply` goes on with it.
   * @throws ProblemError `not_found`; `wrong_state` when nothing was applied, or another run undoes it already.
   */
  async revert(id: string, caller: Caller, dryRun: boolean): Promise<ImportRun> {
    const run = await this.transactions.run(async (tx) => {
      const original = await this.runs.lock(tx, id);
      if (!original) throw notFound(id);
      assertScope(caller.actor, datasetScope(original.dataset));
      const earlier = (await this.runs.revertsOf(id, tx)).find(undoes);
      if (earlier) throw wrongState(`Import ${id} is already undone by ${earlier.id}.`);
      if (!FINAL.includes(original.state) || original.applied_batches === 0) {
        throw wrongState(`Import ${id} is ${original.state} and has nothing to undo.`);
      }
      const file = { runId: uuidv7(), name: original.file_name, size: 0, sha256: original.file_sha256 };
      const { counts } = original;
      const total =
        (counts?.created ?? 0) + (counts?.updated ?? 0) + (counts?.blocked ?? 0) + (counts?.reactivated ?? 0);
      const revert: ImportRun = {
        ...newRun(file, optionsOfRevert(original, dryRun), caller),
        reverts: id,
        rows_total: total + original.missing_blocked,
      };
      await this.runs.insert(tx, revert);
      await this.audit.startRun(tx, caller, revert.id, startOf(revert));
      await this.audit.record(tx, caller, [{ action: 'import.reverted', target: { kind: 'import', id } }]);
      return revert;
    }, caller);
    await this.transactions.afterCommit(caller, async () => {
      this.worker.wake();
    });
    return run;
  }

  /**
   * Deletes runs that finished more than IMPORT_RETENTION_DAYS ago, and the remains of interrupted uploads. Plans that
   * wait for a decision that long end as superseded, because their files would stay for ever.
   */
  async purge(): Promise<void> {
    const oldest = secondsFrom(now(), -this.env.IMPORT_RETENTION_DAYS * DAY_SECONDS);
    const message = `No decision on this plan in ${this.env.IMPORT_RETENTION_DAYS} days.`;
    for (const id of await this.runs.waitingSince(oldest, PURGE_RUNS))
      await this.worker.endWaiting(id, 'lapse', async () => ({ code: 'lapsed', message }));
    for (const id of await this.runs.finishedBefore(oldest, PURGE_RUNS)) await this.remove(id);
    const yesterday = toMillis(now()) - DAY_SECONDS * 1000;
    for (const id of await this.files.orphans(uuidv7({ msecs: yesterday, random: new Uint8Array(16) }))) {
      await this.transactions.run((tx) => this.files.deleteUnneeded(tx, id));
    }
  }

  /** Deletes a run and everything that belongs to it, unless a revert is still reading its rows. */
  private async remove(id: string): Promise<void> {
    const free = await this.transactions.run(async (tx) => {
      await this.runs.lock(tx, id);
      if ((await this.runs.revertsOf(id, tx)).some(({ finished }) => finished === null)) return false;
      await this.runs.update(tx, id, { applied_batches: 0 }); // its rows go in several transactions: from here it cannot be undone
      return true;
    });
    if (!free) return;
    await this.rows.deleteAll(id);
    await this.files.delete(id);
    await this.transactions.run((tx) => this.runs.delete(tx, id));
  }

  /** Rows of an outcome are counted in the run, so that a page does not cost the number of all. */
  private async countRows(run: ImportRun, filter: RowFilter): Promise<number> {
    const { counts, missing_reported: missing } = run;
    const isNarrow = filter.code !== undefined || filter.external_id !== undefined;
    if (isNarrow || counts === null || RUNNABLE.includes(run.state)) {
      return this.rows.count(run.id, filter);
    }
    const wanted = new Set(filter.outcome ?? [...ROW_OUTCOMES, 'missing']);
    const kept = wanted.has('unchanged') ? await this.rows.count(run.id, { outcome: ['unchanged'] }) : 0;
    const known: Readonly<Record<string, number>> = { ...counts, unchanged: kept, missing };
    return [...wanted].reduce((sum, outcome) => sum + (known[outcome] ?? 0), 0);
  }

  /** Records an operator's decision on a run, in one transaction with its audit row. */
  private async decide(
    id: string,
    caller: Caller,
    name: 'approve' | 'reject' | 'cancel',
    change: (run: ImportRun) => RunChange = () => ({}),
  ): Promise<ImportRun> {
    const decided = await this.transactions.run(async (tx: Sql) => {
      const run = await this.runs.lock(tx, id);
      if (!run) throw notFound(id);
      assertScope(caller.actor, datasetScope(run.dataset));
      const moved = await this.transitions.transition(tx, run, name, change(run), caller);
      if (name === 'approve' && run.options.allow_privileged) assertScope(caller.actor, 'webmasters');
      return moved;
    }, caller);
    await this.transactions.afterCommit(caller, async () => {
      if (FINAL.includes(decided.state)) await this.files.delete(id);
      this.worker.wake();
    });
    return decided;
  }
}

const optionsOfRevert = ({ dataset }: ImportRun, dryRun: boolean): ImportOptions =>
  Object.assign(new ImportOptions(), { dataset, dry_run: dryRun });

/** A revert that has undone its run, or is about to. A plan of one, or one that an operator has refused, is none. */
const undoes = ({ state, dry_run: dryRun, approved }: ImportRun): boolean =>
  (!dryRun || approved) && !['failed', 'cancelled', 'rejected', 'superseded'].includes(state);

const notFound = (id: string) => new ProblemError('not_found', `There is no import ${id}.`);
const wrongState = (detail: string) => new ProblemError('wrong_state', detail);

/** The users that a row is about. */
const uuidsOf = ({ user_uuid, changes }: StagedRow): string[] => [
  ...(user_uuid === null ? [] : [user_uuid]),
  ...changes.list.flatMap(usersNamedBy),
];
