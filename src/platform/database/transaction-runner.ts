import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from './engine/database.js';
import { DatabaseFault } from './engine/database-fault.js';
import { repeated } from './engine/retry.js';
import type { OpenTransaction, Sql } from './engine/sql.js';

/** A request that takes effect once, however often it is sent (ADR 16). */
export interface Repeatable {
  /** @throws FirstAnswer when an equal request has been answered; nothing of this one is written then. */
  assertFirst(sql: Sql): Promise<void>;
  /** Stores the answer to be made of `result`, in the transaction of the effect. */
  keep(tx: Sql, result: unknown): Promise<void>;
}

/**
 * An older transaction is not committed: the audit takes rows that appear much later than they were written for forged ones
 * (`LATE_MILLIS`). None takes seconds but in a process that was stopped for a while.
 */
const MAX_MILLIS = 4 * 60_000;

/** The only way to open a transaction. */
@Injectable()
export class TransactionRunner {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * Runs `work` in one transaction and returns what it returns. When another writer got in between (unique violation,
   * deadlock, lock wait, certification), or the server went away before the commit, the whole work runs again
   * (`pauseAfter`): it must read before it writes, so that it finds what the other one wrote and can name it, and it
   * must change nothing outside of `tx`. Nor may it use the database beside `tx`: on SQLite that statement would wait
   * for this very transaction to end.
   * @param caller the caller of the request whose effect this is: the answer is stored with it where it is asked for.
   * @throws whatever `work` throws, after a rollback; ProblemError `unavailable` when the races do not end or no server
   * takes changes, and `outcome_unknown` when the answer to the commit was lost.
   */
  async run<T>(work: (tx: Sql) => Promise<T>, caller?: { repeatable?: Repeatable }): Promise<T> {
    const repeatable = caller?.repeatable;
    return repeated('transaction', (attempt) => this.once(work, repeatable, attempt > 1));
  }

  private async once<T>(
    work: (tx: Sql) => Promise<T>,
    repeatable: Repeatable | undefined,
    again: boolean,
  ): Promise<T> {
    const tx = await this.database.begin();
    const began = performance.now();
    try {
      if (repeatable && again) await repeatable.assertFirst(tx); // the other writer may have been the same request
      const result = await work(tx);
      if (repeatable) await repeatable.keep(tx, result);
      if (performance.now() - began > MAX_MILLIS)
        throw new DatabaseFault('race', new Error('too old to commit'));
      await tx.commit();
      return result;
    } catch (error) {
      await rollback(tx);
      throw error;
    }
  }
}

/** The first error is the one to report; a connection that cannot even roll back is gone, and the work with it. */
async function rollback(tx: OpenTransaction): Promise<void> {
  await tx.rollback().catch(() => undefined);
}
