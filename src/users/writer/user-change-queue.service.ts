import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/actor.js';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { DatabaseError, computeRetryDelay } from '../../platform/database/engine/database-error.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import {
  type SharedTransaction,
  BatchSizer,
  TransactionRunner,
} from '../../platform/database/transaction-runner.js';
import type { User } from '../model/user.js';
import { DEPENDENT_CHANGE, type Failure, toFailureProblem } from '../rules/failure.js';
import { type CallerChange, type PendingChange, completeChange } from './change-set.js';
import { UserWriter } from './user-writer.service.js';

/** Converts the failures of a change to the error of its request. */
type ToError = (failures: readonly Failure[]) => Error;

interface SubmittedChange {
  change: PendingChange;
  caller: Caller;
  toError: ToError;
}

/** A submitted change whose request waits for the result. */
interface Submission extends SubmittedChange {
  resolve: (user: User) => void;
  reject: (error: unknown) => void;
}

/** A transaction of a set holds the database for at most 50 ms, apart from the sync of its commit (interface §9). */
const SET_TARGET = { shared: 50, alone: 50, least: 1, most: 64 };
/**
 * Time after which the next set starts although the current set still runs, for example because it waits for a row lock
 * or a server does not respond.
 */
const MAX_SET_MILLIS = 50;
/** Time after which no more changes are built for a set. Large SCIM changes take several milliseconds each. */
const MAX_BUILD_MILLIS = 20;
/**
 * Size of the patches of a set, in characters of JSON. A set of this size gets no more changes. Writing 40,000
 * characters takes up to 10 ms, and the duration of earlier sets does not predict the size of the next changes.
 */
const MAX_PATCH_CHARACTERS = 64 * 1024;

/**
 * Applies the changes that requests submit. Changes that arrive while a transaction runs share the next one (ADR 43).
 * Each change has the same result as if it were applied alone.
 */
@Injectable()
export class UserChangeQueue {
  private waiting: Submission[] = [];
  private readonly sizer = new BatchSizer(SET_TARGET);
  private isBusy = false;
  /** Number of sets whose transaction has not begun. */
  private unfilledSets = 0;

  constructor(
    private readonly writer: UserWriter,
    private readonly transactions: TransactionRunner,
    private readonly fuse: KeyFuse,
  ) {}

  /**
   * Applies a change together with the changes of other requests.
   * @returns the user after the change, or before a deletion.
   * @throws the error of `buildChange`, the error that `toError` creates from the failures of the change,
   * FuseBlownError, or an error of `TransactionRunner.run`.
   */
  async write(change: PendingChange, caller: Caller, toError: ToError = toFailureProblem): Promise<User> {
    const submitted = { change, caller, toError };
    const open = caller.repeatable?.transaction;
    return this.fuse.runWithFuse(caller, () => {
      if (open) return this.applyAlone(open, submitted);
      return affectsOthers(change) ? this.runAlone(submitted) : this.enqueue(submitted);
    });
  }

  private enqueue(submitted: SubmittedChange): Promise<User> {
    const { promise, resolve, reject } = Promise.withResolvers<User>();
    this.waiting.push({ ...submitted, resolve, reject });
    this.startNextSet();
    return promise;
  }

  /**
   * Starts a set at the end of this turn of the event loop, so that it contains all changes of this turn. Starts one more
   * set than unfilled sets need, because the transaction of one of them may not begin.
   */
  private startNextSet(): void {
    const { length } = this.waiting;
    if (this.isBusy || length === 0 || length < this.unfilledSets) return;
    this.isBusy = true;
    this.unfilledSets++;
    setImmediate(() => void this.applySet());
  }

  private async applySet(): Promise<void> {
    let set: Set<Submission> | undefined;
    let isBlocking = true;
    const startNextSet = (): void => {
      if (isBlocking) this.isBusy = false;
      isBlocking = false;
      this.startNextSet();
    };
    const timer = setTimeout(startNextSet, MAX_SET_MILLIS);
    try {
      const users = new Map<Submission, User>();
      const fillSet = async (transaction: SharedTransaction): Promise<void> => {
        set = this.takeSet();
        await this.applyTogether(transaction, set, users);
      };
      // The next set is applied while the disk syncs the commit.
      await this.transactions.runShared(fillSet, startNextSet);
      for (const [{ resolve }, user] of users) resolve(user);
    } catch (error) {
      // If no transaction began, all waiting changes fail or start alone now, without waiting for further attempts.
      if (!set) this.unfilledSets--;
      this.handleFailure(set ?? new Set(this.waiting.splice(0)), error);
    }
    clearTimeout(timer);
    startNextSet();
  }

