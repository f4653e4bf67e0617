import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isObject } from '../../common/json.js';
import { isBusy, toDatabaseError } from '../engine/database-fault.js';
import {
  type InsertStatement,
  PREPARED_LENGTH,
  type SqlValue,
  assertBindable,
  placeholders,
} from '../engine/sql.js';

/** Milliseconds that a statement waits for the lock of another process, where the thread has nothing else to do. */
const BUSY_MILLIS = 5000;
/** SQLite's result code for a lock that another connection has. */
const BUSY = 5;
/** Milliseconds that a checkpoint waits for the write lock of another program. */
const LOCK_MILLIS = 50;
/** Milliseconds between two attempts where SQLite itself does not wait. */
const PAUSE_MILLIS = 5;
/** SQLite 3.7.0 to 3.51.2 can lose commits when a checkpoint and a commit of another connection meet (sqlite.org/wal.html). */
const OLDEST_SQLITE = '3.51.3';

/** Names of SQLite's result codes (sqlite.org/rescode.html). An extended code carries its basic code in the lowest byte. */
const RESULT_CODES: Readonly<Record<number, string>> = {
  1: 'SQLITE_ERROR',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  19: 'SQLITE_CONSTRAINT',
  26: 'SQLITE_NOTADB',
  1555: 'SQLITE_CONSTRAINT_PRIMARYKEY',
  2067: 'SQLITE_CONSTRAINT_UNIQUE',
};

/** Creates the folder of a file where it is missing, open to the user of the service only. */
export function makeFolderOf(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
}

/**
 * Opens a file, and creates it where it is missing. Nothing is written back from its log before `Checkpointer` does.
 * @throws the driver's error; Error where the SQLite of this Node.js can lose commits.
 */
export function openFile(file: string): DatabaseSync {
  makeFolderOf(file);
  const { DatabaseSync } = loadDriver();
  return withResultCode(() => configure(new DatabaseSync(file, { timeout: BUSY_MILLIS }), file));
}

function configure(connection: DatabaseSync, file: string): DatabaseSync {
  assertSound(sqliteVersion(connection));
  chmodSync(file, 0o600); // it holds password hashes
  useLog(connection);
  // FULL: what was acknowledged survives a loss of power.
  connection.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 0;');
  // An import of many users touches most pages of a dozen indexes with each batch: 8 MiB of them are kept by each process.
  connection.exec('PRAGMA cache_size = -8192;');
  return connection;
}

/** Switches a file to a write-ahead log. SQLite does not wait for a lock here, even if other processes switch a new file too. */
function useLog(connection: DatabaseSync): void {
  for (const until = performance.now() + BUSY_MILLIS; ;) {
    try {
      connection.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      const isBusy = isObject(error) && (Number(error['errcode']) & 0xff) === BUSY;
      if (!isBusy || performance.now() > until) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MILLIS);
  }
}

/** Returns what `work` returns. An error of the driver gets the name of SQLite's result code as its `code`. */
export function withResultCode<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw addResultCode(error);
  }
}

function addResultCode(error: unknown): unknown {
  const { errcode } = isObject(error) ? error : {};
  if (typeof errcode !== 'number') return error;
  const code = RESULT_CODES[errcode] ?? RESULT_CODES[errcode & 0xff] ?? `SQLITE_${errcode}`;
  return Object.assign(error as Error, { code });
}

/** Loads the driver, which only an embedded database needs. Node.js 22 would print that its interface may still change. */
function loadDriver() {
  const emitWarning = Reflect.get(process, 'emitWarning');
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    Object.assign(process, { emitWarning });
  }
}

/** Returns the version of SQLite itself, such as `3.53.4`. A Node.js of a distribution may have another one than nodejs.org's. */
const sqliteVersion = (connection: DatabaseSync): string =>
  String(connection.prepare('SELECT sqlite_version() AS version').get()?.['version']);

/** @throws Error where this version of SQLite can lose commits. */
export function assertSound(version: string): void {
  if (version.localeCompare(OLDEST_SQLITE, 'en', { numeric: true }) >= 0) return;
  throw new Error(
    `This Node.js contains SQLite ${version}, which can lose data. Use a Node.js with SQLite ${OLDEST_SQLITE} or later, such as 24 from nodejs.org.`,
  );
}

type Params = readonly SqlValue[];
/** A statement with the names of the columns that it returns; a change returns none. */
interface Prepared {
  statement: StatementSync;
  names: readonly string[];
}

/** The rows of a SELECT as they travel between processes: the names of the columns once. */
export interface RawRows {
  names: readonly string[];
  rows: readonly unknown[];
}

