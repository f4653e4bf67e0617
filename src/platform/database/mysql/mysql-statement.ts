import type { Readable } from 'node:stream';
import type { Connection, FieldPacket, QueryError, ResultSetHeader, RowDataPacket } from 'mysql2';
import { toDatabaseError } from '../engine/database-fault.js';
import { killStatement } from './mysql-kill.js';
import { multiRow } from '../engine/multi-row.js';
import { type InsertStatement, PREPARED_LENGTH, type SqlValue, assertBindable } from '../engine/sql.js';

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
  let settled = false;
  const settle = (): boolean => {
    clearTimeout(timer);
    const first = !settled;
    settled = true;
    return first;
  };
  const fail = (error: unknown): void => {
    if (settle()) reject(toDatabaseError(error));
  };
  const answer = (error: QueryError | null, result: T, fields: FieldPacket[]): void => {
    if (error) fail(error);
    else if (settle()) {
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

/** As `send`, to be awaited. */
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

export async function insertAll(
  connection: Connection,
  statement: InsertStatement,
  rows: readonly SqlValue[][],
): Promise<void> {
  for (const { sql, params } of multiRow(statement, rows)) await sent(connection, sql, params);
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
