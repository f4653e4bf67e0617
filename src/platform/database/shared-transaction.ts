import { DatabaseError } from './engine/database-error.js';
import type { Sql } from './engine/sql.js';

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

  /** Keeps the transaction open until the caller commits or rolls back its part. */
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
