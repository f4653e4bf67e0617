import { Inject, Injectable } from '@nestjs/common';
import { DATABASE, type Database } from './engine/database.js';
import { DatabaseFault, repeated } from './engine/database-fault.js';
import type { Dialect, OpenTransaction, Sql } from './engine/sql.js';

/** A transaction that stays open after its work, until the request that it belongs to has its answer. */
export interface HeldTransaction {
  readonly sql: Sql;
  /** @throws DatabaseFault `race` for a transaction that is too old, and as the database. */
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** A request that takes effect once, however often it is sent: its answer is stored in the transaction of its effect (ADR 16). */
export interface RepeatableEffect {
  /** The open transaction of the effect, for what the answer has to read. */
  readonly transaction: Sql | undefined;
  /** @throws FirstAnswer when an equal request has been answered. Nothing of this request is written then. */
  assertFirst(sql: Sql): Promise<void>;
  /** Takes over the transaction of the effect, to commit it with the answer. */
  hold(transaction: HeldTransaction): void;
  /** Runs `work` once the effect is committed. */
  afterCommit(work: () => Promise<void>): void;
  /** Runs `work` when the effect was rolled back after all. */
  afterRollback(work: () => Promise<void>): void;
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
   * @param caller of the request whose effect this is. With an `Idempotency-Key` the transaction stays open until the
   * request is answered: what the request does afterwards needs `caller.repeatable.transaction` or `afterCommit`.
   * @throws whatever `work` throws, after a rollback; ProblemError `unavailable` when the races do not end or no server
   * takes changes, and `outcome_unknown` when the answer to the commit was lost.
   */
  async run<T>(
    work: (tx: Sql) => Promise<T>,
    { repeatable }: { repeatable?: RepeatableEffect } = {},
  ): Promise<T> {
    if (repeatable?.transaction) return work(repeatable.transaction);
    return repeated('transaction', (attempt) => this.attempt(work, repeatable, attempt));
  }

  /** Runs `work` when the changes of a request are committed: at once, unless its transaction is still open. */
  async afterCommit(
    { repeatable }: { repeatable?: RepeatableEffect },
    work: () => Promise<void>,
  ): Promise<void> {
    if (repeatable?.transaction) repeatable.afterCommit(work);
    else await work();
  }

  private async attempt<T>(
    work: (tx: Sql) => Promise<T>,
    repeatable: RepeatableEffect | undefined,
    attempt: number,
  ): Promise<T> {
    const tx = await this.database.begin();
    const began = performance.now();
    try {
      if (repeatable && attempt > 1) await repeatable.assertFirst(tx); // the other writer may have been the same request
      const result = await work(tx);
      if (repeatable) repeatable.hold(heldTransaction(tx, began));
      else await commit(tx, began);
      return result;
    } catch (error) {
      await rollback(tx);
      throw error;
    }
  }
}

const heldTransaction = (tx: OpenTransaction, began: number): HeldTransaction => ({
  sql: tx,
  commit: () => commit(tx, began),
  rollback: () => rollback(tx),
});

async function commit(tx: OpenTransaction, began: number): Promise<void> {
  if (performance.now() - began > MAX_MILLIS) throw new DatabaseFault('race', new Error('too old to commit'));
  await tx.commit();
}

/** The first error is the one to report; a connection that cannot even roll back is gone, and the work with it. */
async function rollback(tx: OpenTransaction): Promise<void> {
  await tx.rollback().catch(() => undefined);
}

/** What a transaction of an import, or of a Bulk of SCIM, aims at. */
interface Aim {
  /** Milliseconds while others write, and while there are no other writers. */
  shared: number;
  alone: number;
  /** Batches. */
  least: number;
  most: number;
}

/**
 * SQLite has one writer at a time, and it may hold the database for 50 ms (interface §9). A small transaction writes more pages
 * for each row, so they are small only while others wait for their end. Elsewhere a transaction holds its own rows and,
 * where they name managers, the turn of that rule, for which other changes of managers wait: less than the 100 ms that a
 * request may be held up.
 */
const AIMS: Readonly<Record<Dialect, Aim>> = {
  sqlite: { shared: 12, alone: 40, least: 1, most: 40 },
  mysql: { shared: 80, alone: 80, least: 8, most: 40 },
};

/** Transactions in a row without other writers, after which none is expected. */
const CALM = 20;

/** How many batches a transaction writes, so that it takes about as long as it may. It begins with the least. */
export class BatchSizer {
  batches: number;
  private readonly aim: Aim;
  private calm = 0;

  constructor(dialect: Dialect) {
    this.aim = AIMS[dialect];
    this.batches = this.aim.least;
  }

  /** Records how long a transaction of so many batches took. The next number grows step by step, and shrinks at once. */
  recordDuration(batches: number, millis: number, othersWrite: boolean): void {
    const { least, most, shared, alone } = this.aim;
    this.calm = othersWrite ? 0 : this.calm + 1;
    const aim = this.calm >= CALM ? alone : shared;
    const fit = Math.floor((batches * aim) / Math.max(1, millis));
    this.batches = Math.max(least, Math.min(fit, 2 * batches, most));
  }
}
