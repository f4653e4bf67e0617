import { type DatabaseSettings, serversOf, sqliteFile } from './connection-options.js';
import { ReaderLane } from '../sqlite/reader-lane.js';
import type { Engine, Sql } from './sql.js';
import { Checkpointer, SqliteConnection } from '../sqlite/sqlite-connection.js';
import { SqliteEngine } from '../sqlite/sqlite.engine.js';
import { WriteLock } from '../sqlite/write-lock.js';

/** Statements of repositories outside of a transaction; `TransactionRunner` gives those inside. */
export type Database = Engine;
export const DATABASE = Symbol('Database');

/** Returns the version of SQLite, such as `3.53.4`, or undefined on a server. */
export async function sqliteVersion(sql: Sql): Promise<string | undefined> {
  if (sql.dialect !== 'sqlite') return undefined;
  return (await sql.first<{ version: string }>('SELECT sqlite_version() AS version'))?.version;
}

/** How the processes of a service share an embedded database. */
export interface Sharing {
  /** The lock of its writers. By default this process writes alone. */
  lock?: WriteLock;
  /** The program of the processes that read; by default this one reads. */
  reader?: string | undefined;
}

/**
 * The database of `DATABASE_URL`. A file is opened at once, a server with the first statement. Only the driver that is used
 * is loaded: each takes some MiB.
 * @throws EnvError for bad settings; the driver's error for a file that cannot be opened.
 */
export async function openDatabase(
  settings: DatabaseSettings,
  { lock = new WriteLock(), reader }: Sharing = {},
): Promise<Database> {
  const file = sqliteFile(settings);
  if (file === undefined) {
    const { MysqlPool } = await import('../mysql/mysql-pool.js');
    const { MysqlEngine } = await import('../mysql/mysql.engine.js');
    return new MysqlEngine(new MysqlPool(serversOf(settings), settings.DATABASE_POOL_SIZE));
  }
  const connection = SqliteConnection.open(file);
  if (reader === undefined) return new SqliteEngine(connection, lock, new Checkpointer(connection, file));
  const [readers, stoppable] = [new ReaderLane(reader, file), new ReaderLane(reader, file)];
  return new SqliteEngine(connection, lock, undefined, readers, stoppable);
}