const MAX_PREPARED = 300;

/** One connection to a file: prepared statements, rows, and nothing that waits. All methods throw as an `Engine` does. */
export class SqliteConnection {
  private readonly prepared = new Map<string, Prepared>();

  constructor(private readonly connection: DatabaseSync) {}

  /** A connection that fails at once where another one has the lock, because waiting would stop the whole thread. */
  static open(file: string): SqliteConnection {
    const connection = openFile(file);
    connection.exec('PRAGMA busy_timeout = 0');
    return new SqliteConnection(connection);
  }

  exec(sql: string): void {
    convertErrors(() => {
      this.connection.exec(sql);
    });
  }

  /** The rows of a SELECT, as objects whose type the caller states. */
  query(sql: string, params: Params): object[] {
    const { names, rows } = this.raw(sql, params);
    return rows.map((values) => toRow(names, values));
  }

  first(sql: string, params: Params): object | undefined {
    assertBindable(params);
    return convertErrors(() => {
      const { statement, names } = this.prepare(sql);
      const row = statement.get(...params);
      return row === undefined ? undefined : toRow(names, row);
    });
  }

  raw(sql: string, params: Params): RawRows {
    assertBindable(params);
    return convertErrors(() => {
      const { statement, names } = this.prepare(sql);
      return { names, rows: statement.all(...params) };
    });
  }

  /** The rows of a SELECT as lists of values, one after another. */
  iterate(sql: string): Iterable<object> {
    return this.prepare(sql).statement.iterate() as Iterable<object>;
  }

  run(sql: string, params: Params): number {
    assertBindable(params);
    return convertErrors(() => Number(this.prepare(sql).statement.run(...params).changes));
  }

  /** Row by row with one prepared statement: twice as fast here as a multi-row statement, which is parsed each time. */
  insert({ head, columns, tail }: InsertStatement, rows: readonly SqlValue[][]): void {
    convertErrors(() => {
      const { statement } = this.prepare(`${head}(${placeholders(columns)})${tail}`);
      for (const row of rows) {
        assertBindable(row);
        statement.run(...row);
      }
    });
  }

  close(): void {
    this.connection.close();
  }

  private prepare(sql: string): Prepared {
    return this.prepared.get(sql) ?? this.prepareNew(sql);
  }

  private prepareNew(sql: string): Prepared {
    const statement = this.connection.prepare(withFixedPlan(sql));
    const names = statement.columns().map(({ name }) => name);
    // A row is a list of values then: half the time of an object, which the driver creates value by value.
    if (names.length > 0) statement.setReturnArrays(true);
    const prepared = { statement, names };
    if (sql.length <= PREPARED_LENGTH) {
      if (this.prepared.size >= MAX_PREPARED) this.prepared.clear();
      this.prepared.set(sql, prepared);
    }
    return prepared;
  }
}

/**
 * Keeps SQLite from planning a statement again for each new value of its limit, which takes longer than the statement:
 * it looks at a bare parameter, and not at a sum.
 */
const withFixedPlan = (sql: string): string => sql.replaceAll('LIMIT ?', 'LIMIT ?+0');

/** Returns what `work` returns. @throws what `toDatabaseError` returns for an error of the driver. */
function convertErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toDatabaseError(addResultCode(error));
  }
}

/** A row as an object. */
export function toRow(names: readonly string[], values: unknown): object {
  const row: Record<string, unknown> = {};
  if (!Array.isArray(values)) return row;
  for (const [at, name] of names.entries()) row[name] = values[at];
  return row;
}

/** Writes the log of an embedded database back into the file. */
export class Checkpointer {
  private readonly lock: SqliteConnection;

  /** @param connection one that has no transaction open. */
  constructor(
    private readonly connection: SqliteConnection,
    file: string,
  ) {
    this.lock = SqliteConnection.open(file);
    this.lock.exec(`PRAGMA cache_size = 1; PRAGMA busy_timeout = ${LOCK_MILLIS}`); // it never reads
  }

  /**
   * Writes back all pages of the log that no reader still needs. SQLite lets a checkpoint run while another connection commits, where
   * versions before 3.51.3 can lose the commit. So a second connection holds the write lock until the end, and no program
   * writes meanwhile.
   * @returns false where another program holds the write lock: nothing was written back then.
   */
  writeBack(): boolean {
    try {
      this.lock.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
    try {
      this.connection.query('PRAGMA wal_checkpoint(PASSIVE)', []);
    } finally {
      this.lock.exec('ROLLBACK');
    }
    return true;
  }

  close(): void {
    this.lock.close();
  }
}
