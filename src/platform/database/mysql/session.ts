import { type Connection, createConnection } from 'mysql2';
import { DatabaseError, toDatabaseError } from '../engine/database-error.js';
import { isObject } from '../../common/json.js';
import type { Server } from '../engine/connection-options.js';
import {
  type Rows,
  SERVER_MILLIS,
  storeConnectionOptions,
  runWithoutTimeout,
  runQuery,
} from './mysql-statement.js';
import { setTimeout as delay } from 'node:timers/promises';
import type { WriteState } from '../engine/sql.js';

/** A separate connection to a database server, set up for the statements of the service. */
export interface ServerSession {
  readonly connection: Connection;
  readonly server: Server;
  /** The state of the server when the connection was opened. */
  readonly state: ServerState;
}

export interface ServerState {
  version: string;
  readOnly: boolean;
  /** Undefined if the server does not use Galera. */
  galera?: GaleraState;
}

interface GaleraState {
  ready: boolean;
  /** True if the node belongs to the part of the cluster that has the majority. */
  primary: boolean;
  /** State of the node, such as `Synced`, `Donor/Desynced` or `Joining`. */
  comment: string;
}

interface StateRow {
  version: string;
  read_only: string | number;
  wsrep?: string | null;
}

/**
 * Statement that reads the state of any server. Only MariaDB runs the SQL in the comment, which reads the status of Galera.
 * A node that is out of sync may refuse even this statement.
 */
const STATE = `SELECT VERSION() AS version, @@global.read_only AS read_only /*M!100200 ,
  (SELECT GROUP_CONCAT(variable_name, '=', variable_value SEPARATOR ';') FROM information_schema.global_status
   WHERE variable_name IN ('wsrep_provider_name', 'wsrep_ready', 'wsrep_cluster_status', 'wsrep_local_state_comment')
  ) AS wsrep */`;

/**
 * Statements for every new connection. The strict mode prevents silent truncation. Only MariaDB runs the SQL in `M!`
 * comments, and only MySQL runs the SQL in `!50708` comments. MySQL applies its time limit only to reads.
 */
const SETTINGS = [
  `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', innodb_lock_wait_timeout = 5
   /*M!100101 , max_statement_time = ${SERVER_MILLIS / 1000} */ /*!50708 , max_execution_time = ${SERVER_MILLIS} */`,
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
];
/**
 * Enables causal reads on Galera: each statement waits until its node has applied all earlier commits of the cluster.
 * Changes wait too (value 7), because their conditions read rows.
 */
const CAUSAL_READS = 'SET SESSION wsrep_sync_wait = 7';
/** Error number for an unknown variable, which a server without Galera reports. */
const UNKNOWN_VARIABLE = 1193;

export async function setUpConnection(connection: Connection, { options }: Server): Promise<void> {
  storeConnectionOptions(connection, options);
  for (const sql of SETTINGS) await runQuery(connection, sql);
  await runQuery(connection, CAUSAL_READS).catch((error: unknown) => {
    if (!isObject(error) || error['errno'] !== UNKNOWN_VARIABLE) throw error;
  });
}

/**
 * Opens a session.
 * @throws DatabaseError `away` if the server is unreachable, `denied` if it refuses access, or the error of a statement.
 */
export async function openSession(server: Server): Promise<ServerSession> {
  const connection = createConnection(server.options);
  // Without a listener, an error of an idle connection would end the process.
  connection.on('error', () => undefined);
  try {
    const connected = connection.promise().connect();
    await connected.catch((error: unknown) => Promise.reject(toConnectError(error)));
    const state = await readState(connection);
    // The state is read first, because causal reads would delay this read on a node that is out of sync.
    await setUpConnection(connection, server);
    return { connection, server, state };
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

export async function readState(connection: Connection): Promise<ServerState> {
  const [row] = await runQuery<Rows<StateRow>>(connection, STATE);
  if (!row) throw new Error('The database server reported no state.');
  return toServerState(row);
}

export function toServerState({ version, read_only, wsrep }: StateRow): ServerState {
  const state = { version, readOnly: !['0', 'OFF'].includes(String(read_only)) };
  const status = new Map((wsrep ?? '').split(';').map(parsePair));
  if (!status.get('wsrep_provider_name')) return state;
  const galera = {
    ready: status.get('wsrep_ready') === 'ON',
    primary: status.get('wsrep_cluster_status') === 'Primary',
    comment: status.get('wsrep_local_state_comment') ?? '',
  };
  return { ...state, galera };
}

function parsePair(text: string): [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at).toLowerCase(), text.slice(at + 1)];
}

