import { type Connection, createConnection } from 'mysql2';
import { Duplex } from 'node:stream';
import { isObject } from '../../common/json.js';
import { DatabaseFault, toDatabaseError } from '../engine/database-fault.js';
import type { Server } from '../engine/connection-options.js';
import { rememberServer } from './mysql-kill.js';
import { type Rows, SERVER_MILLIS, sent } from './mysql-statement.js';
import { STATE, type ServerState, type StateRow, readState, writabilityOf } from './server-state.js';
import type { Writability } from '../engine/sql.js';

/**
 * Sent on every connection before its first use: no silent truncation, UTC, a bound for lock waits, reads of committed
 * rows, and a limit for each statement, which holds also when this process is gone (of MySQL it is one for reads). On Galera also causal reads: each statement first waits until its node has applied what the cluster has
 * committed. 1 is for reads and the start of a transaction, whose later statements need not wait again; 2 and 4 are for
 * changes that are their own transaction, whose conditions read (`UPDATE … WHERE owner = ?`).
 */
const modes = ({ version, galera }: ServerState) =>
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', innodb_lock_wait_timeout = 5, " +
  (/mariadb/i.test(version)
    ? `max_statement_time = ${SERVER_MILLIS / 1000}`
    : `max_execution_time = ${SERVER_MILLIS}`) +
  (galera ? ', wsrep_sync_wait = 7' : '');
const ISOLATION = 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED';

/** A connection to a server, ready for statements of the service. */
export interface Session {
  readonly connection: Connection;
  readonly server: Server;
  /** What the server said when the connection was made. */
  readonly state: ServerState;
}

/**
 * Connects to a server, asks it for its state, and sets the session up.
 * @throws DatabaseFault `away` when the server cannot be reached, else the errors of the statements.
 */
export async function openSession(server: Server): Promise<Session> {
  const connection = createConnection(server.options);
  rememberServer(connection, server.options);
  // Without a listener an error of an idle connection would end the process; whoever keeps the session adds its own.
  connection.on('error', () => undefined);
  try {
    await connected(connection);
    const state = await askState(connection);
    await sent(connection, modes(state));
    await sent(connection, ISOLATION);
    return { connection, server, state };
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

/** What the server of a connection says of itself now. */
export async function askState(connection: Connection): Promise<ServerState> {
  const [row] = await sent<Rows<StateRow>>(connection, STATE);
  if (!row) throw new Error('a server without a state');
  return readState(row);
}

/** Whether the server took changes when the session was opened. */
export const openedAs = ({ state }: Session): Writability => writabilityOf(state);

function connected(connection: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.connect((error) => {
      if (!error) resolve();
      else {
        const known = toDatabaseError(error);
        // Nothing was sent yet: the server itself is away.
        reject(known instanceof DatabaseFault ? new DatabaseFault('away', known.cause) : known);
      }
    });
  });
}

/** Ends a session in good order. */
export function endSession({ connection }: Session): Promise<void> {
  return new Promise((resolve) => {
    connection.end(() => {
      resolve();
    });
  });
}

/** Breaks the connection, also under a statement that waits for its answer, which then fails. */
export function breakSession({ connection }: Session, why: string): void {
  const stream = isObject(connection) ? connection['stream'] : undefined;
  const error = Object.assign(new Error(why), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
  if (stream instanceof Duplex) stream.destroy(error);
  connection.destroy();
}
