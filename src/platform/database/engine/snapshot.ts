import { type DatabaseSettings, serversOf, sqliteFile } from './connection-options.js';
import { chooseSession } from '../mysql/host-choice.js';
import { numberOf, runPatiently } from '../mysql/mysql-statement.js';
import { endSession, withoutLimit } from '../mysql/session.js';
import type { Dialect, SqlValue } from './sql.js';
import { openFile } from '../sqlite/sqlite-file.js';

/** Rows that are read, and handed on, at once: few, since one may hold a megabyte. */
const BATCH = 20;

/** A table and those of its columns that are to be read. */
export interface TableColumns {
  name: string;
  columns: readonly string[];
}

/** The database at one moment, however long it is read. Nobody who writes waits for it. */
export interface Snapshot {
  readonly dialect: Dialect;
  /** The number of a SELECT of one. */
  number(sql: string): Promise<number>;
  /** All rows of a table, in batches, as lists of values. The caller must not ask for anything else meanwhile. */
  rows(table: TableColumns): AsyncIterable<readonly SqlValue[][]>;
  close(): Promise<void>;
}

/** Opens a connection of its own. @throws the driver's error, or a DatabaseFault. */
export async function openSnapshot(settings: DatabaseSettings): Promise<Snapshot> {
  const file = sqliteFile(settings);
  return file === undefined ? ofServer(settings) : ofFile(file);
}

const selectAll = ({ name, columns }: TableColumns): string => `SELECT ${columns.join(', ')} FROM ${name}`;

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

/** A read transaction in the mode WAL: writers go on, and what they write is invisible here. The log grows until the end. */
function ofFile(file: string): Snapshot {
  const connection = openFile(file);
  connection.exec('BEGIN');
  const prepare = (sql: string) => {
    const statement = connection.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  };
  const number = (sql: string): number => Number(Object.values(prepare(sql).get() ?? {})[0]);
  number('SELECT COUNT(*) FROM sqlite_master'); // the moment is that of the first read
  return {
    dialect: 'sqlite',
    number: (sql) => Promise.resolve(number(sql)),
    rows: (table) => inBatches(prepare(selectAll(table)).iterate() as Iterable<object>),
    close: async () => {
      connection.close();
    },
  };
}

/**
 * `REPEATABLE READ`, without which each statement would see a moment of its own. Without a limit of time: a large table takes
 * minutes, and the server waits for whoever takes its rows.
 */
async function ofServer(settings: DatabaseSettings): Promise<Snapshot> {
  const session = await chooseSession(serversOf(settings));
  const { connection } = session;
  await withoutLimit(session);
  await runPatiently(connection, 'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
  await runPatiently(connection, 'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
  const stream = (sql: string): AsyncIterable<object> =>
    connection.query({ sql, rowsAsArray: true }).stream({ highWaterMark: BATCH });
  return {
    dialect: 'mysql',
    number: (sql) => numberOf(connection, sql),
    rows: (table) => inBatches(stream(selectAll(table))),
    close: () => endSession(session),
  };
}
