import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { isObject } from '../../common/json.js';
import { toDatabaseError } from '../engine/database-error.js';
import {
  type InsertStatement,
  MAX_PREPARED_LENGTH,
  type SqlValue,
  assertBindable,
  insertHeadOf,
  toPlaceholders,
} from '../engine/sql.js';
import { WriteProbe } from '../engine/write-probe.js';

/** Time for which a statement waits for the lock of another process. The wait blocks the thread. */
const BUSY_MILLIS = 5000;
const BUSY = 5;
/** Milliseconds between two attempts to switch to the write-ahead log. */
const RETRY_MILLIS = 5;
/**
 * Oldest safe version. SQLite 3.7.0 to 3.51.2 can lose a commit that runs during a checkpoint (sqlite.org/wal.html).
 */
const OLDEST_SQLITE = '3.51.3';

/**
 * Maps SQLite's result codes to their names (sqlite.org/rescode.html). The lowest byte of an extended code is its basic
 * code.
 */
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

/** Creates the folder of a file if it is missing. Only the operating system user of the service can open the folder. */
export function createParentFolder(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
}

/**
 * Opens a database file, and creates it if it is missing. Automatic checkpoints are off, because the engine starts them.
 * @throws the driver's error, or Error if the SQLite of this Node.js can lose commits.
 */
export function createFile(file: string): DatabaseSync {
  createParentFolder(file);
  return openFile(file, 'rwc');
}

/**
 * Opens an existing database file. If SQLite created the file again, it would delete the log of the lost file.
 * @param mode `rw`, or `rwc` to create a missing file.
 * @throws the driver's error, or Error if the SQLite of this Node.js can lose commits.
 */
export function openFile(file: string, mode: 'rw' | 'rwc' = 'rw'): DatabaseSync {
  const { DatabaseSync } = loadDriver();
  const url = pathToFileURL(file);
  url.searchParams.set('mode', mode);
  return runAddingErrorCodes(() =>
    configureConnection(new DatabaseSync(url, { timeout: BUSY_MILLIS }), file),
  );
}

function configureConnection(connection: DatabaseSync, file: string): DatabaseSync {
  assertSafeVersion(readLibraryVersion(connection));
  chmodSync(file, 0o600); // only the operating system user of the service may read the file, which contains password hashes
  enableWal(connection);
  // FULL: acknowledged changes survive a power failure.
  connection.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 0;');
  // 8 MiB per process: each batch of a large import touches most pages of a dozen indexes.
  connection.exec('PRAGMA cache_size = -8192;');
  return connection;
}

/**
 * Switches a file to a write-ahead log. Retries while another process holds the lock, because this PRAGMA does not
 * wait.
 */
function enableWal(connection: DatabaseSync): void {
  for (const until = performance.now() + BUSY_MILLIS; ;) {
    try {
      connection.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isLocked(error) || performance.now() > until) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MILLIS);
  }
}

/** Returns true for a driver's error that says that another connection holds the lock. */
export const isLocked = (error: unknown): boolean =>
  isObject(error) && (Number(error['errcode']) & 0xff) === BUSY;

/** Runs `work`. Sets the `code` of the driver's errors to the name of SQLite's result code. */
export function runAddingErrorCodes<T>(work: () => T): T {
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

/**
 * Loads the driver, which only SQLite databases need. Hides the warning of Node.js 22 that the module is experimental.
 */
export function loadDriver() {
  const emitWarning = Reflect.get(process, 'emitWarning');
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    Object.assign(process, { emitWarning });
  }
}

/** Returns the SQLite version, such as `3.53.4`. The Node.js of a Linux distribution may use the system's SQLite. */
const readLibraryVersion = (connection: DatabaseSync): string =>
  String(connection.prepare('SELECT sqlite_version() AS version').get()?.['version']);

/** @throws Error if this version of SQLite can lose commits. */
export function assertSafeVersion(version: string): void {
  if (version.localeCompare(OLDEST_SQLITE, 'en', { numeric: true }) >= 0) return;
  throw new Error(
    `This Node.js contains SQLite ${version}, which can lose data. Use a Node.js with SQLite ${OLDEST_SQLITE} or later, such as Node.js 24 from nodejs.org.`,
  );
}

type Params = readonly SqlValue[];
/** Builds the object of a row from the list of its values. */
type RowBuilder = (values: unknown) => object;
interface PreparedStatement {
  statement: StatementSync;
  names: readonly string[];
  toRow: RowBuilder;
}

