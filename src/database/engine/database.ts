import type { DataSource } from 'typeorm';
import { MysqlEngine } from './mysql.engine.js';
import type { Engine } from './sql.js';
import { SqliteEngine } from './sqlite.engine.js';

/** Statements of repositories outside of a transaction; `TransactionRunner` gives those inside. */
export type Database = Engine;
export const DATABASE = Symbol('Database');

export function engineOf(dataSource: DataSource): Engine {
  return dataSource.options.type === 'better-sqlite3'
    ? new SqliteEngine(dataSource)
    : new MysqlEngine(dataSource);
}
