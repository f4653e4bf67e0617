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
import { toDatabaseError } from '../engine/database-fault.js';
import { PREPARED_LENGTH, type SqlValue, assertBindable } from '../engine/sql.js';

/** No statement of ours takes so long on a database that works. */
const STATEMENT_MILLIS = 15_000;
/** The limit of the server itself (`session.ts`): a little less, so that a server that can still answer says so. */
export const SERVER_MILLIS = 14_000;

/** `datetime` in the protocol's list of types. */
const DATETIME = 12;

/** The driver's rows, with the columns of `T`. */
export type Rows<T extends object> = (T & RowDataPacket)[];
export type Result = RowDataPacket[] | ResultSetHeader;
export type Reject = (error: Error) => void;
export type Resolve<T> = (result: T) => void;

/**
 * Calls `resolve` or `reject`, once: callbacks, since a promise a step costs a fifth of a read. Short statements go
 * prepared (the server parses them once), multi-row and control statements as text. The time-out is our own: the
 * driver takes one in an object of options, which it then copies at the price of a tenth of a read.
 * @param rows what a LOAD DATA LOCAL statement loads.
 */
export function send<T extends Result>(
  connection: Connection,
  sql: string,
  params: readonly SqlValue[],
  resolve: Resolve<T>,
  reject: Reject,
  rows?: () => Readable,
): void {
  let isAnswered = false;
  const isFirst = (): boolean => {
    clearTimeout(timer);
    const first = !isAnswered;
    isAnswered = true;
    return first;
  };
  const fail = (error: unknown): void => {
    if (isFirst()) reject(toDatabaseError(error));
  };
  const answer = (error: QueryError | null, result: T, fields: FieldPacket[]): void => {
    if (error) fail(error);
    else if (isFirst()) {
      wholeMillis(result, fields);
      resolve(result);
    }
  };
  const timer = setTimeout(() => {
    // The server may still be at it: it is to end, and what comes later must not be taken for another answer.
    killStatement(connection);
    connection.destroy();
    const message = `no answer to a statement in ${STATEMENT_MILLIS / 1000} seconds`;
    fail(Object.assign(new Error(message), { code: 'PROTOCOL_SEQUENCE_TIMEOUT' }));
  }, STATEMENT_MILLIS);
  try {
    assertBindable(params);
    if (rows) connection.query<T>({ sql, infileStreamFactory: rows }, answer);
    else if (params.length === 0 || sql.length > PREPARED_LENGTH)
      connection.query<T>(sql, [...params], answer);
    else connection.execute<T>(sql, [...params], answer);
  } catch (refused) {
    fail(refused); // or the timer would end the connection while another request uses it
  }
}

/** Sends a statement as `send` does, and returns its result. */
export function sent<T extends Result>(
  connection: Connection,
  sql: string,
  params: readonly SqlValue[] = [],
  rows?: () => Readable,
): Promise<T> {
  return new Promise((resolve, reject) => {
    send<T>(connection, sql, params, resolve, reject, rows);
  });
}

/** Sends a statement without a limit of time: one of an operator may read or change millions of rows. */
export async function runPatiently<T extends Result>(connection: Connection, sql: string): Promise<T> {
  try {
    const [result] = await connection.promise().query<T>(sql);
    return result;
  } catch (error) {
    throw toDatabaseError(error);
  }
}

/** The number of a SELECT of one, without a limit of time. 0 for NULL. */
export async function numberOf(connection: Connection, sql: string): Promise<number> {
  const [row] = await runPatiently<RowDataPacket[]>(connection, sql);
  return Number(Object.values(row ?? {})[0] ?? 0);
}

/** Prepared statements leave out a fraction of zero; a time has one form (`common/time.ts`). */
function wholeMillis(result: Result, fields: FieldPacket[]): void {
  if (!Array.isArray(result)) return;
  for (const { name, columnType } of fields) {
    if (columnType !== DATETIME) continue;
    for (const row of result) {
      const time: unknown = row[name];
      if (typeof time === 'string' && !time.includes('.')) row[name] = `${time}.000`;
    }
  }
}

/** How the server of each connection is reached. */
const reached = new WeakMap<Connection, ConnectionOptions>();

/** Notes for `killStatement` how a connection was made. */
export function rememberServer(connection: Connection, options: ConnectionOptions): void {
  reached.set(connection, options);
}

/**
 * Ends a connection in its server, and with it the statement that it runs: a server does not notice that its client has
 * gone while it works. The caller does not wait: where no other connection can be made, or where a proxy is in between and
 * numbers connections in its own way, the limit of the session ends the statement some seconds later (`session.ts`).
 * To be called before the connection is destroyed.
 */
export function killStatement(connection: Connection): void {
  const options = reached.get(connection);
  const { threadId } = connection;
  const port = localPort(connection);
  if (!options || port === undefined || !Number.isSafeInteger(threadId)) return;
  const other = createConnection(options);
  const done = (): void => {
    other.destroy();
  };
  other.on('error', done);
  // A name may lead to another server this time, whose connection with this number is not ours.
  const same = `SELECT 1 FROM information_schema.processlist WHERE id = ${threadId} AND host LIKE '%:${port}'`;
  other.query<RowDataPacket[]>(same, (error, rows) => {
    if (error || rows.length === 0) done();
    else other.query(`KILL ${threadId}`, done);
  });
}

const streamOf = (connection: Connection): unknown =>
  isObject(connection) ? connection['stream'] : undefined;

function localPort(connection: Connection): number | undefined {
  const stream = streamOf(connection);
  return stream instanceof Socket ? stream.localPort : undefined;
}

/** Breaks a connection. A statement that waits for its answer fails. (`destroy` alone would leave it waiting.) */
export function breakConnection(connection: Connection, why: string): void {
  const stream = streamOf(connection);
  const error = Object.assign(new Error(why), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
  if (stream instanceof Duplex) stream.destroy(error);
  connection.destroy();
}