  /** Takes waiting changes of different users in the order of their arrival. */
  private takeSet(): Set<Submission> {
    this.unfilledSets--;
    const set = new Map<string, Submission>();
    const left: Submission[] = [];
    for (const submission of this.waiting) {
      const { uuid } = submission.change;
      if (set.size >= this.sizer.batches || set.has(uuid)) left.push(submission);
      else set.set(uuid, submission);
    }
    this.waiting = left;
    return new Set(set.values());
  }

  /**
   * Applies the changes of a set, except changes that are invalid or must wait for a later set. Afterwards, the set
   * contains only the changes whose requests wait for the commit.
   * @param users receives the user of each applied change whose request must wait for the commit.
   */
  private async applyTogether(
    transaction: SharedTransaction,
    set: Set<Submission>,
    users: Map<Submission, User>,
  ): Promise<void> {
    const { size } = set;
    const started = performance.now();
    const built = await this.buildChanges(transaction.sql, set);
    const outcomes = await this.writer.applyIndependent(transaction.sql, [...built.values()]);
    const postponed = [...set].filter((submission) => !built.has(submission));
    for (const [index, submission] of [...built.keys()].entries()) {
      const outcome = outcomes[index];
      if (outcome?.outcome !== 'error') {
        if (outcome) users.set(submission, outcome.user);
        continue;
      }
      set.delete(submission);
      if (outcome.failures.includes(DEPENDENT_CHANGE)) postponed.push(submission);
      else submission.reject(submission.toError(outcome.failures));
    }
    for (const submission of postponed) set.delete(submission);
    this.waiting.unshift(...postponed);
    const millis = performance.now() - started;
    if (size >= this.sizer.batches || millis > SET_TARGET.shared)
      this.sizer.recordDuration(size, millis, true);
    for (const [submission, user] of users) {
      const { repeatable } = submission.caller;
      if (!repeatable) continue;
      repeatable.setHeldTransaction(transaction.hold());
      set.delete(submission);
      users.delete(submission);
      submission.resolve(user); // the request stores its response in this transaction
    }
  }

  /**
   * Locks the users of a set and builds changes until the limits on their time or size are reached. Applies a change alone
   * if another transaction has locked its user.
   */
  private async buildChanges(tx: Sql, set: Set<Submission>): Promise<Map<Submission, CallerChange>> {
    const isTogether = set.size > 1;
    const uuids = [...set].flatMap(({ change }) => (isUpdate(change) ? change.uuid : []));
    const users = await this.writer.lock(tx, uuids, isTogether);
    const built = new Map<Submission, CallerChange>();
    const until = performance.now() + MAX_BUILD_MILLIS;
    let characters = 0;
    for (const submission of set) {
      if (performance.now() > until || characters > MAX_PATCH_CHARACTERS) break;
      const { change, caller } = submission;
      const user = users.get(change.uuid);
      if (isTogether && isUpdate(change) && !user) {
        set.delete(submission);
        this.startAlone(submission);
        continue;
      }
      try {
        const complete = await completeChange(change, tx, user);
        built.set(submission, { change: complete, caller });
        characters += JSON.stringify(complete.patch).length;
      } catch (error) {
        if (error instanceof DatabaseError) throw error;
        set.delete(submission);
        submission.reject(error);
      }
    }
    return built;
  }

  /** Applies each change of a failed set alone if a retry may succeed. Otherwise, rejects all changes. */
  private handleFailure(set: ReadonlySet<Submission>, error: unknown): void {
    const isRetryable =
      error instanceof DatabaseError
        ? computeRetryDelay(error, 'transaction', 1, 0) !== undefined
        : set.size > 1;
    if (isRetryable && set.size > 1) this.sizer.recordFailure();
    for (const submission of set) {
      if (isRetryable) this.startAlone(submission);
      else submission.reject(error);
    }
  }

  private startAlone(submission: Submission): void {
    this.runAlone(submission).then(submission.resolve, submission.reject);
  }

  private runAlone(submitted: SubmittedChange): Promise<User> {
    return this.transactions.run((tx) => this.applyAlone(tx, submitted), submitted.caller);
  }

  private async applyAlone(tx: Sql, { change, caller, toError }: SubmittedChange): Promise<User> {
    const users = isUpdate(change) ? await this.writer.lock(tx, [change.uuid]) : undefined;
    const built = await completeChange(change, tx, users?.get(change.uuid));
    const [outcome] = await this.writer.apply(tx, [built], caller);
    if (!outcome) throw new Error('The writer returned no outcome for the change.');
    if (outcome.outcome === 'error') throw toError(outcome.failures);
    return outcome.user;
  }
}

/** Returns true for a change that also changes other users or groups, and therefore needs its own transaction. */
const affectsOthers = ({ kind }: PendingChange): boolean => kind === 'delete' || kind === 'restore';

const isUpdate = ({ kind }: PendingChange): boolean => kind === 'update' || kind === 'delete';
