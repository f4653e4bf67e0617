import type { Connection, ResultSetHeader, RowDataPacket } from 'mysql2';
import type { Session } from './session.js';
import { toDatabaseError } from '../engine/database-fault.js';

/** As `sent`, without its limit of time: a statement of an operator may read or change millions of rows. */
export function patiently<T extends ResultSetHeader | RowDataPacket[]>(
  connection: Connection,
  sql: string,
): Promise<T> {
  return new Promise((resolve, reject) => {
    connection.query<T>(sql, (error, result) => {
      if (error) reject(toDatabaseError(error));
      else resolve(result);
    });
  });
}

/** The number of a SELECT of one; 0 for NULL. */
export async function numberOf(connection: Connection, sql: string): Promise<number> {
  const [row] = await patiently<RowDataPacket[]>(connection, sql);
  return Number(Object.values(row ?? {})[0] ?? 0);
}

/** Takes away the limits of time of a session, those of the server too. */
export async function withoutLimit({ connection, state }: Session): Promise<void> {
  const limit = /mariadb/i.test(state.version) ? 'max_statement_time' : 'max_execution_time';
  await patiently(connection, `SET SESSION ${limit} = 0, net_write_timeout = 3600, net_read_timeout = 3600`);
}
