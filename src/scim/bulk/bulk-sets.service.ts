import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { ProblemError } from '../../platform/common/errors.js';
import { TimeSlice } from '../../platform/common/time-slice.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { BATCH_TARGETS, BatchSizer, TransactionRunner } from '../../platform/database/transaction-runner.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { WriteLock } from '../../platform/database/sqlite/write-lock.js';
import type { User } from '../../users/model/user.js';
import type { UserChange } from '../../users/writer/change-set.js';
import { UserWriter } from '../../users/writer/user-writer.service.js';
import { ScimUserChanges } from '../users/scim-user-changes.service.js';
import { toScimProblem } from '../users/scim-users.service.js';
import { BulkSet, assertDistinctIdentifiers } from './bulk-set.js';
import { type BulkItem, type BulkPart, type BulkState, toItemError, executeOperation } from './bulk-state.js';

/** Number of operations by which the maximum size of a set grows or shrinks. */
const BATCH = 10;

/** Applies sets of operations on different users, each set with one call of `UserWriter.apply`. */
@Injectable()
export class BulkSets {
  private readonly sizer = new BatchSizer(BATCH_TARGETS[this.database.dialect]);

  constructor(
    private readonly changes: ScimUserChanges,
    private readonly writer: UserWriter,
    private readonly fuse: KeyFuse,
    private readonly transactions: TransactionRunner,
    private readonly lock: WriteLock,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  /**
   * Maximum number of operations in the next set. Depends on the duration of earlier transactions, so that no
   * transaction blocks the database for too long.
   */
  get size(): number {
    return this.sizer.batches * BATCH;
  }

  /**
   * Applies the operations of a set and returns their responses.
   * @throws ProblemError if the whole set fails and the client may repeat the request.
   */
  async applySet(items: readonly BulkItem[], state: BulkState, caller: Caller): Promise<BulkPart> {
    const isFull = items.length >= this.size;
    await this.prepareChanges(items, state, caller);
    const set = new BulkSet(items, state);
    const applyItems = () =>
      this.transactions.run((tx) => this.applyInTransaction(tx, set, state, caller), caller);
    const runAttempt = () => this.fuse.runWithFuse(caller, applyItems);
    for (;;) {
      try {
        const part = await (caller.repeatable ? caller.repeatable.runOnce(runAttempt) : runAttempt());
        const millis = performance.now() - set.startTime;
        if (isFull) this.sizer.recordDuration(Math.ceil(items.length / BATCH), millis, this.lock.isContended);
        return part;
      } catch (error) {
        set.excludeFailed(error, caller);
      }
    }
  }

  /**
   * Prepares the changes of the items before the transaction, because hashing passwords is slow. Sets the error of each
   * rejected item.
   */
  private async prepareChanges(items: readonly BulkItem[], state: BulkState, caller: Caller): Promise<void> {
    const own = new Map(items.map(({ operation, id }) => [operation.bulkId, id]));
    const idOf = (bulkId: string) => own.get(bulkId) ?? state.idOf(bulkId);
    const slice = new TimeSlice();
    for (const item of items) {
      if (slice.isOver) await slice.startNext();
      if (item.error) continue;
      try {
        item.change = await executeOperation(this.changes, item, idOf, caller);
      } catch (error) {
        item.error = toItemError(error, caller);
      }
    }
  }

  private async applyInTransaction(
    tx: Sql,
    set: BulkSet,
    state: BulkState,
    caller: Caller,
  ): Promise<BulkPart> {
    set.startAttempt();
    const results = new Map<BulkItem, User | ProblemError>();
    const changes = await this.buildChanges(tx, set, results);
    const inputs = changes.map(({ change }) => change);
    const outcomes = await this.writer.apply(tx, inputs, caller);
    const applied = changes.flatMap((each, index) => {
      const outcome = outcomes[index];
      return outcome ? [{ ...each, outcome }] : [];
    });
    assertDistinctIdentifiers(applied);
    for (const { item, outcome } of applied)
      results.set(item, outcome.outcome === 'error' ? toScimProblem(outcome.failures) : outcome.user);
    return {
      next: (set.items.at(-1)?.position ?? 0) + 1,
      answers: set
        .collectResults(results)
        .map(({ item, result }) => [item.position, state.buildResponse(item, result)] as const),
    };
  }

  /**
   * Locks the users of a set, and completes their prepared changes.
   * @param results receives an error for each change that is invalid for the current state of its user.
   */
  private async buildChanges(
    tx: Sql,
    set: BulkSet,
    results: Map<BulkItem, User | ProblemError>,
  ): Promise<{ item: BulkItem; change: UserChange }[]> {
    const live = set.applicable;
    const isCreation = ({ change }: BulkItem): boolean => change?.kind === 'create';
    const existing = live.filter((item) => !isCreation(item)).map(({ id }) => id);
    const users = await this.writer.lock(tx, existing);
    const createdIds = new Set(live.filter(isCreation).map(({ id }) => id));
    const changes: { item: BulkItem; change: UserChange }[] = [];
    const slice = new TimeSlice();
    for (const item of live) {
      if (slice.isOver) await slice.startNext();
      const user = users.get(item.id);
      try {
        const change = await item.change?.buildChange(tx, user, createdIds);
        if (!change) continue;
        changes.push({ item, change });
        set.recordChange(item, change, user);
      } catch (error) {
        if (!(error instanceof ProblemError) || error.status >= 500) throw error;
        results.set(item, error);
      }
    }
    return changes;
  }
}
