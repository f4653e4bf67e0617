import { type DatabaseSettings, serversOf, sqliteFile } from './connection-options.js';
import { chooseSession } from '../mysql/host-choice.js';
import { loadAll } from '../mysql/mysql-load.js';
import { insertAll, numberOf, runPatiently } from '../mysql/mysql-statement.js';
import { endSession, withoutLimit } from '../mysql/session.js';
import type { TableColumns } from './snapshot.js';
import type { Dialect, SqlValue } from './sql.js';
import { SqliteConnection } from '../sqlite/sqlite-connection.js';
import { openFile } from '../sqlite/sqlite-file.js';

/** One transaction that replaces rows of tables: all of it happens, or nothing, whenever the process ends. */
export interface Refill {
  readonly dialect: Dialect;
  /** Deletes all rows of a table. */
  empty(table: string): Promise<void>;
  insert(table: TableColumns, rows: readonly SqlValue[][]): Promise<void>;
  /** The number of a SELECT of one. */
  number(sql: string): Promise<number>;
  commit(): Promise<void>;
  /** Ends the connection, and undoes what is not committed. */
  close(): Promise<void>;
}

/** Opens a connection of its own, without limits of time, and begins. @throws the driver's error, or a DatabaseFault. */
export async function openRefill(settings: DatabaseSettings): Promise<Refill> {
  const file = sqliteFile(settings);
  return file === undefined ? ofServer(settings) : ofFile(file);
}

/** Whether another program has the database open: a service, even where it does nothing at the moment. */
export async function isInUse(settings: DatabaseSettings): Promise<boolean> {
  const file = sqliteFile(settings);
  return file === undefined ? hasOtherSessions(settings) : isFileOpen(file);
}

/** SQLite leaves the mode WAL only where nobody else has the file open; it returns to it at once. */
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

/** Each instance keeps a connection. Of another node of Galera only the leases tell, which whoever works there holds. */
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

function ofFile(file: string): Refill {
  const connection = SqliteConnection.open(file);
  connection.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
  return {
    dialect: 'sqlite',
    empty: async (table) => {
      connection.run(`DELETE FROM ${table}`, []);
    },
    insert: async (table, rows) => {
      connection.insert(insertInto(table), rows);
    },
    number: async (sql) => {
      const [row] = connection.raw(sql, []).rows;
      return Number(Array.isArray(row) ? row[0] : 0);
    },
    commit: async () => {
      connection.exec('COMMIT'); // the log of it is written back when the last connection closes
    },
    close: async () => {
      connection.close();
    },
  };
}

async function ofServer(settings: DatabaseSettings): Promise<Refill> {
  const session = await chooseSession(serversOf(settings));
  const { connection } = session;
  await withoutLimit(session);
  await runPatiently(connection, 'START TRANSACTION');
  return {
    dialect: 'mysql',
    empty: async (table) => {
      await runPatiently(connection, `DELETE FROM ${table}`);
    },
    insert: async (table, rows) => {
      const statement = insertInto(table);
      if (!(await loadAll(connection, statement, rows))) await insertAll(connection, statement, rows);
    },
    number: (sql) => numberOf(connection, sql),
    commit: async () => {
      await runPatiently(connection, 'COMMIT');
    },
    close: () => endSession(session),
  };
}

const insertInto = ({ name, columns }: TableColumns) => ({
  into: { table: name, columns },
  head: `INSERT INTO ${name} (${columns.join(', ')}) VALUES `,
  columns: columns.length,
  tail: '',
});
