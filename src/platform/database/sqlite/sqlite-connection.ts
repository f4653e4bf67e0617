import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { toDatabaseError } from '../engine/database-fault.js';
import {
  type InsertStatement,
  PREPARED_LENGTH,
  type SqlValue,
  assertBindable,
  placeholders,
} from '../engine/sql.js';
import { openFile, withResultCode } from './sqlite-file.js';

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
      const { statement, names } = this.prepare(sql);
      const row = statement.get(...params);
      return row === undefined ? undefined : toRow(names, row);
    });
  }

  raw(sql: string, params: Params): RawRows {
    assertBindable(params);
    return faulting(() => {
      const { statement, names } = this.prepare(sql);
      return { names, rows: statement.all(...params) };
    });
  }

  run(sql: string, params: Params): number {
    assertBindable(params);
    return faulting(() => Number(this.prepare(sql).statement.run(...params).changes));
  }

  /** Row by row with one prepared statement: twice as fast here as a multi-row statement, which is parsed each time. */
  insert({ head, columns, tail }: InsertStatement, rows: readonly SqlValue[][]): void {
    faulting(() => {
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
    const known = this.prepared.get(sql);
    if (known) return known;
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

/** What `work` returns. @throws DatabaseFault for those errors of the driver. */
function faulting<T>(work: () => T): T {
  try {
    return withResultCode(work);
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
