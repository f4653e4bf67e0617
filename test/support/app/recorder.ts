import { afterAll } from '@jest/globals';
import { MysqlEngine } from '../../../src/platform/database/mysql/mysql.engine.js';
import {
  type InsertStatement,
  type OpenTransaction,
  type Sql,
  type SqlValue,
  insertHeadOf,
} from '../../../src/platform/database/engine/sql.js';
import { SqliteEngine } from '../../../src/platform/database/sqlite/sqlite.engine.js';

export interface Statement {
  sql: string;
  params: readonly SqlValue[];
}

type Send = (this: Sql, sql: string, params?: readonly SqlValue[], signal?: AbortSignal) => Promise<never>;
type Insert = (this: Sql, statement: InsertStatement, rows: readonly SqlValue[][]) => Promise<void>;
interface Methods {
  query: Send;
  queryOne: Send;
  execute: Send;
  scan: Send;
  insert: Insert;
  begin: (this: Sql) => Promise<OpenTransaction>;
}

/** Returns the statement on one line, with placeholder lists shortened, so that lists of any length look the same. */
export const formOf = (sql: string): string => sql.replace(/\?(, \?)+/g, '?, …').replace(/\s+/g, ' ');

/**
 * Records the statements of both engines in this test file. Of each form it stores the statement with the most values.
 */
export class StatementRecorder {
  private readonly longest = new Map<string, Statement>();
  private readonly all = new Set<string>();
  /** False while a test sends its own statements. */
  isEnabled = true;

  constructor() {
    // The prototypes are wrapped, so that statements of a starting application are included.
    for (const { prototype } of [SqliteEngine, MysqlEngine]) {
      const own = Object.getOwnPropertyDescriptors(prototype);
      // Other test files use the same prototypes.
      afterAll(() => {
        for (const name of Object.keys(prototype)) Reflect.deleteProperty(prototype, name);
        Object.defineProperties(prototype, own);
      });
      const { begin } = prototype as unknown as Methods;
      this.tap(prototype);
      const { scan } = prototype as unknown as Methods;
      Object.assign(prototype, { scan: this.wrap(scan) });
      const tap = <S extends Sql>(sql: S) => this.tap(sql);
      prototype.begin = async function () {
        return tap(await begin.call(this));
      };
    }
  }

  /** Returns the statements since the last call. */
  take(): Statement[] {
    const taken = [...this.longest.values()];
    this.longest.clear();
    return taken;
  }

  /** Texts of all statements so far. */
  get texts(): string[] {
    return [...this.all];
  }

  private note(sql: string, params: readonly SqlValue[] = []): void {
    if (!this.isEnabled) return;
    this.all.add(sql);
    const known = this.longest.get(formOf(sql));
    if (!known || params.length > known.params.length) this.longest.set(formOf(sql), { sql, params });
  }

  private wrap(ask: Send): Send {
    const note = this.note.bind(this);
    return function (text, params, ...rest) {
      note(text, params);
      return ask.call(this, text, params, ...rest);
    };
  }

  private tap<S extends Sql>(sql: S): S {
    const { query, queryOne, execute, insert } = sql as unknown as Methods;
    const note = this.note.bind(this);
    const noted = (ask: Send): Send => this.wrap(ask);
    const inserted: Insert = function (statement, rows) {
      note(insertHeadOf(statement) + (statement.tail ?? ''));
      return insert.call(this, statement, rows);
    };
    const asks = { query: noted(query), queryOne: noted(queryOne), execute: noted(execute) };
    return Object.assign(sql, { ...asks, insert: inserted });
  }
}