/** The rows of a SELECT as they are sent between processes, with the column names only once. */
export interface RawRows {
  names: readonly string[];
  rows: readonly unknown[];
}

const MAX_PREPARED = 300;

/**
 * A synchronous connection to a file, with prepared statements. All methods throw the errors that `Engine` describes.
 */
export class SqliteConnection {
  readonly probe = new WriteProbe();
  private readonly prepared = new Map<string, PreparedStatement>();

  constructor(private readonly connection: DatabaseSync) {}

  /**
   * Opens a connection whose statements fail at once if another connection holds the lock, because a wait would block
   * the thread.
   */
  static open(file: string): SqliteConnection {
    const connection = openFile(file);
    connection.exec('PRAGMA busy_timeout = 0');
    return new SqliteConnection(connection);
  }

  exec(sql: string): void {
    this.runConvertingErrors(() => {
      this.connection.exec(sql);
    });
  }

  query(sql: string, params: Params): object[] {
    assertBindable(params);
    return this.runConvertingErrors(() => {
      const { statement, toRow } = this.prepare(sql);
      return statement.all(...params).map(toRow);
    });
  }

  queryOne(sql: string, params: Params): object | undefined {
    assertBindable(params);
    return this.runConvertingErrors(() => {
      const { statement, toRow } = this.prepare(sql);
      const values = statement.get(...params);
      return values && toRow(values);
    });
  }

  queryRaw(sql: string, params: Params): RawRows {
    assertBindable(params);
    return this.runConvertingErrors(() => {
      const { statement, names } = this.prepare(sql);
      return { names, rows: statement.all(...params) };
    });
  }

  /** Iterates over the rows of a SELECT. Each row is a list of values. */
  iterate(sql: string): Iterable<object> {
    return this.prepare(sql).statement.iterate() as Iterable<object>;
  }

  run(sql: string, params: Params): number {
    assertBindable(params);
    return this.runConvertingErrors(() => Number(this.prepare(sql).statement.run(...params).changes));
  }

  /**
   * Inserts row by row with one prepared statement. This is twice as fast as a multi-row statement, which is parsed each
   * time.
   */
  insert(insert: InsertStatement, rows: readonly SqlValue[][]): void {
    this.runConvertingErrors(() => {
      const values = toPlaceholders(insert.columns.length);
      const { statement } = this.prepare(`${insertHeadOf(insert)}(${values})${insert.tail ?? ''}`);
      for (const row of rows) {
        assertBindable(row);
        statement.run(...row);
      }
    });
  }

  /**
   * Checkpoints the log, except pages that a running read needs. Call it under the write lock.
   * @param truncate also truncates the log to zero bytes, unless a read runs.
   */
  runCheckpoint(truncate: boolean): void {
    // Without a busy timeout, because a wait for a read would block all writers.
    this.exec('PRAGMA busy_timeout = 0');
    this.query(`PRAGMA wal_checkpoint(${truncate ? 'TRUNCATE' : 'RESTART'})`, []);
  }

  close(): void {
    this.connection.close();
  }

  private runConvertingErrors<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.probe.record(toDatabaseError(addResultCode(error)));
    }
  }

  private prepare(sql: string): PreparedStatement {
    return this.prepared.get(sql) ?? this.prepareNew(sql);
  }

  private prepareNew(sql: string): PreparedStatement {
    const statement = this.connection.prepare(preventReplanning(sql));
    const names = statement.columns().map(({ name }) => name);
    // Reading rows as lists of values takes half as long as reading them as objects.
    if (names.length > 0) statement.setReturnArrays(true);
    const prepared = { statement, names, toRow: rowBuilderOf(names) };
    if (sql.length <= MAX_PREPARED_LENGTH) {
      if (this.prepared.size >= MAX_PREPARED) this.prepared.clear();
      this.prepared.set(sql, prepared);
    }
    return prepared;
  }
}

/**
 * Turns the parameter of a LIMIT into a sum (`?+0`), so that SQLite does not plan the statement again for each new
 * limit. Planning takes longer than the statement itself.
 */
const preventReplanning = (sql: string): string => sql.replaceAll('LIMIT ?', 'LIMIT ?+0');

/**
 * Returns the function that builds a row with these column names. It copies a template, because adding the members one by
 * one takes several times as long.
 */
export function rowBuilderOf(names: readonly string[]): RowBuilder {
  const template: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, null]));
  return (values) => {
    const row = { ...template };
    if (Array.isArray(values)) for (const [at, name] of names.entries()) row[name] = values[at];
    return row;
  };
}
