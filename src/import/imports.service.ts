import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type Actor, type Caller, toDatasetScope } from '../access/actor.js';
import { assertConfirmed, assertScope, createScopeError } from '../access/policy.js';
import { recordEvents } from '../audit/audit.service.js';
import { ProblemError } from '../platform/common/errors.js';
import { DAY_SECONDS, now, addSeconds, toMillis } from '../platform/common/time.js';
import { Env } from '../platform/config/env.js';
import type { Sql } from '../platform/database/engine/sql.js';
import { TransactionRunner } from '../platform/database/transaction-runner.js';
import { FileStore } from './file/file-store.js';
import { PlanGuards } from './guards/plan-guards.service.js';
import { ImportFilesRepository } from './file/import-files.repository.js';
import { ImportOptions } from './runs/import-options.js';
import { ImportRowsRepository, type RowPosition, type RowFilter } from './runs/import-rows.repository.js';
import { ImportRunsRepository, type RunFilter } from './runs/import-runs.repository.js';
import { type ImportRun, type RunChange, createRun, fileOf } from './runs/import-run.js';
import { NO_COUNTS, STAGED_OUTCOMES, countChangedRows } from './runs/import-row.js';
import { FINAL, RUNNABLE, WAITING } from './runs/run-states.js';
import { RunTransitions } from './runs/run-transitions.service.js';
import { RunRights, assertPrivilegedAllowed } from './runs/run-rights.service.js';
import { presentRun } from './import.view.js';
import { getVisibility, hideBulk } from './runs/visible-values.js';
import type { ImportRunDto } from './imports.dto.js';
import { ImportWorker } from './apply/import-worker.service.js';
import { AuditNames } from '../audit/audit-names.service.js';
import { RunPeople } from './runs/run-people.service.js';

const RUNS_PER_PURGE = 100;
const MAX_PROBLEMS = 50;

