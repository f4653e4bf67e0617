import init, { type Database, type Sqlite3Static } from '@sqlite.org/sqlite-wasm';
import { readFileSync } from 'node:fs';
import { StatementSync } from 'node:sqlite';
import type { SqlValue } from '../../../src/platform/database/engine/sql.js';
import type { TestApp } from './app.js';
import { databaseOf } from './people.js';
import type { Statement } from './recorder.js';

let sqlite: Promise<Sqlite3Static> | undefined;

/** A copy of an SQLite database in memory. This build of SQLite counts the steps of its virtual machine. */
export class CountingCopy {
  private constructor(
    private readonly library: Sqlite3Static,
    private readonly database: Database,
  ) {}

  /** Copies the database of an application, which must not write meanwhile. */
  static async create(app: TestApp): Promise<CountingCopy> {
    await databaseOf(app).query('PRAGMA wal_checkpoint(TRUNCATE)');
    const file = app.database.url.slice('sqlite:'.length);
    const library = await (sqlite ??= init());
    const bytes = readFileSync(file);
    bytes.fill(1, 18, 20); // no WAL mode, which memory does not support (sqlite.org/fileformat.html)
    const { capi, wasm, oo1 } = library;
    const database = new oo1.DB();
    const at = wasm.alloc(bytes.length);
    wasm.heap8u().set(bytes, at);
    const flags = capi.SQLITE_DESERIALIZE_FREEONCLOSE | capi.SQLITE_DESERIALIZE_RESIZEABLE;
    database.checkRc(
      capi.sqlite3_deserialize(database.pointer ?? 0, 'main', at, bytes.length, bytes.length, flags),
    );
    return new CountingCopy(library, database);
  }

  /** Returns the lines of the plan of a statement. */
  explain(sql: string, params: readonly SqlValue[]): string[] {
    return this.database
      .selectArrays(`EXPLAIN QUERY PLAN ${sql}`, [...params])
      .map(([, , , text]) => text as string);
  }

  exec(sql: string): void {
    this.database.exec(sql);
  }

  /** Runs a statement to its end. @returns the number of steps. */
  countSteps(sql: string, params: readonly SqlValue[] = []): number {
    const statement = this.database.prepare(sql);
    try {
      if (params.length > 0) statement.bind([...params]);
      while (statement.step());
      const { capi } = this.library;
      return capi.sqlite3_stmt_status(statement.pointer ?? 0, capi.SQLITE_STMTSTATUS_VM_STEP, 0);
    } finally {
      statement.finalize();
    }
  }

  close(): void {
    this.database.close();
  }
}

type Method = (this: StatementSync, ...params: SqlValue[]) => unknown;
const METHODS = ['run', 'all', 'get'] as const;

/** Records the statements that the SQLite driver runs during `work`, in order. */
export async function recordStatements(work: () => Promise<unknown>): Promise<Statement[]> {
  const prototype = StatementSync.prototype as unknown as Record<(typeof METHODS)[number], Method>;
  const originals = { run: prototype.run, all: prototype.all, get: prototype.get };
  const statements: Statement[] = [];
  for (const name of METHODS)
    prototype[name] = function (...params) {
      if (!this.sourceSQL.startsWith('PRAGMA')) statements.push({ sql: this.sourceSQL, params });
      return originals[name].apply(this, params);
    };
  try {
    await work();
  } finally {
    Object.assign(prototype, originals);
  }
  return statements;
}
