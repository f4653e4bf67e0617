import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from './engine/database.js';
import { DatabaseError, runWithRetry } from './engine/database-error.js';
import type { Dialect, OpenTransaction, Sql } from './engine/sql.js';

/**
 * The changes of a request with an `Idempotency-Key`. The response to the request is stored in the transaction of
 * these changes (ADR 16).
 */
export interface RepeatableEffect {
  /** The open transaction of the changes, or undefined. Reads for the response must run in this transaction. */
  readonly transaction: Sql | undefined;
  /** @throws ReplayedResponseError, before anything is written, if the same request has already been answered. */
  assertFirstRequest(sql?: Sql): Promise<void>;
  /** Takes over the transaction of the changes, which is later committed together with the response. */
  setHeldTransaction(transaction: HeldTransaction): void;
  runAfterCommit(work: () => void | Promise<void>): void;
  runAfterRollback(work: () => Promise<void>): void;
}

/** Caller of a request. `repeatable` is missing if the request lacks an `Idempotency-Key`. */
interface RepeatableCaller {
  repeatable?: RepeatableEffect;
}

/**
 * Maximum age of a transaction at its commit. Transactions get that old only if the process was suspended, or if the clock
 * was set. The audit treats events that are committed much later than their time as tampering (`LATE_MILLIS`).
 */
const MAX_MILLIS = 4 * 60_000;

/** Runs work in transactions. Features open transactions only through this class. */
@Injectable()
export class TransactionRunner {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * Runs `work` in one transaction and returns its result.
   *
   * After a conflict with another writer (unique violation, deadlock, lock wait, certification), or if the server becomes
   * unreachable before the commit, the whole work runs again as `computeRetryDelay` decides. The work must therefore read
   * before it writes, to detect what the other writer wrote, and must change nothing outside of `tx`. It must run all
   * statements on `tx`: on SQLite any other write would wait for the end of this transaction.
   *
   * With an `Idempotency-Key` the transaction stays open until the request is answered. Later work of the request must use
   * `caller.repeatable.transaction` or `runAfterCommit`.
   * @throws the error of `work`, after a rollback.
   * @throws ProblemError `unavailable` if the conflicts continue or no server is writable, and `outcome_unknown` if the
   * response to the commit was lost.
   */
  async run<T>(work: (tx: Sql) => Promise<T>, { repeatable }: RepeatableCaller = {}): Promise<T> {
    if (repeatable?.transaction) return work(repeatable.transaction);
    return runWithRetry('transaction', (attempt) => this.runAttempt(work, repeatable, attempt));
  }

  /**
   * Runs `work` once in a transaction that several requests share. Commits the transaction when all requests that hold
   * it are ready.
   * @param onCommit called after the last write, directly before the commit.
   * @throws the error of `work` or of the commit, or DatabaseError `race` if one of the requests rolled back.
   */
  async runShared(
    work: (transaction: SharedTransaction) => Promise<void>,
    onCommit: () => void,
  ): Promise<void> {
    const tx = await this.database.begin();
    const began = [performance.now(), Date.now()] as const;
    const shared = new SharedTransaction(tx);
    try {
      await work(shared);
      await shared.waitForHolders();
      onCommit();
      await commit(tx, began);
      shared.confirm();
    } catch (error) {
      shared.fail(error);
      await rollback(tx);
      throw error;
    }
  }

  /**
   * Runs `work` after the changes of a request have been committed. Runs it at once if no transaction of the request
   * is open.
   */
  async runAfterCommit({ repeatable }: RepeatableCaller, work: () => void | Promise<void>): Promise<void> {
    if (repeatable?.transaction) repeatable.runAfterCommit(work);
    else await work();
  }

  private async runAttempt<T>(
    work: (tx: Sql) => Promise<T>,
    repeatable: RepeatableEffect | undefined,
    attempt: number,
  ): Promise<T> {
    const tx = await this.database.begin();
    const began = [performance.now(), Date.now()] as const;
    try {
      if (repeatable && attempt > 1) await repeatable.assertFirstRequest(tx); // the same request may have been answered since the first attempt
      const result = await work(tx);
      if (repeatable) repeatable.setHeldTransaction(toHeldTransaction(tx, began));
      else await commit(tx, began);
      return result;
    } catch (error) {
      await rollback(tx);
      throw error;
    }
  }
}

function toHeldTransaction(tx: OpenTransaction, began: Clocks): HeldTransaction {
  return { sql: tx, commit: () => commit(tx, began), rollback: () => rollback(tx) };
}

type Clocks = readonly [monotonic: number, wall: number];

async function commit(tx: OpenTransaction, [monotonic, wall]: Clocks): Promise<void> {
  const age = Math.max(performance.now() - monotonic, Math.abs(Date.now() - wall));
  if (age > MAX_MILLIS) throw new DatabaseError('race', new Error('too old to commit'));
  await tx.commit();
}

/**
 * Rolls back and ignores a failure, because the first error must be reported, and a broken connection rolls back by itself.
 */
async function rollback(tx: OpenTransaction): Promise<void> {
  await tx.rollback().catch(() => undefined);
}