/** Reads runs, records decisions of operators, and purges old runs. `ImportWorker` executes the runs. */
@Injectable()
export class ImportsService {
  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly rows: ImportRowsRepository,
    private readonly people: RunPeople,
    private readonly names: AuditNames,
    private readonly rights: RunRights,
    private readonly guards: PlanGuards,
    private readonly files: ImportFilesRepository,
    private readonly store: FileStore,
    private readonly worker: ImportWorker,
    private readonly transactions: TransactionRunner,
    private readonly transitions: RunTransitions,
    private readonly env: Env,
  ) {}

  async get(id: string): Promise<ImportRun> {
    const run = await this.runs.find(id);
    if (!run) throw createRunNotFoundError(id);
    return run;
  }

  /**
   * Returns the response for a run, with its first problems sorted by line, as the actor may see it.
   * @param sql the transaction of the caller, if any.
   */
  async present(run: ImportRun, actor: Actor, sql?: Sql): Promise<ImportRunDto> {
    const problemRows = await this.rows.listProblemRows(run.id, MAX_PROBLEMS, sql);
    const revert = (await this.runs.listRevertsOf(run.id, sql)).find(isEffectiveRevert);
    const visibility = getVisibility(actor, run);
    return presentRun(hideBulk(run, actor), {
      problemRows,
      people: await this.people.find(run.id, visibility === 'all' ? problemRows : []),
      revertedBy: revert?.id ?? null,
      nameOf: await this.names.loadPartyNames([run.starter, ...(run.approver ? [run.approver] : [])]),
      visibility,
    });
  }

  async list(filter: RunFilter, range: { offset: number; limit: number }) {
    return this.runs.list(filter, range);
  }

  /**
   * Returns a page of the stored rows of a run after the line `after`, sorted by line.
   * @returns the rows, the run, the value of `after` for the next page (undefined on the last page), and the users that
   * the rows and their changes mention, such as managers, by UUID.
   * @throws ProblemError `not_found` for an unknown run, or `insufficient_scope` if the filter has values that the actor
   * may not see.
   */
  async listRows(id: string, query: RowFilter, { after, offset, limit }: RowPosition, actor: Actor) {
    const run = await this.get(id);
    const visibility = getVisibility(actor, run);
    if (query.external_id && visibility === 'none') throw createScopeError('users:read');
    const filter = { ...query, isInFile: visibility !== 'all' };
    const found = await this.rows.list(id, filter, { after, offset, limit: limit + 1 });
    const rows = found.slice(0, limit);
    const count = await this.countRows(run, filter);
    const people = await this.people.find(id, rows);
    const next = found.length > limit ? rows.at(-1)?.line : undefined;
    return { run, count, rows, next, people, visibility };
  }

  /**
   * Requests that a plan or a parked run is applied. The run is planned again first, and ends as superseded if the new
   * plan differs. From then on, the run needs the rights of both its starter and its approver.
   * @throws the errors of `recordDecision`, ProblemError `self_block` if the plan would block the caller, or `forbidden`
   * for a caller who may not approve the run.
   */
  async apply(id: string, caller: Caller): Promise<ImportRun> {
    await this.worker.endRunIfRevoked(id);
    const run = await this.get(id);
    const asApproved = { ...run, approver: caller.actor };
    const fuse = WAITING.includes(run.state) && (await this.guards.evaluateKeyFuse(asApproved));
    const obstacle = fuse && fuse.hit ? fuse.hint : await this.rights.findApprovalObstacle(run, caller.actor);
    if (obstacle !== undefined) throw new ProblemError('forbidden', obstacle);
    if (caller.actor.kind === 'user' && (await this.rows.isUserBlocked(id, caller.actor.id))) {
      const detail = `Import ${id} would block your own account. Another Webmaster or an API key must apply it.`;
      throw new ProblemError('self_block', detail);
    }
    return this.recordDecision(id, caller, 'approve', ({ state }) => {
      // The progress of a dry run has already reached 100 %, so it starts again at 0.
      const reset: RunChange = state === 'planned' ? { percent: 0, rows_done: 0 } : {};
      return { ...reset, approved: true, approver: caller.actor };
    });
  }

  /**
   * Queues a new run that reverts a finished run.
   * @param dryRun true to stop after the plan of the revert, until `apply` is called for it.
   * @throws ProblemError `not_found`, or `wrong_state` if the run has applied nothing or is already reverted.
   */
  async revert(id: string, caller: Caller, dryRun: boolean): Promise<ImportRun> {
    const run = await this.transactions.run(async (tx) => {
      const original = await this.lock(tx, id, caller);
      const earlier = (await this.runs.listRevertsOf(id, tx)).find(isEffectiveRevert);
      if (earlier) throw createStateError(`Import ${id} is already reverted by import ${earlier.id}.`);
      if (!FINAL.includes(original.state) || original.applied_batches === 0) {
        throw createStateError(`Import ${id} is ${original.state} and has no changes to revert.`);
      }
      const file = { ...fileOf(original), size: 0, runId: await this.runs.createId(tx) };
      const { allow_privileged } = original.options;
      if (allow_privileged && !dryRun) assertConfirmed(caller.actor);
      const options = { dataset: original.dataset, dry_run: dryRun, allow_privileged };
      const revert: ImportRun = {
        ...createRun(file, Object.assign(new ImportOptions(), options), caller),
        ...{ reverts: id, bulk: original.bulk },
        rows_total: countChangedRows(original.counts ?? NO_COUNTS) + original.missing_blocked,
      };
      await this.transitions.start(tx, revert, caller);
      await recordEvents(tx, caller, [{ action: 'import.reverted', target: { kind: 'import', id } }]);
      return revert;
    }, caller);
    await this.transactions.runAfterCommit(caller, this.worker.wake);
    return run;
  }

  /**
   * Deletes runs that finished more than IMPORT_RETENTION_DAYS ago, and leftovers of interrupted uploads. Ends plans
   * that have waited that long for a decision, because their files would otherwise be kept forever.
   */
  async purge(): Promise<void> {
    const oldest = addSeconds(now(), -this.env.IMPORT_RETENTION_DAYS * DAY_SECONDS);
    const message = `No decision on this plan was made within ${this.env.IMPORT_RETENTION_DAYS} days. Start a new import.`;
    for (const id of await this.runs.listWaitingSince(oldest, RUNS_PER_PURGE))
      await this.worker.endWaitingRun(id, 'lapse', async () => ({ code: 'lapsed', message }));
    for (const id of await this.runs.listFinishedBefore(oldest, RUNS_PER_PURGE)) await this.deleteRun(id);
    const yesterday = toMillis(now()) - DAY_SECONDS * 1000;
    for (const id of await this.files.findOrphans(uuidv7({ msecs: yesterday, random: new Uint8Array(16) })))
      await this.store.discard(id);
  }

  /** Deletes a run and all its data, unless an unfinished revert still needs its rows. */
  private async deleteRun(id: string): Promise<void> {
    const isDeletable = await this.transactions.run(async (tx) => {
      await this.runs.lock(tx, id);
      if ((await this.runs.listRevertsOf(id, tx)).some(({ finished }) => finished === null)) return false;
      // Prevent a revert while the rows are deleted in several transactions. A run with 0 applied batches cannot be
      // reverted.
      await this.runs.update(tx, id, { applied_batches: 0 });
      return true;
    });
    if (!isDeletable) return;
    await this.rows.deleteAll(id);
    await this.files.delete(id);
    await this.transactions.run((tx) => this.runs.delete(tx, id));
  }

  /** Counts the rows that match a filter. Uses the stored counts of the run if possible, which is faster. */
  private async countRows(run: ImportRun, filter: RowFilter): Promise<number> {
    const { counts, missing_reported: missing } = run;
    const isNarrow = filter.code !== undefined || filter.external_id !== undefined;
    if (isNarrow || counts === null || RUNNABLE.includes(run.state)) {
      return this.rows.count(run.id, filter);
    }
    const wanted = new Set(filter.outcome ?? STAGED_OUTCOMES);
    const kept = wanted.has('unchanged') ? await this.rows.count(run.id, { outcome: ['unchanged'] }) : 0;
    const known: Readonly<Record<string, number>> = { ...counts, unchanged: kept, missing };
    return [...wanted].reduce((sum, outcome) => sum + (known[outcome] ?? 0), 0);
  }

  /** @throws ProblemError `not_found`, or `insufficient_scope` for a key that may not change the run. */
  private async lock(tx: Sql, id: string, { actor }: Caller): Promise<ImportRun> {
    const run = await this.runs.lock(tx, id);
    if (!run) throw createRunNotFoundError(id);
    assertScope(actor, run.bulk === null ? toDatasetScope(run.dataset) : 'imports:write');
    if (run.bulk !== null) assertScope(actor, 'users:write');
    return run;
  }

  /**
   * Records a decision of an operator on a run, with its audit event: `cancel` ends a run at once if it is queued or
   * waits for a decision, otherwise at its next batch.
   * @throws ProblemError `not_found`, `wrong_state` if the state of the run does not allow the decision, or
   * `insufficient_scope` for a key that may not change this data set.
   */
  async recordDecision(
    id: string,
    caller: Caller,
    name: 'approve' | 'reject' | 'cancel',
    change: (run: ImportRun) => RunChange = () => ({}),
  ): Promise<ImportRun> {
    const decided = await this.transactions.run(async (tx) => {
      const run = await this.lock(tx, id, caller);
      const moved = await this.transitions.transition(tx, run, name, change(run), caller);
      const { allow_privileged } = run.options;
      if (name === 'approve') assertPrivilegedAllowed({ allow_privileged, dry_run: false }, caller.actor);
      return moved;
    }, caller);
    await this.transactions.runAfterCommit(caller, async () => {
      if (FINAL.includes(decided.state)) {
        this.transitions.logState(decided);
        await this.files.delete(id);
      }
      this.worker.wake();
    });
    return decided;
  }
}

/**
 * Returns true if a revert has changed users or may still change them, so that a second revert is not allowed. Returns
 * false for plans that were not applied, and for reverts that failed or were stopped.
 */
const isEffectiveRevert = ({ state, dry_run: dryRun, approved }: ImportRun): boolean =>
  (!dryRun || approved) && !['failed', 'cancelled', 'rejected', 'superseded'].includes(state);

const createRunNotFoundError = (id: string) => new ProblemError('not_found', `There is no import ${id}.`);
const createStateError = (detail: string) => new ProblemError('wrong_state', detail);
