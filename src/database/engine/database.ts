import { type DatabaseSettings, serversOf, sqliteFile } from './connection-options.js';
import { MysqlEngine } from './mysql.engine.js';
import { MysqlPool } from './mysql-pool.js';
import type { Engine } from './sql.js';
import { SqliteEngine, openConnection } from './sqlite.engine.js';

/** Statements of repositories outside of a transaction; `TransactionRunner` gives those inside. */
export type Database = Engine;
export const DATABASE = Symbol('Database');

/**
 * The database of `DATABASE_URL`. A file is opened at once, a server with the first statement.
 * @throws EnvError for bad settings; the driver's error for a file that cannot be opened.
 */
export function openDatabase(settings: DatabaseSettings): Database {
  const file = sqliteFile(settings);
  return file === undefined
    ? new MysqlEngine(new MysqlPool(serversOf(settings), settings.DATABASE_POOL_SIZE))
    : new SqliteEngine(openConnection(file));
}
