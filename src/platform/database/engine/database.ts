import { type DatabaseSettings, serversOf, sqliteFileOf } from './connection-options.js';
import { ReadWorker } from '../sqlite/read-worker.js';
import type { Engine, Sql } from './sql.js';
import { SqliteConnection } from '../sqlite/sqlite-connection.js';
import { SqliteEngine } from '../sqlite/sqlite.engine.js';
import { WriteAheadLog } from '../sqlite/write-ahead-log.js';
import { WriteLock } from '../sqlite/write-lock.js';

/**
 * Runs statements outside of transactions. Inside a transaction, repositories use the `Sql` that `TransactionRunner`
 * provides.
 */
export type Database = Engine;
export const DATABASE = Symbol('Database');

export async function readSqliteVersion(sql: Sql): Promise<string | undefined> {
  if (sql.dialect !== 'sqlite') return undefined;
  return (await sql.queryOne<{ version: string }>('SELECT sqlite_version() AS version'))?.version;
}

/** Options for sharing a SQLite file between several processes of a service. */
export interface SharingOptions {
  /** The default lock assumes that no other process of the service writes. */
  lock?: WriteLock;
  /** The program of the read workers. By default this process runs all reads. */
  reader?: string | undefined;
}

/**
 * Opens the database of `DATABASE_URL`. Opens a SQLite file at once, but connects to a server only when the first
 * statement runs. Loads only the driver of that engine, because each driver takes several MiB of memory.
 * @throws EnvError for invalid settings, and the driver's error for a file that cannot be opened.
 */
export async function openDatabase(
  settings: DatabaseSettings,
  { lock = new WriteLock(), reader }: SharingOptions = {},
): Promise<Database> {
  const file = sqliteFileOf(settings);
  if (file === undefined) {
    const { MysqlPool } = await import('../mysql/mysql-pool.js');
    const { MysqlEngine } = await import('../mysql/mysql.engine.js');
    return new MysqlEngine(new MysqlPool(serversOf(settings), settings.DATABASE_POOL_SIZE));
  }
  const connection = SqliteConnection.open(file);
  // SQLite opens the log at the first read.
  connection.query('PRAGMA schema_version', []);
  const readers = reader === undefined ? [] : [new ReadWorker(reader, file), new ReadWorker(reader, file)];
  const log = new WriteAheadLog(file, connection, lock, readers);
  return new SqliteEngine(connection, lock, log, SqliteConnection.open(file), ...readers);
}
