import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { KeyFuse, FuseBlownError } from '../../api-keys/fuse/key-fuse.service.js';
import { ProblemError } from '../../platform/common/errors.js';
import { TimeSlice } from '../../platform/common/time-slice.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { BATCH_TARGETS, BatchSizer, TransactionRunner } from '../../platform/database/transaction-runner.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { WriteLock } from '../../platform/database/sqlite/write-lock.js';
import type { User } from '../../users/model/user.js';
import { type UserChange, type ChangeOutcome, completeChange } from '../../users/writer/change-set.js';
import { UserWriter } from '../../users/writer/user-writer.service.js';
import { ScimUserChanges } from '../users/scim-user-changes.service.js';
import { toScimProblem } from '../users/scim-users.service.js';
import { type BulkItem, type BulkPart, type BulkState, toItemError, executeOperation } from './bulk-state.js';
import { identifiersOf, toLoginIdentifier } from '../../users/model/comparison-keys.js';
import { applyPatch, createEmptyUser } from '../../users/rules/user-rules.js';
import { type BulkOperation, createUnresolvedError } from './bulk-plan.js';

/**
 * Operations that are left out of their set, each with its error. Operations after the last error that `failOnErrors`
 * allows get no response, so their error is undefined.
 */
type Excluded = ReadonlyMap<BulkItem, ProblemError | undefined>;

/** Thrown to roll back a transaction, so that its set can be applied again without the excluded operations. */
class ApplyAgainError extends Error {
  constructor(readonly excluded: Excluded) {
    super('The set is applied again without some operations.');
  }
}

interface ItemResult {
  item: BulkItem;
  result: User | ProblemError;
}

/**
 * Operations on different users that are applied in one transaction. If some of them fail, the transaction is rolled
 * back and the other operations are applied again.
 */
class BulkSet {
  private readonly excluded = new Map<BulkItem, ProblemError | undefined>();
  private deactivating: BulkItem[] = [];
  startTime = 0;

  constructor(
    readonly items: readonly BulkItem[],
    private readonly state: BulkState,
  ) {}

  get applicable(): BulkItem[] {
    return this.items.filter((item) => item.change && !this.excluded.has(item));
  }

  startAttempt(): void {
    this.startTime = performance.now();
    this.deactivating = [];
  }

  /**
   * Records an operation if it blocks or deletes a user. If the set blows the fuse of the API key, `excludeFailed`
   * excludes the last recorded operations.
   */
  recordChange(item: BulkItem, { kind, patch }: UserChange, user: User | undefined): void {
    const blocks = kind === 'delete' || (user?.status === 'Active' && patch.status === 'Blocked');
    if (user && blocks) this.deactivating.push(item);
  }

  /** Excludes the operations that caused an attempt to fail. @throws the error if no operations are left to exclude */
  excludeFailed(error: unknown, caller: Caller): void {
    for (const [item, why] of this.findFailedItems(error, caller)) this.excluded.set(item, why);
  }

  private findFailedItems(error: unknown, caller: Caller): Excluded {
    if (error instanceof ApplyAgainError) return error.excluded;
    if (error instanceof FuseBlownError && this.deactivating.length > 0) {
      const beyond = error.count - error.limit;
      return new Map(this.deactivating.slice(-beyond).map((item) => [item, error]));
    }
    const reason = toItemError(error, caller);
    if (this.applicable.length === 0) throw reason;
    return new Map(this.applicable.map((item) => [item, reason]));
  }

  /**
   * Returns the results of all operations in execution order.
   * @param applied results of the current attempt
   * @throws ApplyAgainError if a successful operation refers to a failed operation, or comes after the last error that
   * `failOnErrors` allows.
   */
  collectResults(applied: ReadonlyMap<BulkItem, User | ProblemError>): ItemResult[] {
    const results = this.items.flatMap((item) => {
      const refusal = this.excluded.has(item) ? this.excluded.get(item) : item.error;
      const result = applied.get(item) ?? refusal;
      return result ? [{ item, result }] : [];
    });
    const wrong = new Map<BulkItem, ProblemError | undefined>();
    const { failed, last } = this.findFailed(results);
    const isGone = ({ operation }: BulkItem) => failed.has(operation) || operation.index > last;
    const gone = new Set(this.items.filter(isGone).map(({ operation }) => operation.bulkId));
    for (const { item, result } of results) {
      if (result instanceof ProblemError) continue;
      const { index, references } = item.operation;
      if (index > last) wrong.set(item, undefined);
      else if (failed.has(item.operation))
        wrong.set(item, createUnresolvedError([...references].find((name) => gone.has(name)) ?? ''));
    }
    if (wrong.size > 0) throw new ApplyAgainError(wrong);
    return results;
  }

  /**
   * Finds all failed operations, even outside of this set, and the index of the last error that `failOnErrors` allows.
   * An operation that refers to an operation after this index fails too, which can move the index.
   */
  private findFailed(results: readonly ItemResult[]): { failed: ReadonlySet<BulkOperation>; last: number } {
    const failed = new Set<BulkOperation>();
    for (const { item, result } of results)
      if (result instanceof ProblemError) this.state.addFailed(item.operation, failed);
    const left = new Set(this.items);
    for (;;) {
      const { size } = failed;
      const last = this.state.findStopIndex(failed);
      for (const item of left) {
        if (item.operation.index <= last) continue;
        this.state.addDependents(item.operation, failed);
        left.delete(item);
      }
      if (failed.size === size) return { failed, last };
    }
  }
}

/**
 * If several operations set the same identifier, excludes all of them except the first. Otherwise the user writer would
 * reject all of them. Ignores operations that also fail for another reason.
 * @throws ApplyAgainError with the excluded operations
 */
function assertDistinctIdentifiers(
  applied: readonly { item: BulkItem; change: UserChange; outcome: ChangeOutcome }[],
): void {
  const taken = new Set<string>();
  const excluded = new Map<BulkItem, ProblemError>();
  for (const { item, change, outcome } of applied) {
    if (outcome.outcome !== 'error') continue;
    const { failures } = outcome;
    const duplicates = failures.filter(({ code }) => code === 'duplicate').length;
    if (duplicates === 0) continue;
    const identifiers = listIdentifiers(change);
    if (duplicates < failures.length || identifiers.some((identifier) => taken.has(identifier)))
      excluded.set(item, toScimProblem(failures));
    else for (const identifier of identifiers) taken.add(identifier);
  }
  if (excluded.size > 0) throw new ApplyAgainError(excluded);
}

const NO_LOGIN = toLoginIdentifier('');

const listIdentifiers = ({ patch }: UserChange): string[] =>
  identifiersOf(applyPatch(createEmptyUser('', ''), patch)).flatMap(({ identifier }) =>
    identifier === NO_LOGIN ? [] : identifier,
  );

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
        if (!item.change) continue;
        const change = await completeChange(item.change, tx, user, createdIds);
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
