import { type DatabaseSettings, serversOf, sqliteFile } from './connection-options.js';
import { chooseSession } from '../mysql/host-choice.js';
import { insertAll } from '../mysql/mysql-insert.js';
import { numberOf, runPatiently } from '../mysql/mysql-statement.js';
import { endSession, withoutLimit } from '../mysql/session.js';
import type { Dialect, SqlValue } from './sql.js';
import { SqliteConnection, openFile } from '../sqlite/sqlite-connection.js';

/** Rows that are read, and handed on, at once: few, since one may hold a megabyte. */
const BATCH = 20;

/** A table and those of its columns that are read or written. */
export interface TableColumns {
  name: string;
  columns: readonly string[];
}

/** A connection of its own to the whole database, for backup and restore. It has no limits of time. */
interface WholeDatabase {
  readonly dialect: Dialect;
  /** The number of a SELECT of one. */
  number(sql: string): Promise<number>;
  /** Ends the connection, and undoes what is not committed. */
  close(): Promise<void>;
}

/** The database at one moment, however long it is read. It holds up no writer. */
export interface Snapshot extends WholeDatabase {
  /** All rows of a table, in batches, as lists of values. The caller must not use the snapshot for anything else meanwhile. */
  rows(table: TableColumns): AsyncIterable<readonly SqlValue[][]>;
}

/** One transaction that replaces rows of tables: all of it happens, or nothing, whenever the process ends. */
export interface RestoreTransaction extends WholeDatabase {
  /** Deletes all rows of a table. */
  empty(table: string): Promise<void>;
  insert(table: TableColumns, rows: readonly SqlValue[][]): Promise<void>;
  commit(): Promise<void>;
}

/**
 * Begins to read. On SQLite the log grows until the end. On a server a statement would see a moment of its own without
 * `REPEATABLE READ`. @throws the driver's error, or a DatabaseFault.
 */
export async function openSnapshot(settings: DatabaseSettings): Promise<Snapshot> {
  const file = sqliteFile(settings);
  // The moment is that of the first read.
  if (file !== undefined) return openOnFile(file, 'BEGIN; SELECT COUNT(*) FROM sqlite_master');
  return openOnServer(
    settings,
    'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
    'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
  );
}

/** Begins to replace rows. @throws the driver's error, or a DatabaseFault. */
export async function openRestore(settings: DatabaseSettings): Promise<RestoreTransaction> {
  const file = sqliteFile(settings);
  return file === undefined
    ? openOnServer(settings, 'START TRANSACTION')
    : openOnFile(file, 'BEGIN IMMEDIATE');
}

function openOnFile(file: string, begin: string): Snapshot & RestoreTransaction {
  const connection = SqliteConnection.open(file);
  connection.exec(`PRAGMA busy_timeout = 5000; ${begin}`);
  return {
    dialect: 'sqlite',
    number: async (sql) => Number(Object.values(connection.first(sql, []) ?? {})[0] ?? 0),
    rows: (table) => inBatches(connection.iterate(selectAll(table))),
    empty: async (table) => void connection.run(`DELETE FROM ${table}`, []),
    insert: async (table, rows) => {
      connection.insert(insertInto(table), rows);
    },
    commit: async () => {
      connection.exec('COMMIT'); // the log of it is written back when the last connection closes
    },
    close: async () => {
      connection.close();
    },
  };
}

async function openOnServer(
  settings: DatabaseSettings,
  ...begin: readonly string[]
): Promise<Snapshot & RestoreTransaction> {
  const session = await chooseSession(serversOf(settings));
  const { connection } = session;
  await withoutLimit(session);
  for (const sql of begin) await runPatiently(connection, sql);
  const streamed = (sql: string): AsyncIterable<object> =>
    connection.query({ sql, rowsAsArray: true }).stream({ highWaterMark: BATCH });
  return {
    dialect: 'mysql',
    number: (sql) => numberOf(connection, sql),
    rows: (table) => inBatches(streamed(selectAll(table))),
    empty: async (table) => {
      await runPatiently(connection, `DELETE FROM ${table}`);
    },
    insert: (table, rows) => insertAll(connection, insertInto(table), rows),
    commit: async () => {
      await runPatiently(connection, 'COMMIT');
    },
    close: () => endSession(session),
  };
}

const selectAll = ({ name, columns }: TableColumns): string => `SELECT ${columns.join(', ')} FROM ${name}`;

const insertInto = ({ name, columns }: TableColumns) => ({
  into: { table: name, columns },
  head: `INSERT INTO ${name} (${columns.join(', ')}) VALUES `,
  columns: columns.length,
  tail: '',
});

/** @param rows lists of values. */
async function* inBatches(rows: Iterable<object> | AsyncIterable<object>) {
  let batch: SqlValue[][] = [];
  for await (const row of rows) {
    if (batch.push(row as SqlValue[]) < BATCH) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** Returns true if another program has the database open: a service, even where it does nothing at the moment. */
export async function isInUse(settings: DatabaseSettings): Promise<boolean> {
  const file = sqliteFile(settings);
  return file === undefined ? hasOtherSessions(settings) : isFileOpen(file);
}

/** SQLite leaves the mode WAL only where no other process has the file open. It returns to that mode at once. */
function isFileOpen(file: string): boolean {
  const connection = openFile(file);
  try {
    connection.exec('PRAGMA busy_timeout = 0');
    const mode = connection.prepare('PRAGMA journal_mode = DELETE').get();
    connection.exec('PRAGMA journal_mode = WAL');
    return mode?.['journal_mode'] !== 'delete';
  } catch (error) {
    if (/locked|busy/i.test(String(error))) return true;
    throw error;
  } finally {
    connection.close();
  }
}

/** Each instance keeps a connection. An instance on another node of Galera shows in the leases that it holds. */
async function hasOtherSessions(settings: DatabaseSettings): Promise<boolean> {
  const session = await chooseSession(serversOf(settings));
  try {
    const number = (sql: string) => numberOf(session.connection, sql);
    const others = await number(
      'SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
    );
    const leases = await number(
      "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'leases'",
    );
    if (others > 0 || leases === 0) return others > 0;
    // A moment that is noted is in the past; a lease that is held ends within minutes.
    return (await number('SELECT COUNT(*) FROM leases WHERE until > UTC_TIMESTAMP(3)')) > 0;
  } finally {
    await endSession(session);
  }
}
