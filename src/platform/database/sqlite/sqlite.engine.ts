import { setTimeout as delay } from 'node:timers/promises';
import { isBusy } from '../engine/database-error.js';
import type { ReadWorker } from './read-worker.js';
import {
  type Engine,
  type InsertStatement,
  type ConnectionUsage,
  type OpenTransaction,
  type Sql,
  type SqlValue,
  type WriteState,
  assertBindable,
} from '../engine/sql.js';
import { type SqliteConnection, rowBuilderOf } from './sqlite-connection.js';
import type { Release } from '../../common/fair-semaphore.js';
import type { WriteAheadLog } from './write-ahead-log.js';
import type { WriteLock } from './write-lock.js';

type Params = readonly SqlValue[];

/** Time for which a statement is retried while another program holds the lock. */
const BUSY_TIMEOUT_MILLIS = 5000;
/**
 * Pause between two attempts to run a statement. It is short, because the other program may start its next transaction
 * soon.
 */
const PAUSE_MILLIS = 2;

/**
 * Time for which a read waits for the end of a transaction. After that, it uses the second connection, which costs more,
 * because each commit empties the cache of that connection.
 */
const READ_WAIT_MILLIS = 10;

/**
 * SQLite on one connection for writes. Statements are synchronous. Before a write the engine waits for the lock that the
 * processes of this service share, without blocking the thread.
 *
 * While a transaction is open, all other writes wait for `openTransaction`, because they would become part of that
 * transaction. During a long transaction, reads use a second connection, which sees only commits.
 */
export class SqliteEngine implements Engine {
  readonly dialect = 'sqlite';
  private openTransaction: Promise<void> | undefined;

  /**
   * @param committed connection for reads while a transaction is open on `connection`.
   * @param reader runs the SELECT statements that may read a whole table. By default this process runs them.
   * @param stoppableReader runs the SELECT statements that a signal may stop. Stopping a statement kills the process of
   * this reader.
   */
  constructor(
    private readonly connection: SqliteConnection,
    private readonly lock: WriteLock,
    private readonly log: WriteAheadLog,
    private readonly committed: SqliteConnection,
    private readonly reader?: ReadWorker,
    private readonly stoppableReader = reader,
  ) {}

  /** Closes the file. The file then contains all commits, and can be copied without the log. */
  async close(): Promise<void> {
    await Promise.all([this.reader?.end(), this.stoppableReader?.end()]);
    while (this.openTransaction) await this.openTransaction;
    await this.log.close();
    this.committed.close();
    this.connection.close();
    this.lock.files?.recordClosed();
  }

  get usage(): ConnectionUsage {
    return { inUse: Number(this.openTransaction !== undefined), waiting: this.lock.waiting };
  }

  async checkWriteState(): Promise<WriteState> {
    await this.connection.probe.run(this);
    return 'writable';
  }

  query<T extends object>(sql: string, params: Params = []): Promise<T[]> {
    return this.read((connection) => connection.query(sql, params) as T[]);
  }

  queryOne<T extends object>(sql: string, params: Params = []): Promise<T | undefined> {
    return this.read((connection) => connection.queryOne(sql, params) as T | undefined);
  }

  private async read<T>(run: (connection: SqliteConnection) => T): Promise<T> {
    const until = this.openTransaction ? performance.now() + READ_WAIT_MILLIS : 0;
    while (this.openTransaction && performance.now() < until)
      await Promise.race([this.openTransaction, delay(READ_WAIT_MILLIS, undefined, { ref: false })]);
    return this.retryWhileBusy(() => run(this.openTransaction ? this.committed : this.connection), false);
  }

  async scan<T extends object>(sql: string, params: Params = [], signal?: AbortSignal): Promise<T[]> {
    const reader = signal ? this.stoppableReader : this.reader;
    if (!reader) return this.query<T>(sql, params);
    assertBindable(params);
    const { names, rows } = await reader.read(sql, params, signal).catch((error: unknown) => {
      throw this.connection.probe.record(error);
    });
    return rows.map(rowBuilderOf(names)) as T[];
  }

  execute(sql: string, params: Params = []): Promise<number> {
    return this.runLocked((release) => {
      const changes = this.log.runCommit(() => this.connection.run(sql, params));
      release();
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

  async begin(): Promise<OpenTransaction> {
    await this.log.waitForSpace();
    return this.runLocked((releaseLock) => {
      this.connection.exec('BEGIN IMMEDIATE');
      const { promise, resolve } = Promise.withResolvers<undefined>();
      this.openTransaction = promise;
      return new SqliteTransaction(this.connection, this.log, () => {
        this.openTransaction = undefined;
        resolve(undefined);
        releaseLock();
      });
    });
  }

  /**
   * Takes the write lock and runs `write`, which must release the lock. If `write` fails, the lock is released here.
   */
  private async runLocked<T>(write: (release: Release) => T): Promise<T> {
    const release = await this.lock.acquire();
    try {
      return await this.retryWhileBusy(() => {
        this.log.assertIndexUnchanged();
        return write(release);
      });
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Runs `attempt`. Repeats it while another program holds SQLite's lock.
   * @param waits true to wait until no transaction is open.
   * @throws DatabaseError `race` if the lock is still held after five seconds.
   */
  private async retryWhileBusy<T>(attempt: () => T, waits = true): Promise<T> {
    for (let until = 0; ;) {
      while (waits && this.openTransaction) await this.openTransaction;
      this.log.assertUsable();
      try {
        return attempt();
      } catch (error) {
        until ||= performance.now() + BUSY_TIMEOUT_MILLIS;
        if (!isBusy(error) || performance.now() > until) throw error;
        await delay(PAUSE_MILLIS);
      }
    }
  }
}

/** Runs statements on a connection, in the transaction that is open on it. */
export class SqliteSql implements Sql {
  readonly dialect = 'sqlite';

  constructor(protected readonly connection: SqliteConnection) {}

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
}

class SqliteTransaction extends SqliteSql implements OpenTransaction {
  private isOpen = true;

  constructor(
    connection: SqliteConnection,
    private readonly log: WriteAheadLog,
    private readonly onEnd: () => void,
  ) {
    super(connection);
  }

  async commit(): Promise<void> {
    this.isOpen = false;
    try {
      this.log.runCommit(() => {
        this.connection.exec('COMMIT');
      });
    } catch (error) {
      this.rollbackIfOpen();
      throw error;
    } finally {
      this.onEnd();
    }
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
