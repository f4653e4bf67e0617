import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { toProblemError } from '../../platform/http/problem.js';
import { type Sql, deleteRows, insertRows } from '../../platform/database/engine/sql.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { Log } from '../../platform/telemetry/log.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { DatabaseFault } from '../../platform/database/engine/database-fault.js';
import { UserCountEntity } from '../model/user-lookups.entity.js';

/** What is counted: users by status, and active Webmasters. */
export type Counted = 'Active' | 'Blocked' | 'webmasters';

/** Hand-written SQL: sums and sets of rows (ADR 13). */
@Injectable()
export class UserCountsRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Inserts what a change adds to the totals; no row is written that another change writes. */
  async add(tx: Sql, deltas: ReadonlyMap<string, number>): Promise<void> {
    const rows = [...deltas].filter(([, value]) => value !== 0);
    await insertRows(
      tx,
      UserCountEntity,
      rows.map(([name, value]) => ({ id: uuidv7(), name, value })),
    );
  }

  /** The totals, exact at the moment of the statement. */
  async totals(sql: Sql = this.database): Promise<Readonly<Record<string, number>>> {
    const rows = await sql.query<{ name: string; value: number | string }>(
      'SELECT name, SUM(value) AS value FROM user_counts GROUP BY name',
    );
    return Object.fromEntries(rows.map(({ name, value }) => [name, Number(value)]));
  }

  /**
   * Replaces the oldest rows by their sums, one a name. Rows that are inserted meanwhile are not touched.
   * @param atLeast fewer rows stay as they are. @param most rows in one go.
   * @returns how many rows there were to fold.
   * @throws DatabaseFault `race` where another instance has folded some of them first.
   */
  async fold(tx: Sql, atLeast: number, most: number): Promise<number> {
    const rows = await tx.query<UserCountEntity>(
      'SELECT id, name, value FROM user_counts ORDER BY id LIMIT ?',
      [most],
    );
    if (rows.length < atLeast) return 0;
    const deleted = await deleteRows(
      tx,
      UserCountEntity,
      'id',
      rows.map(({ id }) => id),
    );
    if (deleted < rows.length)
      throw new DatabaseFault('race', new Error('these counts were folded meanwhile'));
    const sums = new Map<string, number>();
    for (const { name, value } of rows) sums.set(name, (sums.get(name) ?? 0) + value);
    await this.add(tx, sums);
    return rows.length;
  }
}

/** How long after a change its rows are folded, with those of the changes that follow it. */
const FOLD_MILLIS = 500;
/** A sum over fewer rows costs less than folding them. */
const WORTH_FOLDING = 100;
const FOLDED_AT_ONCE = 2000;

/**
 * How many users there are (ADR 7). Each change inserts a row with what it adds, so that changes of different users share
 * no row; the total is the sum of all rows. Whoever inserts folds them soon after, so that there are never many.
 */
@Injectable()
export class UserCounts implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private folding = Promise.resolve();
  private stopping = false;

  constructor(
    private readonly repository: UserCountsRepository,
    private readonly transactions: TransactionRunner,
    private readonly log: Log,
  ) {}

  /** A process that was killed may have left many. */
  onApplicationBootstrap(): void {
    this.foldSoon();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await this.folding;
  }

  /** Adds to the totals in the transaction of a change. */
  async add(tx: Sql, deltas: ReadonlyMap<Counted, number>): Promise<void> {
    await this.repository.add(tx, deltas);
    this.foldSoon();
  }

  /** How many users have one of these statuses, and how many there are: with every change that was acknowledged. */
  async users(statuses: readonly string[]): Promise<{ matching: number; all: number }> {
    const { webmasters: _, ...totals } = await this.repository.totals();
    const matching = statuses.reduce((sum, status) => sum + (totals[status] ?? 0), 0);
    return { matching, all: Object.values(totals).reduce((sum, count) => sum + count, 0) };
  }

  /** How many active users there are. @param sql as for `webmasters`. */
  async active(sql?: Sql): Promise<number> {
    return (await this.repository.totals(sql))['Active'] ?? 0;
  }

  /** How many active Webmasters there are. @param sql a transaction, if it is to see its own changes. */
  async webmasters(sql?: Sql): Promise<number> {
    return (await this.repository.totals(sql))['webmasters'] ?? 0;
  }

  /** Folds until few rows are left. */
  async fold(): Promise<void> {
    const part = () => this.transactions.run((tx) => this.repository.fold(tx, WORTH_FOLDING, FOLDED_AT_ONCE));
    while ((await part()) === FOLDED_AT_ONCE);
  }

  private foldSoon(): void {
    if (this.stopping) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.folding = this.folding
        .then(() => this.fold())
        .catch((error: unknown) => {
          // The rows stay and count; the next change tries again.
          this.log.fault('counts', toProblemError(error).code, error);
        });
    }, FOLD_MILLIS).unref();
  }
}