/** Target duration and size of a transaction that writes a variable number of batches. */
interface BatchTarget {
  /** Target duration while there are other writers, in milliseconds. */
  shared: number;
  /** Target duration while there are no other writers, in milliseconds. */
  alone: number;
  /** Minimum number of batches in a transaction. */
  least: number;
  /** Maximum number of batches in a transaction. */
  most: number;
}

/**
 * Targets of imports and SCIM bulk requests. On SQLite one writer may hold the database for 50 ms (interface §9). Small
 * transactions write more pages per row, so they are used only while other writers wait. On MariaDB and MySQL, a
 * request must not wait longer than 100 ms for the row locks of a transaction.
 */
export const BATCH_TARGETS: Readonly<Record<Dialect, BatchTarget>> = {
  sqlite: { shared: 12, alone: 36, least: 1, most: 40 },
  mysql: { shared: 80, alone: 80, least: 8, most: 40 },
};

/** Number of consecutive transactions without other writers after which the target duration `alone` applies. */
const QUIET_TRANSACTIONS = 8;

/**
 * Computes how many batches a transaction may contain to meet its target duration. The first transaction gets the
 * minimum.
 */
export class BatchSizer {
  batches = this.target.least;
  private quietTransactions = 0;
  /** Maximum number of batches after failures. */
  private ceiling = this.target.most;

  constructor(private readonly target: BatchTarget) {}

  /**
   * Records the duration of a transaction of `batches` batches, and adapts the size of the next transaction. The size
   * at most doubles with each transaction, but can shrink to any size at once.
   */
  recordDuration(batches: number, millis: number, othersWrite: boolean): void {
    const { least, most, shared, alone } = this.target;
    this.quietTransactions = othersWrite ? 0 : this.quietTransactions + 1;
    this.ceiling = Math.min(most, this.ceiling + 1);
    const aim = this.quietTransactions >= QUIET_TRANSACTIONS ? alone : shared;
    const fit = Math.floor((batches * aim) / Math.max(1, millis));
    this.batches = Math.max(least, Math.min(fit, 2 * batches, this.ceiling));
  }

  /** Halves the size of the next transactions after a failure. Each later transaction may be one batch larger. */
  recordFailure(): void {
    this.ceiling = Math.max(this.target.least, Math.floor(this.batches / 2));
    this.batches = this.ceiling;
  }
}

/**
 * A transaction that stays open after the changes of a request, so that the response is committed with the changes.
 */
export interface HeldTransaction {
  readonly sql: Sql;
  /**
   * Commits the transaction.
   * @throws DatabaseError `race` if the transaction is too old, or the error of the COMMIT.
   */
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/**
 * A transaction that contains the changes of several requests. A request with an `Idempotency-Key` holds the
 * transaction open until its response is stored. If one of these requests rolls back, the changes of all requests are
 * rolled back.
 */
export class SharedTransaction {
  private holders = 0;
  private readonly ready = Promise.withResolvers<undefined>();
  private readonly end = Promise.withResolvers<undefined>();
  private lastStatement: Promise<unknown> = Promise.resolve();
  private failure: DatabaseError | undefined;

  constructor(readonly sql: Sql) {
    // Prevent unhandled rejections if no request holds the transaction.
    this.ready.promise.catch(() => undefined);
    this.end.promise.catch(() => undefined);
  }

  /** Keeps the transaction open until the caller commits or rolls back. */
  hold(): HeldTransaction {
    this.holders++;
    return {
      sql: this.createSerialSql(),
      commit: async () => {
        this.holders--;
        if (this.holders === 0) this.ready.resolve(undefined);
        await this.end.promise;
      },
      rollback: () => {
        this.fail(new Error('another request rolled back'));
        return Promise.resolve();
      },
    };
  }

  /** @throws DatabaseError `race` if one of the requests that hold the transaction rolled back. */
  async waitForHolders(): Promise<void> {
    if (this.holders > 0) await this.ready.promise;
  }

  /** Reports the commit to the requests that hold the transaction. */
  confirm(): void {
    this.end.resolve(undefined);
  }

  /**
   * Rejects the requests that hold the transaction, unless the transaction has ended. The requests run again, unless
   * the error is a `DatabaseError` that does not allow a retry.
   */
  fail(cause: unknown): void {
    const isKnown = cause instanceof DatabaseError;
    const error = isKnown
      ? cause
      : new DatabaseError('race', new Error('a shared transaction failed', { cause }));
    this.failure ??= error;
    this.ready.reject(error);
    this.end.reject(error);
  }

  /**
   * Creates an `Sql` that runs the statements of all requests one after the other. It runs no statement after an error
   * or a rollback, because the database would immediately commit a statement outside the transaction. Only the request
   * whose statement failed receives the error of this statement.
   */
  private createSerialSql(): Sql {
    const { sql } = this;
    const runNext = <T>(run: () => Promise<T>): Promise<T> => {
      const result = this.lastStatement.then(() => (this.failure ? Promise.reject(this.failure) : run()));
      this.lastStatement = result.catch((error: unknown) => {
        this.fail(error);
      });
      return result;
    };
    return {
      dialect: sql.dialect,
      query: (...statement) => runNext(() => sql.query(...statement)),
      queryOne: (...statement) => runNext(() => sql.queryOne(...statement)),
      execute: (...statement) => runNext(() => sql.execute(...statement)),
      insert: (...statement) => runNext(() => sql.insert(...statement)),
    };
  }
}
