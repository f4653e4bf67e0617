import type libsql from 'libsql';
import { chmodSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { toDatabaseError } from './database-fault.js';
import { type InsertStatement, PREPARED_LENGTH, type SqlValue, assertBindable, placeholders } from './sql.js';

type Params = readonly SqlValue[];
/** A statement with the names of the columns that it returns; a change returns none. */
interface Prepared {
  statement: ReturnType<typeof prepare>;
  names: readonly string[];
}

/** The rows of a SELECT as they travel between processes: the names of the columns once. */
export interface RawRows {
  names: readonly string[];
  rows: readonly unknown[];
}

const MAX_PREPARED = 300;
/** Milliseconds that a statement waits for the lock of another process, where the thread has nothing else to do. */
const BUSY_MILLIS = 5000;

/** Makes the folder of a file where it is missing, open to the user of the service only. */
export function makeFolderOf(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
}

/** Opens the file, which is created where there is none. @throws the driver's error. */
export function openFile(file: string): libsql.Database {
  makeFolderOf(file);
  // The bundler would move an import to the start of the program, where a server of the database may make it needless.
  const Libsql = createRequire(import.meta.url)('libsql') as typeof libsql;
  const connection = new Libsql(file, { timeout: BUSY_MILLIS });
  chmodSync(file, 0o600); // it holds password hashes
  // FULL: what was acknowledged survives a loss of power.
  connection.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = ${BUSY_MILLIS}; PRAGMA foreign_keys = ON;`,
  );
  // An import of many users touches most pages of a dozen indexes with each batch: 8 MiB of them are kept by each process.
  connection.exec('PRAGMA cache_size = -8192;');
  return connection;
}

/** One connection to a file: prepared statements, rows, and nothing that waits. All methods throw as an `Engine` does. */
export class SqliteConnection {
  private readonly prepared = new Map<string, Prepared>();
  /** Statements of `first`, apart: libsql's `get` keeps the values that an `all` of the same statement has bound. */
  private readonly preparedFirst = new Map<string, Prepared>();

  constructor(private readonly connection: libsql.Database) {}

  /**
   * A connection that fails at once where another one has the lock, because waiting would stop the whole thread, and that
   * does not write the log back while it commits, unless nobody else has for long.
   */
  static open(file: string): SqliteConnection {
    const connection = openFile(file);
    connection.exec('PRAGMA busy_timeout = 0; PRAGMA wal_autocheckpoint = 65536;');
    return new SqliteConnection(connection);
  }

  exec(sql: string): void {
    faulting(() => {
      this.connection.exec(sql);
    });
  }

  /** The rows of a SELECT, as objects that the caller types beside the statement. */
  query(sql: string, params: Params): object[] {
    const { names, rows } = this.raw(sql, params);
    return rows.map((values) => toRow(names, values));
  }

  first(sql: string, params: Params): object | undefined {
    assertBindable(params);
    return faulting(() => {
      const { statement, names } = this.prepare(sql, this.preparedFirst);
      const row = statement.get(params);
      return row === undefined ? undefined : toRow(names, row);
    });
  }

  raw(sql: string, params: Params): RawRows {
    assertBindable(params);
    return faulting(() => {
      const { statement, names } = this.prepare(sql);
      return { names, rows: statement.all(params) };
    });
  }

  run(sql: string, params: Params): number {
    assertBindable(params);
    return faulting(() => this.prepare(sql).statement.run(params).changes);
  }

  /** Row by row with one prepared statement: twice as fast here as a multi-row statement, which is parsed each time. */
  insert({ head, columns, tail }: InsertStatement, rows: readonly SqlValue[][]): void {
    faulting(() => {
      const { statement } = this.prepare(`${head}(${placeholders(columns)})${tail}`);
      for (const row of rows) {
        assertBindable(row);
        statement.run(row);
      }
    });
  }

  /** Writes the pages of the log back into the file, as far as others let it. @returns how many the log has. */
  writeBack(): number {
    const [row] = this.raw('PRAGMA wal_checkpoint(PASSIVE)', []).rows;
    const pages: unknown = Array.isArray(row) ? row[1] : 0; // busy, pages, pages written back
    return typeof pages === 'number' ? pages : 0;
  }

  close(): void {
    this.connection.close();
  }

  private prepare(sql: string, cache = this.prepared): Prepared {
    const known = cache.get(sql);
    if (known) return known;
    const statement = prepare(this.connection, sql);
    const names = statement.columns().map(({ name }) => name);
    // A row is a list of values then: half the time of an object, which the driver makes value by value.
    if (names.length > 0) statement.raw();
    const prepared = { statement, names };
    if (sql.length <= PREPARED_LENGTH) {
      if (cache.size >= MAX_PREPARED) cache.clear();
      cache.set(sql, prepared);
    }
    return prepared;
  }
}

const prepare = (connection: libsql.Database, sql: string) => connection.prepare<[Params]>(sql);

/** What `work` returns. @throws DatabaseFault for those errors of the driver. */
function faulting<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toDatabaseError(error);
  }
}

/** A row as an object. */
export function toRow(names: readonly string[], values: unknown): object {
  const row: Record<string, unknown> = {};
  if (!Array.isArray(values)) return row;
  for (const [at, name] of names.entries()) row[name] = values[at];
  return row;
}
