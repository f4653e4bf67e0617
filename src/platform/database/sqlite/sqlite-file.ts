import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { isObject } from '../../common/json.js';

/** Milliseconds that a statement waits for the lock of another process, where the thread has nothing else to do. */
const BUSY_MILLIS = 5000;
/** SQLite's result code for a lock that another connection has. */
const BUSY = 5;
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
    const { errcode } = isObject(error) ? error : {};
    if (typeof errcode !== 'number') throw error;
    const code = RESULT_CODES[errcode] ?? RESULT_CODES[errcode & 0xff] ?? `SQLITE_${errcode}`;
    throw Object.assign(error as Error, { code });
  }
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

/** An open file as TypeORM uses it: with the methods of better-sqlite3, which is the type that TypeORM knows. */
export class TypeormDriver {
  private readonly connection: DatabaseSync;

  constructor(file: string) {
    this.connection = openFile(file);
  }

  prepare(sql: string) {
    const statement = withResultCode(() => this.connection.prepare(sql));
    return {
      reader: statement.columns().length > 0,
      all: (...params: SQLInputValue[]) => withResultCode(() => statement.all(...params)),
      run: (...params: SQLInputValue[]) => withResultCode(() => statement.run(...params)),
    };
  }

  pragma(text: string) {
    return this.prepare(`PRAGMA ${text}`).all();
  }

  close(): void {
    this.connection.close();
  }
}
