import { Socket } from 'node:net';
import { Duplex, type Readable } from 'node:stream';
import {
  type Connection,
  type ConnectionOptions,
  type FieldPacket,
  type QueryError,
  type ResultSetHeader,
  type RowDataPacket,
  createConnection,
} from 'mysql2';
import { isObject } from '../../common/json.js';
import { toDatabaseError } from '../engine/database-error.js';
import { MAX_PREPARED_LENGTH, type SqlValue, assertBindable } from '../engine/sql.js';

/** Time without a response after which a statement counts as failed. No statement of the service takes so long. */
const STATEMENT_MILLIS = 15_000;
/**
 * Time limit that the server enforces (`session.ts`). It is shorter than `STATEMENT_MILLIS`, so that a working server
 * reports the error itself.
 */
export const SERVER_MILLIS = 14_000;

/** Number of the type `datetime` in the MySQL protocol. */
const DATETIME = 12;

export type Rows<T extends object> = (T & RowDataPacket)[];
export type Result = RowDataPacket[] | ResultSetHeader;
export type Reject = (error: Error) => void;
export type Resolve<T> = (result: T) => void;

/**
 * Sends a statement, and calls either `resolve` or `reject`, once. Promises would make a read a fifth slower, and the
 * timeout of the driver would make it a tenth slower.
 * @param rows creates the stream of rows of a LOAD DATA LOCAL statement.
 */
export function sendStatement<T extends Result>(
  connection: Connection,
  sql: string,
  params: readonly SqlValue[],
  resolve: Resolve<T>,
  reject: Reject,
  rows?: () => Readable,
): void {
  let isAnswered = false;
  const tryMarkAnswered = (): boolean => {
    clearTimeout(timer);
    const first = !isAnswered;
    isAnswered = true;
    return first;
  };
  const fail = (error: unknown): void => {
    if (tryMarkAnswered()) reject(toDatabaseError(error));
  };
  const handleResult = (error: QueryError | null, result: T, fields: FieldPacket[]): void => {
    if (error) fail(error);
    else if (tryMarkAnswered()) {
      addMissingMillis(result, fields);
      resolve(result);
    }
  };
  const timer = setTimeout(() => {
    // The server may still run the statement. Its late response must not be mistaken for the response to another statement.
    killStatement(connection);
    connection.destroy();
    const message = `The database did not answer a statement within ${STATEMENT_MILLIS / 1000} seconds.`;
    fail(Object.assign(new Error(message), { code: 'PROTOCOL_SEQUENCE_TIMEOUT' }));
  }, STATEMENT_MILLIS);
  try {
    assertBindable(params);
    if (rows) connection.query<T>({ sql, infileStreamFactory: rows }, handleResult);
    else if (params.length === 0 || sql.length > MAX_PREPARED_LENGTH)
      connection.query<T>(sql, [...params], handleResult);
    else connection.execute<T>(sql, [...params], handleResult);
  } catch (refused) {
    fail(refused); // also stops the timer, which would otherwise close the connection while another request uses it
  }
}

export function runQuery<T extends Result>(
  connection: Connection,
  sql: string,
  params: readonly SqlValue[] = [],
  rows?: () => Readable,
): Promise<T> {
  return new Promise((resolve, reject) => {
    sendStatement<T>(connection, sql, params, resolve, reject, rows);
  });
}

/** Runs a statement without a timeout, for operators' statements that read or change millions of rows. */
export async function runWithoutTimeout<T extends Result>(connection: Connection, sql: string): Promise<T> {
  try {
    const [result] = await connection.promise().query<T>(sql);
    return result;
  } catch (error) {
    throw toDatabaseError(error);
  }
}

/** Returns the only value of a SELECT as a number, without a timeout. Returns 0 for NULL. */
export async function queryNumber(connection: Connection, sql: string): Promise<number> {
  const [row] = await runWithoutTimeout<RowDataPacket[]>(connection, sql);
  return Number(Object.values(row ?? {})[0] ?? 0);
}

/** Adds `.000` to times without milliseconds. Prepared statements omit milliseconds that are zero. */
function addMissingMillis(result: Result, fields: FieldPacket[]): void {
  if (!Array.isArray(result)) return;
  for (const { name, columnType } of fields) {
    if (columnType !== DATETIME) continue;
    for (const row of result) {
      const time: unknown = row[name];
      if (typeof time === 'string' && !time.includes('.')) row[name] = `${time}.000`;
    }
  }
}

const serverOptions = new WeakMap<Connection, ConnectionOptions>();

export function storeConnectionOptions(connection: Connection, options: ConnectionOptions): void {
  serverOptions.set(connection, options);
}

/**
 * Kills a connection and its running statement on the server, which does not notice a closed connection while it works.
 * Call it before the connection is destroyed. It returns at once.
 *
 * If the KILL fails, the time limit of the session ends the statement some seconds later (`session.ts`).
 */
export function killStatement(connection: Connection): void {
  const options = serverOptions.get(connection);
  const { threadId } = connection;
  const stream = streamOf(connection);
  const port = stream instanceof Socket ? stream.localPort : undefined;
  if (!options || port === undefined || !Number.isSafeInteger(threadId)) return;
  const other = createConnection(options);
  const closeConnection = (): void => {
    other.destroy();
  };
  other.on('error', closeConnection);
  // The host name may now lead to a different server, where `threadId` is the connection of another client. The query
  // therefore also compares the client port.
  const same = `SELECT 1 FROM information_schema.processlist WHERE id = ${threadId} AND host LIKE '%:${port}'`;
  other.query<RowDataPacket[]>(same, (error, rows) => {
    if (error || rows.length === 0) closeConnection();
    else other.query(`KILL ${threadId}`, closeConnection);
  });
}

const streamOf = (connection: Connection): unknown =>
  isObject(connection) ? connection['stream'] : undefined;

/** Breaks a connection, so that its running statement fails. With `destroy` alone, the statement would wait forever. */
export function breakConnection(connection: Connection, reason: string): void {
  const stream = streamOf(connection);
  const error = Object.assign(new Error(reason), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
  if (stream instanceof Duplex) stream.destroy(error);
  connection.destroy();
}
