import { type Connection, type ConnectionOptions, type RowDataPacket, createConnection } from 'mysql2';
import { Socket } from 'node:net';
import { isObject } from '../../common/json.js';

/** How to reach the server of each connection once more. */
const reached = new WeakMap<Connection, ConnectionOptions>();

/** Has `killStatement` know how a connection was made. */
export function rememberServer(connection: Connection, options: ConnectionOptions): void {
  reached.set(connection, options);
}

/**
 * Ends a connection in its server, and with it the statement that it runs: a server does not notice that its client has
 * gone while it works. Nobody waits for it: where no other connection can be made, or where a proxy is in between and
 * numbers connections in its own way, the limit of the session ends the statement some seconds later (`session.ts`).
 * Called before the connection is destroyed.
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

function localPort(connection: Connection): number | undefined {
  const stream = isObject(connection) ? connection['stream'] : undefined;
  return stream instanceof Socket ? stream.localPort : undefined;
}
