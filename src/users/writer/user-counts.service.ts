import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { createFaultLogger } from '../../platform/http/problem.js';
import { type Sql, deleteRows, insertRows } from '../../platform/database/engine/sql.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { Log } from '../../platform/telemetry/log.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { DatabaseError } from '../../platform/database/engine/database-error.js';
import { UserCountEntity } from '../model/user-lookups.entity.js';

/**
 * Names of the counters: users by status, active Webmasters, and changes that can affect the matches of search words.
 */
export type CounterName = 'Active' | 'Blocked' | 'webmasters' | 'word_changes';

/** Delay before the rows of a change are merged. */
const FOLD_DELAY_MILLIS = 500;
/** Minimum number of rows to merge. Adding up fewer rows is cheap. */
const MIN_FOLDED_ROWS = 100;
const FOLD_BATCH_SIZE = 2000;

/**
 * Counts users without reading them (ADR 7). Each change inserts rows with the numbers that it adds to the counters, so
 * that concurrent changes do not wait for each other. The total of a counter is the sum of its rows. An instance merges
 * rows shortly after its changes, to keep the table small. Uses hand-written SQL for sums and sets of rows (ADR 13).
 */
@Injectable()
export class UserCounts implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private pendingFold = Promise.resolve();
  private isStopping = false;

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly transactions: TransactionRunner,
    private readonly log: Log,
  ) {}

  /** Merges rows at the start, because many rows may remain after a process was killed. */
  onApplicationBootstrap(): void {
    this.scheduleMerge();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    await this.pendingFold;
  }

  async add(tx: Sql, deltas: ReadonlyMap<CounterName, number>): Promise<void> {
    await insertCounts(tx, deltas);
    this.scheduleMerge();
  }

  /**
   * Counts the users with one of the statuses, and all users.
   * @returns the counts and `wordVersion`, which every change that can affect the matches of search words increases.
   */
  async countUsers(
    statuses: readonly string[],
  ): Promise<{ matching: number; all: number; wordVersion: number }> {
    const { webmasters: _, word_changes: wordVersion = 0, ...totals } = await this.readTotals();
    const matching = statuses.reduce((sum, status) => sum + (totals[status] ?? 0), 0);
    return { matching, all: Object.values(totals).reduce((sum, count) => sum + count, 0), wordVersion };
  }

  /** @param sql the transaction whose uncommitted changes must count. By default, only committed changes count. */
  async count(name: CounterName, sql?: Sql): Promise<number> {
    return (await this.readTotals(sql))[name] ?? 0;
  }

  async mergeAllRows(): Promise<void> {
    while ((await this.transactions.run(foldBatch)) === FOLD_BATCH_SIZE);
  }

  private async readTotals(sql: Sql = this.database): Promise<Readonly<Record<string, number>>> {
    const rows = await sql.query<{ name: string; value: number | string }>(
      'SELECT name, SUM(value) AS value FROM user_counts GROUP BY name',
    );
    return Object.fromEntries(rows.map(({ name, value }) => [name, Number(value)]));
  }

  private scheduleMerge(): void {
    if (this.isStopping) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.pendingFold = this.pendingFold
        .then(() => this.mergeAllRows())
        // After an error, the totals are still correct. The next change tries again to merge rows.
        .catch(createFaultLogger(this.log, 'counts'));
    }, FOLD_DELAY_MILLIS).unref();
  }
}

async function insertCounts(tx: Sql, deltas: ReadonlyMap<string, number>): Promise<void> {
  const changed = [...deltas].filter(([, value]) => value !== 0);
  const rows = changed.map(([name, value]) => ({ id: uuidv7(), name, value }));
  await insertRows(tx, UserCountEntity, rows);
}

/**
 * Replaces the oldest rows with their sums, one row per counter. Does nothing for fewer than `MIN_FOLDED_ROWS` rows.
 * @returns the number of replaced rows.
 * @throws DatabaseError `race` if another instance has replaced some of the rows first.
 */
async function foldBatch(tx: Sql): Promise<number> {
  const sql = 'SELECT id, name, value FROM user_counts ORDER BY id LIMIT ?';
  const rows = await tx.query<UserCountEntity>(sql, [FOLD_BATCH_SIZE]);
  if (rows.length < MIN_FOLDED_ROWS) return 0;
  const ids = rows.map(({ id }) => id);
  const deleted = await deleteRows(tx, UserCountEntity, 'id', ids);
  if (deleted < rows.length)
    throw new DatabaseError('race', new Error('another instance merged these counters first'));
  const sums = new Map<string, number>();
  for (const { name, value } of rows) sums.set(name, (sums.get(name) ?? 0) + value);
  await insertCounts(tx, sums);
  return rows.length;
}