/** Returns the write state of a server. A Galera donor counts as out of sync, because a state transfer may block it. */
export function writeStateOf({ readOnly, galera }: ServerState) {
  if (galera && !(galera.ready && galera.primary && galera.comment === 'Synced')) return 'out_of_sync';
  return readOnly ? 'read_only' : 'writable';
}

/** Converts the error of a connection attempt. The fault is `denied` or `away`, because no statement was sent. */
export function toConnectError(error: unknown): DatabaseError {
  const known = toDatabaseError(error);
  if (!(known instanceof DatabaseError)) return new DatabaseError('away', known);
  return known.fault === 'denied' ? known : new DatabaseError('away', known.cause);
}

export const endConnection = (connection: Connection): Promise<void> => connection.promise().end();

export const endSession = ({ connection }: ServerSession): Promise<void> => endConnection(connection);

/** Removes the time limits of a session, for operators' statements that read or change millions of rows. */
export async function removeTimeLimits({ connection }: ServerSession): Promise<void> {
  await runWithoutTimeout(
    connection,
    `SET SESSION net_write_timeout = 3600, net_read_timeout = 3600
     /*M!100101 , max_statement_time = 0 */ /*!50708 , max_execution_time = 0 */`,
  );
}

/** Maximum time to wait for earlier servers of the list, which may be unreachable, if a later server is usable. */
const PREFERENCE_MILLIS = 1000;

/** Thrown if at least one server answers, but no server is writable. */
export class NoWriterError extends Error {
  /** State while no server accepts writes: `read_only` if at least one server is in sync, otherwise `out_of_sync`. */
  readonly writeState: WriteState;

  constructor(answers: readonly ServerSession[]) {
    const states = answers.map(({ server, state }) => ({ name: server.name, is: writeStateOf(state) }));
    const named = states.map(({ name, is }) => `${name} is ${is}`).join(', ');
    super(`No server of DATABASE_URL accepts changes: ${named}.`);
    this.writeState = states.some(({ is }) => is === 'read_only') ? 'read_only' : 'out_of_sync';
  }
}

export interface SessionFunctions {
  open: (server: Server) => Promise<ServerSession>;
  end: (session: ServerSession) => unknown;
}

/**
 * Returns a session of the first server that is writable and in sync. All servers are tried at once, so that an
 * unreachable server costs at most a second. The last resort is a Galera donor, so that the last node of a cluster
 * stays usable during a state transfer.
 * @throws DatabaseError `moved` if no server that answers is writable, or `away` if no server answers.
 */
export async function chooseSession(
  servers: readonly Server[],
  { open, end }: SessionFunctions = { open: openSession, end: endSession },
): Promise<ServerSession> {
  const attempts = servers.map((server) => open(server));
  const chosen = (await findSession(attempts, isWritable)) ?? (await findSession(attempts, isDonor));
  for (const attempt of attempts)
    attempt.then((session) => session !== chosen && end(session)).catch(() => undefined);
  if (chosen) return chosen;
  throw await buildNoSessionError(attempts);
}

/**
 * Returns the matching session of the earliest server in the list. After a second, returns the session that matches
 * first. Returns undefined if no session matches.
 */
async function findSession(
  attempts: readonly Promise<ServerSession>[],
  fits: (session: ServerSession) => boolean,
): Promise<ServerSession | undefined> {
  const fitting = attempts.map((attempt) =>
    attempt.then((session) => (fits(session) ? session : undefined)).catch(() => undefined),
  );
  const late = delay(PREFERENCE_MILLIS, undefined, { ref: false });
  for (const result of fitting) {
    const session = await Promise.race([result, late]);
    if (session) return session;
  }
  const any = fitting.map(async (result) => (await result) ?? Promise.reject(new Error('does not match')));
  return Promise.any(any).catch(() => undefined);
}

const isWritable = ({ state }: ServerSession): boolean => writeStateOf(state) === 'writable';

/** Returns true for a Galera node that is the donor of a state transfer and still accepts changes. */
const isDonor = ({ state: { readOnly, galera } }: ServerSession): boolean =>
  !readOnly && galera?.ready === true && galera.primary && galera.comment.startsWith('Donor');

async function buildNoSessionError(attempts: readonly Promise<ServerSession>[]): Promise<Error> {
  const results = await Promise.allSettled(attempts);
  const answers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  if (answers.length > 0) return new DatabaseError('moved', new NoWriterError(answers));
  const reasons = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  const refused = reasons.find((reason) => reason instanceof DatabaseError && reason.fault === 'moved');
  const reason = refused ?? reasons[0];
  return reason instanceof Error ? reason : new Error(String(reason));
}
