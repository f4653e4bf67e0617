import libsql from 'libsql';
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { toDatabaseError } from './database-fault.js';
import {
  type Engine,
  type InsertStatement,
  type Load,
  type OpenTransaction,
  PREPARED_LENGTH,
  type SqlValue,
  type Writability,
  assertBindable,
  placeholders,
} from './sql.js';

type Connection = libsql.Database;
type Params = readonly SqlValue[];
/** A statement with the names of the columns that it returns; a change returns none. */
interface Prepared {
  statement: ReturnType<typeof prepare>;
  names: readonly string[];
}

const MAX_PREPARED = 300;
/** Milliseconds that a statement waits for the lock of another process. */
const BUSY_MILLIS = 5000;

/** Opens the file, which is created where there is none. @throws the driver's error. */
export function openConnection(file: string): Connection {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const connection = new libsql(file, { timeout: BUSY_MILLIS });
  chmodSync(file, 0o600); // it holds password hashes
  // FULL: what was acknowledged survives a loss of power.
  connection.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = ${BUSY_MILLIS}; PRAGMA foreign_keys = ON;`,
  );
  // An import of many users touches most pages of a dozen indexes with each batch: 16 MiB of them are kept, and
  // those in the log are written back to the file once in 32 MiB, instead of once in four.
  connection.exec('PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 8192;');
  return connection;
}

/**
 * SQLite on one connection of its own. Statements are synchronous; what takes turns are transactions. While one
 * is open nothing else may touch the connection: a second BEGIN would fail, and a statement from elsewhere would
 * see, or even join, what may yet be rolled back. Every caller waits for `open` and then works in the same tick in
 * which it saw it gone.
 */
export class SqliteEngine implements Engine {
  readonly dialect = 'sqlite';
  private readonly prepared = new Map<string, Prepared>();
  /** Statements of `first`, apart: libsql's `get` keeps the values that an `all` of the same statement has bound. */
  private readonly preparedFirst = new Map<string, Prepared>();
  private open: Promise<void> | undefined;

  constructor(private readonly connection: Connection) {}

  /** Leaves everything in the one file, ready to be copied: closing alone does not while prepared statements are alive. */
  async close(): Promise<void> {
    await this.query('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => undefined); // the log keeps it all the same
    this.connection.close();
  }

  /** One connection; those that wait for it are in no queue of ours. */
  get load(): Load {
    return { inUse: Number(this.open !== undefined), waiting: 0 };
  }

  async writability(): Promise<Writability> {
    await this.first('SELECT 1 AS one');
    return 'writable';
  }

  async query<T extends object>(sql: string, params: Params = []): Promise<T[]> {
    while (this.open) await this.open;
    return this.read(sql, params, all);
  }

  async first<T extends object>(sql: string, params: Params = []): Promise<T | undefined> {
    while (this.open) await this.open;
    return this.read<T>(sql, params, one)[0];
  }

  async execute(sql: string, params: Params = []): Promise<number> {
    while (this.open) await this.open;
    return this.run(sql, params);
  }

  /** Outside of a transaction: all rows or none. */
  async insert(statement: InsertStatement, rows: readonly SqlValue[][]): Promise<void> {
    const tx = await this.begin();
    try {
      this.insertAll(statement, rows);
      await tx.commit();
    } finally {
      await tx.rollback();
    }
  }

  async begin(): Promise<OpenTransaction> {
    while (this.open) await this.open;
    faulting(() => this.connection.exec('BEGIN IMMEDIATE'));
    let release = (): void => undefined;
    this.open = new Promise((resolve) => (release = resolve));
    const end = (last: () => void): void => {
      try {
        last();
      } finally {
        this.open = undefined;
        release();
      }
    };
    let ended = false;
    return {
      dialect: this.dialect,
      query: async (sql, params = []) => this.read(sql, params, all),
      first: async <T extends object>(sql: string, params: Params = []) => this.read<T>(sql, params, one)[0],
      execute: async (sql, params = []) => this.run(sql, params),
      insert: async (statement, rows) => {
        this.insertAll(statement, rows);
      },
      commit: async () => {
        ended = true;
        end(() => {
          this.commitOrRollback();
        });
      },
      rollback: async () => {
        if (ended) return;
        end(() => {
          this.rollbackIfOpen();
        });
      },
    };
  }

  private commitOrRollback(): void {
    try {
      faulting(() => this.connection.exec('COMMIT'));
    } catch (error) {
      this.rollbackIfOpen();
      throw error;
    }
  }

  /** After some errors (a full disk) SQLite has rolled back by itself, and says so with an error that hides the first. */
  private rollbackIfOpen(): void {
    try {
      this.connection.exec('ROLLBACK');
    } catch {
      // nothing was open
    }
  }

  /** The rows of a SELECT, as objects that the caller types beside the statement. */
  private read<T extends object>(sql: string, params: Params, fetch: Fetch): T[] {
    assertBindable(params);
    return faulting(() => {
      const { statement, names } = this.prepare(sql, fetch === one ? this.preparedFirst : this.prepared);
      return fetch(statement, params).map((values) => toRow(names, values)) as T[];
    });
  }

  private run(sql: string, params: Params): number {
    assertBindable(params);
    return faulting(() => this.prepare(sql).statement.run(params).changes);
  }

  /** Row by row with one prepared statement: twice as fast here as a multi-row statement, which is parsed each time. */
  private insertAll({ head, columns, tail }: InsertStatement, rows: readonly SqlValue[][]): void {
    faulting(() => {
      const { statement } = this.prepare(`${head}(${placeholders(columns)})${tail}`);
      for (const row of rows) {
        assertBindable(row);
        statement.run(row);
      }
    });
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

type Fetch = (statement: Prepared['statement'], params: Params) => unknown[];
const all: Fetch = (statement, params) => statement.all(params);
const one: Fetch = (statement, params) => {
  const row = statement.get(params);
  return row === undefined ? [] : [row];
};

const prepare = (connection: Connection, sql: string) => connection.prepare<[Params]>(sql);

/** What `work` returns. @throws DatabaseFault for those errors of the driver. */
function faulting<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toDatabaseError(error);
  }
}

function toRow(names: readonly string[], values: unknown): object {
  const row: Record<string, unknown> = {};
  if (!Array.isArray(values)) return row;
  for (const [at, name] of names.entries()) row[name] = values[at];
  return row;
}
