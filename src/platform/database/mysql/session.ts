import { type Connection, createConnection } from 'mysql2';
import { DatabaseFault, toDatabaseError } from '../engine/database-fault.js';
import { isObject } from '../../common/json.js';
import type { Server } from '../engine/connection-options.js';
import type { Writability } from '../engine/sql.js';
import { type Rows, SERVER_MILLIS, rememberServer, runPatiently, sent } from './mysql-statement.js';

/** A connection to a server, ready for statements of the service. */
export interface Session {
  readonly connection: Connection;
  readonly server: Server;
  /** The state of the server when the connection was made. */
  readonly state: ServerState;
}

/** What a server reports of itself. */
export interface ServerState {
  version: string;
  readOnly: boolean;
  /** Undefined where Galera is not in use. */
  galera?: GaleraState;
}

interface GaleraState {
  ready: boolean;
  /** The node is in the part of the cluster that has the majority. */
  primary: boolean;
  /** `Synced`, `Donor/Desynced`, `Joining`, … */
  comment: string;
}

/** The row of `STATE`. */
interface StateRow {
  version: string;
  read_only: string | number;
  wsrep?: string | null;
}

/**
 * One statement that every server understands: the comment is SQL for MariaDB alone, whose status has the names of Galera
 * where it was built with it. A node that is not in step may refuse even this one.
 */
const STATE = `SELECT VERSION() AS version, @@global.read_only AS read_only /*M!100200 ,
  (SELECT GROUP_CONCAT(variable_name, '=', variable_value SEPARATOR ';') FROM information_schema.global_status
   WHERE variable_name IN ('wsrep_provider_name', 'wsrep_ready', 'wsrep_cluster_status', 'wsrep_local_state_comment')
  ) AS wsrep */`;

/**
 * Sent on every connection before its first use: no silent truncation, UTC, a bound for lock waits, a limit for each
 * statement, which holds also when this process is gone (on MySQL a limit for reads only), and reads of committed rows.
 * On Galera also causal reads: each statement first waits until its node has applied what the cluster has committed. 1 is
 * for reads and the start of a transaction, whose later statements need not wait again; 2 and 4 are for changes that are
 * their own transaction, whose conditions read (`UPDATE … WHERE owner = ?`). `M!` is SQL for MariaDB alone, and `!50708` for MySQL.
 */
const SETTINGS = [
  `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', innodb_lock_wait_timeout = 5
   /*M!100101 , max_statement_time = ${SERVER_MILLIS / 1000} */ /*!50708 , max_execution_time = ${SERVER_MILLIS} */`,
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
];
const CAUSAL_READS = 'SET SESSION wsrep_sync_wait = 7';
/** The answer of servers that were built without Galera. */
const UNKNOWN_VARIABLE = 1193;

/** Sets the session of a new connection up. */
export async function setUp(connection: Connection, { options }: Server): Promise<void> {
  rememberServer(connection, options);
  for (const sql of SETTINGS) await sent(connection, sql);
  await sent(connection, CAUSAL_READS).catch((error: unknown) => {
    if (!isObject(error) || error['errno'] !== UNKNOWN_VARIABLE) throw error;
  });
}

/**
 * Opens a connection of its own.
 * @throws DatabaseFault `away` when the server cannot be reached, else the errors of the statements.
 */
export async function openSession(server: Server): Promise<Session> {
  const connection = createConnection(server.options);
  // Without a listener an error of an idle connection would end the process.
  connection.on('error', () => undefined);
  try {
    await connection
      .promise()
      .connect()
      .catch((error: unknown) => Promise.reject(ofConnect(error)));
    const state = await readState(connection); // before the causal reads, for which a node out of step keeps it waiting
    await setUp(connection, server);
    return { connection, server, state };
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

/** Returns the present state of the server of a connection. */
export async function readState(connection: Connection): Promise<ServerState> {
  const [row] = await sent<Rows<StateRow>>(connection, STATE);
  if (!row) throw new Error('a server without a state');
  return stateOf(row);
}

export function stateOf({ version, read_only, wsrep }: StateRow): ServerState {
  const state = { version, readOnly: !['0', 'OFF'].includes(String(read_only)) };
  const status = new Map((wsrep ?? '').split(';').map(pair));
  if (!status.get('wsrep_provider_name')) return state;
  const galera = {
    ready: status.get('wsrep_ready') === 'ON',
    primary: status.get('wsrep_cluster_status') === 'Primary',
    comment: status.get('wsrep_local_state_comment') ?? '',
  };
  return { ...state, galera };
}

/** `NAME=value` with its name in small letters. */
function pair(text: string): [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at).toLowerCase(), text.slice(at + 1)];
}

/** A donor of a state transfer may be blocked by it, or be far behind: it is not in step. */
export function writabilityOf({ readOnly, galera }: ServerState): Writability {
  if (galera && !(galera.ready && galera.primary && galera.comment === 'Synced')) return 'out_of_sync';
  return readOnly ? 'read_only' : 'writable';
}

/** Nothing was sent yet where no connection is made: the server itself is away. */
export function ofConnect(error: unknown): Error {
  const known = toDatabaseError(error);
  return known instanceof DatabaseFault ? new DatabaseFault('away', known.cause) : known;
}

/** Ends a connection in good order. */
export const endConnection = (connection: Connection): Promise<void> => connection.promise().end();

export const endSession = ({ connection }: Session): Promise<void> => endConnection(connection);

/** Removes the limits of time of a session: a statement of an operator may read or change millions of rows. */
export async function withoutLimit({ connection }: Session): Promise<void> {
  await runPatiently(
    connection,
    `SET SESSION net_write_timeout = 3600, net_read_timeout = 3600
     /*M!100101 , max_statement_time = 0 */ /*!50708 , max_execution_time = 0 */`,
  );
}
