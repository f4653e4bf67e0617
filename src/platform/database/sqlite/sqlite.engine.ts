import { setTimeout as delay } from 'node:timers/promises';
import { isBusy } from '../engine/database-error.js';
import type { Reader } from './read-worker.js';
import {
  type Engine,
  type InsertStatement,
  type ConnectionUsage,
  type OpenTransaction,
  type SqlValue,
  type WriteState,
  assertBindable,
} from '../engine/sql.js';
import { type Checkpointer, type SqliteConnection, toRowObject } from './sqlite-connection.js';
import type { Release } from '../../common/fair-semaphore.js';
import type { WriteLock } from './write-lock.js';

type Params = readonly SqlValue[];

/**
 * Number of pages in the write-ahead log (8 MiB) at which a checkpoint starts. A checkpoint takes some milliseconds.
 */
const LOG_PAGES = 2048;

/** Number of pages in the write-ahead log, and number of these pages that are checkpointed. */
interface LogSize {
  log: number;
  checkpointed: number;
}

/** Time for which a statement is retried while another program holds the lock. */
const BUSY_TIMEOUT_MILLIS = 5000;
/**
 * Pause between two attempts to run a statement. It is short, because the other program may start its next transaction
 * soon.
 */
const PAUSE_MILLIS = 2;

/**
 * SQLite on one connection. Statements are synchronous. Before a write the engine waits for the lock that the processes
 * of this service share, without blocking the thread.
 *
 * While a transaction is open, all other statements wait for `openTransaction`, because they would become part of that
 * transaction.
 */
export class SqliteEngine implements Engine {
  readonly dialect = 'sqlite';
  private openTransaction: Promise<void> | undefined;
  /** Number of log pages at which the next checkpoint starts. */
  private nextWriteBack = LOG_PAGES;
  private isWritingBack = false;

  /**
   * @param checkpointer is needed only without a `reader`.
   * @param reader runs checkpoints and the SELECT statements that may read a whole table. By default this process does
   * both.
   * @param stoppableReader runs the SELECT statements that a signal may stop. Stopping a statement kills the process of
   * this reader.
   */
  constructor(
    private readonly connection: SqliteConnection,
    private readonly lock: WriteLock,
    private readonly checkpointer?: Checkpointer,
    private readonly reader?: Reader,
    private readonly stoppableReader = reader,
  ) {}

  /** Closes the file. SQLite then checkpoints the whole log, so that the file can be copied without its log. */
  async close(): Promise<void> {
    await Promise.all([this.reader?.end(), this.stoppableReader?.end()]);
    while (this.openTransaction) await this.openTransaction;
    this.checkpointer?.close();
    this.connection.close();
  }

  get usage(): ConnectionUsage {
    return { inUse: Number(this.openTransaction !== undefined), waiting: this.lock.waiting };
  }

  async checkWriteState(): Promise<WriteState> {
    await this.query('PRAGMA schema_version'); // throws if the file cannot be read
    return 'writable';
  }

  query<T extends object>(sql: string, params: Params = []): Promise<T[]> {
    return this.retryWhileBusy(() => this.connection.query(sql, params) as T[]);
  }

  queryOne<T extends object>(sql: string, params: Params = []): Promise<T | undefined> {
    return this.retryWhileBusy(() => this.connection.queryOne(sql, params) as T | undefined);
  }

  async scan<T extends object>(sql: string, params: Params = [], signal?: AbortSignal): Promise<T[]> {
    const reader = signal ? this.stoppableReader : this.reader;
    if (!reader) return this.query<T>(sql, params);
    assertBindable(params);
    const { names, rows } = await reader.read(sql, params, signal);
    return rows.map((values) => toRowObject(names, values)) as T[];
  }

  execute(sql: string, params: Params = []): Promise<number> {
    return this.runLocked((release) => {
      const changes = this.connection.run(sql, params);
      release();
      this.checkpointIfLogIsLong();
      return changes;
    });
  }

  async insert(statement: InsertStatement, rows: readonly SqlValue[][]): Promise<void> {
    const tx = await this.begin();
    try {
      this.connection.insert(statement, rows);
      await tx.commit();
    } finally {
      await tx.rollback();
    }
  }

