import { type DatabaseSettings, serversOf, sqliteFileOf } from './connection-options.js';
import { chooseSession, endSession, removeTimeLimits } from '../mysql/session.js';
import { createSql } from '../mysql/mysql.engine.js';
import { type Rows, queryNumber, runWithoutTimeout } from '../mysql/mysql-statement.js';
import type { Dialect, Sql, SqlValue, TableColumns } from './sql.js';
import { SqliteConnection } from '../sqlite/sqlite-connection.js';
import { SqliteSql } from '../sqlite/sqlite.engine.js';

/** Number of rows in a batch. It is small, because a single row may contain a megabyte. */
const BATCH_ROWS = 20;

/** Maximum number of faults that SQLite reports. */
const MAX_DAMAGE = 5;

/**
 * A separate connection for backup and restore, without time limits. At the end of its scope, uncommitted changes are
 * rolled back and the connection is closed.
 */
interface SeparateConnection extends AsyncDisposable {
  readonly dialect: Dialect;
  queryNumber(sql: string): Promise<number>;
  /** Reads every page and index, and returns descriptions of damage. Reports only the first faults on SQLite. */
  findDamage(tables: readonly string[]): Promise<string[]>;
}

/** A consistent view of the database at one moment. It never blocks writers. */
export interface Snapshot extends SeparateConnection {
  /**
   * Reads all rows of a table as lists of values, in batches. The snapshot must not be used for anything else until all
   * rows are read.
   */
  streamRows(table: TableColumns): AsyncIterable<readonly SqlValue[][]>;
}

/** A transaction that replaces the rows of tables. Without a commit, nothing is changed. */
export interface RestoreTransaction extends SeparateConnection {
  /** Runs statements of the transaction, with time limits. */
  readonly sql: Sql;
  deleteAll(table: string): Promise<void>;
  commit(): Promise<void>;
}

/**
 * Opens a snapshot. On SQLite the write-ahead log grows until the snapshot is closed.
 * @throws DatabaseError, or the driver's error.
 */
export async function openSnapshot(settings: DatabaseSettings): Promise<Snapshot> {
  const file = sqliteFileOf(settings);
  // SQLite takes the snapshot at the first read of the transaction, so the transaction starts with a read.
  if (file !== undefined) return openSqliteTransaction(file, 'BEGIN; SELECT COUNT(*) FROM sqlite_master');
  return openServerTransaction(
    settings,
    'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
    'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
  );
}

/** Opens the transaction of a restore. @throws DatabaseError, or the driver's error. */
export async function openRestoreTransaction(settings: DatabaseSettings): Promise<RestoreTransaction> {
  const file = sqliteFileOf(settings);
  return file === undefined
    ? openServerTransaction(settings, 'START TRANSACTION')
    : openSqliteTransaction(file, 'BEGIN IMMEDIATE');
}

function openSqliteTransaction(file: string, begin: string): Snapshot & RestoreTransaction {
  const connection = SqliteConnection.open(file);
  connection.exec(`PRAGMA busy_timeout = 5000; ${begin}`);
  const sql = new SqliteSql(connection);
  return {
    dialect: 'sqlite',
    sql,
    queryNumber: async (text) => Number(Object.values(connection.queryOne(text, []) ?? {})[0] ?? 0),
    findDamage: async () => {
      const found: string[] = [];
      try {
        const rows = connection.iterate(`PRAGMA integrity_check(${MAX_DAMAGE})`);
        for (const row of rows) found.push(String(Object.values(row)[0]));
      } catch (error) {
        if (found.length === 0) throw error; // some damage ends the check, but only after its description
      }
      return found.filter((text) => text !== 'ok');
    },
    streamRows: (table) => toBatches(connection.iterate(buildSelect(table))),
    deleteAll: async (table) => void connection.run(`DELETE FROM ${table}`, []),
    commit: async () => {
      connection.exec('COMMIT'); // needs no checkpoint, because SQLite makes one on close
    },
    [Symbol.asyncDispose]: async () => {
      connection.close();
    },
  };
}

async function openServerTransaction(
  settings: DatabaseSettings,
  ...begin: readonly string[]
): Promise<Snapshot & RestoreTransaction> {
  const session = await chooseSession(serversOf(settings));
  const { connection } = session;
  await removeTimeLimits(session);
  for (const sql of begin) await runWithoutTimeout(connection, sql);
  const streamQuery = (sql: string): AsyncIterable<object> =>
    connection.query({ sql, rowsAsArray: true }).stream({ highWaterMark: BATCH_ROWS });
  return {
    dialect: 'mysql',
    sql: createSql(connection),
    queryNumber: (sql) => queryNumber(connection, sql),
    findDamage: async (tables) => {
      const check = `CHECK TABLE ${tables.join(', ')}`;
      const rows = await runWithoutTimeout<Rows<{ Table: string; Msg_text: string }>>(connection, check);
      return rows.flatMap(({ Table, Msg_text: text }) => (text === 'OK' ? [] : [`${Table}: ${text}`]));
    },
    streamRows: (table) => toBatches(streamQuery(buildSelect(table))),
    deleteAll: async (table) => {
      await runWithoutTimeout(connection, `DELETE FROM ${table}`);
    },
    commit: async () => {
      await runWithoutTimeout(connection, 'COMMIT');
    },
    [Symbol.asyncDispose]: () => endSession(session),
  };
}

const buildSelect = ({ name, columns }: TableColumns): string => `SELECT ${columns.join(', ')} FROM ${name}`;

async function* toBatches(rows: Iterable<object> | AsyncIterable<object>) {
  let batch: SqlValue[][] = [];
  for await (const row of rows) {
    if (batch.push(row as SqlValue[]) < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** Returns true if other connections use the database, or if an instance on any node of the cluster holds a lease. */
export async function hasOtherSessions(settings: DatabaseSettings): Promise<boolean> {
  const session = await chooseSession(serversOf(settings));
  try {
    const readNumber = (sql: string) => queryNumber(session.connection, sql);
    const others = await readNumber(
      'SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
    );
    const leases = await readNumber(
      "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'leases'",
    );
    if (others > 0 || leases === 0) return others > 0;
    // Only a held lease ends in the future. An end that is far in the future was stored by a wrong clock, so the lease is
    // not held, because each heartbeat corrects it.
    const held = 'until > UTC_TIMESTAMP(3) AND until < UTC_TIMESTAMP(3) + INTERVAL 5 MINUTE';
    return (await readNumber(`SELECT COUNT(*) FROM leases WHERE ${held}`)) > 0;
  } finally {
    await endSession(session);
  }
}
