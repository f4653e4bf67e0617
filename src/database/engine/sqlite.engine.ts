import type { DataSource } from 'typeorm';
import {
  type Engine,
  type InsertStatement,
  type Load,
  type OpenTransaction,
  PREPARED_LENGTH,
  type SqlValue,
  assertBindable,
  placeholders,
} from './sql.js';

interface Statement {
  columns(): { name: string }[];
  /** From now on a row is a list of values: half the time of an object, which the driver makes value by value. */
  raw(): this;
  get(params: readonly SqlValue[]): SqlValue[] | undefined;
  all(params: readonly SqlValue[]): SqlValue[][];
  run(params: readonly SqlValue[]): { changes: number };
}
type Row = Record<string, SqlValue>;
/** A statement with the names of the columns that it returns; a change returns none. */
interface Prepared {
  statement: Statement;
  names: readonly string[];
}
interface Connection {
  prepare(sql: string): Statement;
  exec(sql: string): void;
}

const MAX_PREPARED = 300;

/**
 * SQLite on TypeORM's one connection. Statements are synchronous; what takes turns are transactions. While one
 * is open nothing else may touch the connection: a second BEGIN would fail, and a statement from elsewhere would
 * see, or even join, what may yet be rolled back. Everybody waits for `open` and then works in the same tick in
 * which they saw it gone.
 */
export class SqliteEngine implements Engine {
  readonly dialect = 'sqlite';
  private readonly connection: Connection;
  private readonly prepared = new Map<string, Prepared>();
  private open: Promise<void> | undefined;

  constructor(dataSource: DataSource) {
    this.connection = (dataSource.driver as unknown as { databaseConnection: Connection }).databaseConnection;
  }

  /** Everything into the one file, which somebody may copy then: with prepared statements alive its end does not do it. */
  async settle(): Promise<void> {
    await this.query('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /** One connection; whoever waits for it is in no queue of ours. */
  get load(): Load {
    return { inUse: Number(this.open !== undefined), waiting: 0 };
  }

  async query<T extends object>(sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
    while (this.open) await this.open;
    return this.all(sql, params) as T[];
  }

  async first<T extends object>(sql: string, params: readonly SqlValue[] = []): Promise<T | undefined> {
    while (this.open) await this.open;
    return this.get(sql, params) as T | undefined;
  }

  async execute(sql: string, params: readonly SqlValue[] = []): Promise<number> {
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
    this.connection.exec('BEGIN IMMEDIATE');
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
      query: async <T extends object>(sql: string, params: readonly SqlValue[] = []) =>
        this.all(sql, params) as T[],
      first: async <T extends object>(sql: string, params: readonly SqlValue[] = []) =>
        this.get(sql, params) as T | undefined,
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
      this.connection.exec('COMMIT');
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

  private all(sql: string, params: readonly SqlValue[]): Row[] {
    assertBindable(params);
    const { statement, names } = this.prepare(sql);
    return statement.all(params).map((values) => toRow(names, values));
  }

  private get(sql: string, params: readonly SqlValue[]): Row | undefined {
    assertBindable(params);
    const { statement, names } = this.prepare(sql);
    const values = statement.get(params);
    return values && toRow(names, values);
  }

  private run(sql: string, params: readonly SqlValue[]): number {
    assertBindable(params);
    return this.prepare(sql).statement.run(params).changes;
  }

  /** Row by row with one prepared statement: twice as fast here as a multi-row statement, which is parsed each time. */
  private insertAll({ head, columns, tail }: InsertStatement, rows: readonly SqlValue[][]): void {
    const { statement } = this.prepare(`${head}(${placeholders(columns)})${tail}`);
    for (const row of rows) {
      assertBindable(row);
      statement.run(row);
    }
  }

  private prepare(sql: string): Prepared {
    const known = this.prepared.get(sql);
    if (known) return known;
    const statement = this.connection.prepare(sql);
    const names = statement.columns().map(({ name }) => name);
    if (names.length > 0) statement.raw();
    const prepared = { statement, names };
    if (sql.length <= PREPARED_LENGTH) {
      if (this.prepared.size >= MAX_PREPARED) this.prepared.clear();
      this.prepared.set(sql, prepared);
    }
    return prepared;
  }
}

function toRow(names: readonly string[], values: readonly SqlValue[]): Row {
  const row: Row = {};
  for (let at = 0; at < names.length; at++) row[names[at] as string] = values[at] as SqlValue;
  return row;
}