  begin(): Promise<OpenTransaction> {
    return this.runLocked((release) => {
      this.connection.exec('BEGIN IMMEDIATE');
      return this.createTransaction(release);
    });
  }

  private createTransaction(releaseLock: Release): OpenTransaction {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.openTransaction = promise;
    const end = (): void => {
      this.openTransaction = undefined;
      resolve(undefined);
      releaseLock();
    };
    return new SqliteTransaction(this.connection, end, this.checkpointIfLogIsLong.bind(this));
  }

  /**
   * Starts a checkpoint after a commit if the log is long. SQLite itself would checkpoint inside a COMMIT and block
   * this thread.
   */
  private checkpointIfLogIsLong(): void {
    if (!this.isWritingBack && this.countLogPages() >= this.nextWriteBack) this.startWriteBack();
  }

  private startWriteBack(): void {
    this.isWritingBack = true;
    this.runCheckpoint()
      .catch(() => undefined) // after a failure, the next commit starts a new attempt
      .finally(() => {
        this.isWritingBack = false;
      });
  }

  private async runCheckpoint(): Promise<void> {
    const { lock, reader, checkpointer } = this;
    const runCheckpoint = async () => checkpointer?.runCheckpoint() ?? false;
    const isDone = await (reader ? reader.runCheckpoint(lock) : lock.run(runCheckpoint));
    // Pages that a running read still needs stay in the log. The next attempt starts when the log has grown by
    // another 8 MiB.
    if (isDone) this.nextWriteBack = this.countLogPages() + LOG_PAGES;
  }

  /** Counts the pages in the log that are not checkpointed yet. The mode NOOP takes no lock and changes nothing. */
  private countLogPages(): number {
    const { log, checkpointed } = this.connection.queryOne('PRAGMA wal_checkpoint(NOOP)', []) as LogSize;
    return log - checkpointed;
  }

  /**
   * Takes the write lock and runs `write`, which must release the lock. If `write` fails, the lock is released here.
   */
  private async runLocked<T>(write: (release: Release) => T): Promise<T> {
    const release = await this.lock.acquire();
    try {
      return await this.retryWhileBusy(() => write(release));
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Runs `attempt` when no transaction is open on this connection. Repeats it while another program holds SQLite's
   * lock.
   * @throws DatabaseError `race` if the lock is still held after five seconds.
   */
  private async retryWhileBusy<T>(attempt: () => T): Promise<T> {
    for (const until = performance.now() + BUSY_TIMEOUT_MILLIS; ;) {
      while (this.openTransaction) await this.openTransaction;
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error) || performance.now() > until) throw error;
        await delay(PAUSE_MILLIS);
      }
    }
  }
}

class SqliteTransaction implements OpenTransaction {
  readonly dialect = 'sqlite';
  private isOpen = true;

  constructor(
    private readonly connection: SqliteConnection,
    private readonly onEnd: () => void,
    private readonly onCommit: () => void,
  ) {}

  async query<T extends object>(sql: string, params: Params = []): Promise<T[]> {
    return this.connection.query(sql, params) as T[];
  }

  async queryOne<T extends object>(sql: string, params: Params = []): Promise<T | undefined> {
    return this.connection.queryOne(sql, params) as T | undefined;
  }

  async execute(sql: string, params: Params = []): Promise<number> {
    return this.connection.run(sql, params);
  }

  async insert(statement: InsertStatement, rows: readonly SqlValue[][]): Promise<void> {
    this.connection.insert(statement, rows);
  }

  async commit(): Promise<void> {
    this.isOpen = false;
    try {
      this.connection.exec('COMMIT');
    } catch (error) {
      this.rollbackIfOpen();
      throw error;
    } finally {
      this.onEnd();
    }
    this.onCommit();
  }

  async rollback(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.rollbackIfOpen();
    this.onEnd();
  }

  /** Rolls back and ignores a failure, because after some errors, such as a full disk, SQLite has already rolled back. */
  private rollbackIfOpen(): void {
    try {
      this.connection.exec('ROLLBACK');
    } catch {
      // the transaction was no longer open
    }
  }
}
