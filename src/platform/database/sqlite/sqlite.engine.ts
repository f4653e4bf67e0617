import { setTimeout as delay } from 'node:timers/promises';
import { isBusy } from '../engine/database-fault.js';
import type { Reader } from './reader-lane.js';
import {
  type Engine,
  type InsertStatement,
  type Load,
  type OpenTransaction,
  type SqlValue,
  type Writability,
  assertBindable,
} from '../engine/sql.js';
import { type Checkpointer, type SqliteConnection, toRow } from './sqlite-connection.js';
import type { Release } from '../../common/fair-semaphore.js';
import type { WriteLock } from './write-lock.js';

type Params = readonly SqlValue[];

/** Pages of the log at which it is written back: 8 MiB, which take some milliseconds. */
const LOG_PAGES = 2048;

/** Counts of a log: its pages, and those of them that are written back. The log begins anew once both are equal. */
interface LogSize {
  log: number;
  checkpointed: number;
}

/** How long a statement is tried while another program has the lock. */
const PATIENCE_MILLIS = 5000;
/** Pauses between attempts: short, because that program may write one transaction after the other. */
const PAUSE_MILLIS = 2;

/**
 * SQLite on one connection of its own. Statements are synchronous; writes take the lock that the
 * processes of this service share, and the thread goes on while they wait. While a transaction is open nothing else may touch
 * the connection: a statement from elsewhere would see, or even join, what may yet be rolled back. Every caller waits for
 * `open` and then works in the same tick in which it saw it gone.
 */
export class SqliteEngine implements Engine {
  readonly dialect = 'sqlite';
  private open: Promise<void> | undefined;
  /** Pages of the log at which it is written back next. */
  private due = LOG_PAGES;
  private isWritingBack = false;

  /**
   * @param checkpointer writes the log back where there is no reader.
   * @param reader where statements run that no key bounds, and the log is written back; without one, here.
   * @param stoppable where those of them run that may be stopped. Stopping ends the whole process, so it has no others.
   */
  constructor(
    private readonly connection: SqliteConnection,
    private readonly lock: WriteLock,
    private readonly checkpointer?: Checkpointer,
    private readonly reader?: Reader,
    private readonly stoppable = reader,
  ) {}

  /** Leaves everything in the one file, ready to be copied: SQLite writes the log back when its last connection closes. */
  async close(): Promise<void> {
    await Promise.all([this.reader?.end(), this.stoppable?.end()]);
    while (this.open) await this.open;
    this.checkpointer?.close();
    this.connection.close();
  }

  /** One connection, and those that wait to write. */
  get load(): Load {
    return { inUse: Number(this.open !== undefined), waiting: this.lock.waiting };
  }

  async writability(): Promise<Writability> {
    await this.query('PRAGMA schema_version'); // reads the file
    return 'writable';
  }

  query<T extends object>(sql: string, params: Params = []): Promise<T[]> {
    return this.patiently(() => this.connection.query(sql, params) as T[]);
  }

  first<T extends object>(sql: string, params: Params = []): Promise<T | undefined> {
    return this.patiently(() => this.connection.first(sql, params) as T | undefined);
  }

  async aside<T extends object>(sql: string, params: Params = [], signal?: AbortSignal): Promise<T[]> {
    const reader = signal ? this.stoppable : this.reader;
    if (!reader) return this.query<T>(sql, params);
    assertBindable(params);
    const { names, rows } = await reader.read(sql, params, signal);
    return rows.map((values) => toRow(names, values)) as T[];
  }

  execute(sql: string, params: Params = []): Promise<number> {
    return this.locked((release) => {
      const changes = this.connection.run(sql, params);
      release();
      this.checkLog();
      return changes;
    });
  }

  /** Outside of a transaction: all rows or none. */
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
    return this.locked((release) => {
      this.connection.exec('BEGIN IMMEDIATE');
      return this.transaction(release);
    });
  }

  /** @param releaseLock releases the write lock, which the caller has taken. */
  private transaction(releaseLock: Release): OpenTransaction {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.open = promise;
    const end = (): void => {
      this.open = undefined;
      resolve(undefined);
      releaseLock();
    };
    return new SqliteTransaction(this.connection, end, this.checkLog.bind(this));
  }

  /**
   * Looks at the log after a commit, which costs a microsecond. SQLite would write it back inside of a COMMIT. Here that is
   * done in another process where there is one, in the write lock, for which the writers of this service wait.
   */
  private checkLog(): void {
    if (!this.isWritingBack && this.logPages() >= this.due) this.startWriteBack();
  }

  private startWriteBack(): void {
    this.isWritingBack = true;
    this.writeBack()
      .catch(() => undefined) // the next commit finds the log due again
      .finally(() => {
        this.isWritingBack = false;
      });
  }

  private async writeBack(): Promise<void> {
    const { lock, reader, checkpointer } = this;
    const isDone = await (reader
      ? reader.writeBack(lock)
      : lock.run(async () => checkpointer?.writeBack() ?? false));
    // Pages that a reader still needs stay in the log. The next attempt follows after another 8 MiB.
    if (isDone) this.due = this.logPages() + LOG_PAGES;
  }

  /** Pages that are not written back. NOOP takes no lock and changes nothing. */
  private logPages(): number {
    const { log, checkpointed } = this.connection.first('PRAGMA wal_checkpoint(NOOP)', []) as LogSize;
    return log - checkpointed;
  }

  /** Begins a write with the lock, which `write` releases. An error releases it too. */
  private async locked<T>(write: (release: Release) => T): Promise<T> {
    const release = await this.lock.take();
    try {
      return await this.patiently(() => write(release));
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Tries until no other program has the lock, between two transactions of this connection. @throws DatabaseFault `race`. */
  private async patiently<T>(attempt: () => T): Promise<T> {
    for (const until = performance.now() + PATIENCE_MILLIS; ;) {
      while (this.open) await this.open;
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

  /** @param end runs once, after the transaction. @param committed runs after a commit. */
  constructor(
    private readonly connection: SqliteConnection,
    private readonly end: () => void,
    private readonly committed: () => void,
  ) {}

  async query<T extends object>(sql: string, params: Params = []): Promise<T[]> {
    return this.connection.query(sql, params) as T[];
  }

  async first<T extends object>(sql: string, params: Params = []): Promise<T | undefined> {
    return this.connection.first(sql, params) as T | undefined;
  }

  async execute(sql: string, params: Params = []): Promise<number> {
    return this.connection.run(sql, params);
  }

  async insert(statement: InsertStatement, rows: readonly SqlValue[][]): Promise<void> {
    this.connection.insert(statement, rows);
  }

  /** The transaction is over in any case: one that cannot be committed is rolled back. */
  async commit(): Promise<void> {
    this.isOpen = false;
    try {
      this.connection.exec('COMMIT');
    } catch (error) {
      this.rollbackIfOpen();
      throw error;
    } finally {
      this.end();
    }
    this.committed();
  }

  async rollback(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.rollbackIfOpen();
    this.end();
  }

  /** After some errors, such as a full disk, SQLite has rolled back by itself, and its error would hide the first. */
  private rollbackIfOpen(): void {
    try {
      this.connection.exec('ROLLBACK');
    } catch {
      // nothing was open
    }
  }
}
