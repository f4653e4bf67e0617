import type { FieldPacket, PoolConnection, QueryError } from 'mysql2';
import { multiRow } from './multi-row.js';
import { type InsertStatement, PREPARED_LENGTH, type SqlValue, assertBindable } from './sql.js';

/** No statement of ours takes so long on a database that works. */
const STATEMENT_MILLIS = 15_000;

/** `datetime` in the protocol's list of types. */
const DATETIME = 12;

/** The driver's way to answer; a promise a step costs a fifth of a read. */
export type Done<T> = (error: QueryError | null, result: T) => void;

/**
 * Short statements go prepared (the server parses them once), multi-row and control statements as text. The time-out is
 * our own: the driver takes one in an object of options, which it then copies at the price of a tenth of a read.
 */
export function send<T>(
  connection: PoolConnection,
  sql: string,
  params: readonly SqlValue[],
  done: Done<T>,
): void {
  assertBindable(params);
  let settled = false;
  const settle = (error: QueryError | null, result?: unknown, fields?: FieldPacket[]): void => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    if (Array.isArray(result) && fields) wholeMillis(result as Row[], fields);
    done(error, result as T);
  };
  const timer = setTimeout(() => {
    // The server may still be at it: what comes later must not be taken for the answer to something else.
    connection.destroy();
    settle(timedOut());
  }, STATEMENT_MILLIS);
  const callback = settle as never;
  try {
    if (params.length === 0 || sql.length > PREPARED_LENGTH) connection.query(sql, [...params], callback);
    else connection.execute(sql, [...params], callback);
  } catch (refused) {
    settle(refused as QueryError); // or the timer would end the connection while somebody else uses it
  }
}

function timedOut(): QueryError {
  const message = `no answer to a statement in ${STATEMENT_MILLIS / 1000} seconds`;
  return Object.assign(new Error(message), { code: 'PROTOCOL_SEQUENCE_TIMEOUT', fatal: true });
}

/** As `send`, to be awaited. */
export function sent<T>(
  connection: PoolConnection,
  sql: string,
  params: readonly SqlValue[] = [],
): Promise<T> {
  return new Promise((resolve, reject) => {
    send<T>(connection, sql, params, (error, result) => {
      if (error) reject(error);
      else resolve(result);
    });
  });
}

/** Number of rows that a change met. */
export async function affected(
  connection: PoolConnection,
  sql: string,
  params: readonly SqlValue[],
): Promise<number> {
  return (await sent<{ affectedRows: number }>(connection, sql, params)).affectedRows;
}

export async function insertAll(
  connection: PoolConnection,
  statement: InsertStatement,
  rows: readonly SqlValue[][],
): Promise<void> {
  for (const { sql, params } of multiRow(statement, rows)) await sent(connection, sql, params);
}

type Row = Record<string, SqlValue>;

/** Prepared statements leave out a fraction of zero; a time has one form (`common/time.ts`). */
function wholeMillis(rows: Row[], fields: FieldPacket[]): void {
  for (const { name, columnType } of fields) {
    if (columnType !== DATETIME) continue;
    for (const row of rows) {
      const time = row[name];
      if (typeof time === 'string' && !time.includes('.')) row[name] = `${time}.000`;
    }
  }
}
