import { setTimeout as delay } from 'node:timers/promises';
import { types } from 'node:util';
import { type ErrorCode, ProblemError, errorCodeOf } from '../../common/errors.js';
import { isObject } from '../../common/json.js';
import type { UnwritableState } from './sql.js';

/**
 * Kinds of temporary database errors.
 * - `race`: a conflict with another writer (deadlock, lock wait, certification on a cluster). The statement or
 *   transaction was rolled back, and a retry may succeed.
 * - `duplicate`: a unique index already contains the value. Work that reads before it writes may succeed on a retry.
 * - `moved`: the connection broke, or its server accepts no changes. Another connection may work.
 * - `away`: no server answers, or the server is out of connections.
 * - `denied`: the server refuses the password of the service, or a privilege.
 * - `full`, `disk_error`, `read_only`: the disk or the file accepts no changes.
 * - `damaged`: a page, an index or a file of the database is broken. Only a restore helps.
 * - `unknown`: the response to a commit was lost, so the commit may or may not have been applied.
 * - `replaced`: another program has deleted, replaced or overwritten a file of the embedded database. The service ends.
 */
export type Fault = keyof typeof DETAILS;

const LOCKED = ['Other changes kept the database locked for too long. Repeat the request.', '1'] as const;
/** The detail of each error, and its `Retry-After` in seconds. */
const DETAILS = {
  race: LOCKED,
  duplicate: LOCKED,
  moved: ['The database is not ready. Try again.', '2'],
  away: ['The database does not answer. Try again.', '5'],
  denied: ['The database refuses access. Try again.', '5'],
  full: ['The database has no free disk space. Try again.', '5'],
  disk_error: ['The database cannot read or write its disk. Try again.', '5'],
  read_only: ['The database is read-only. Try again.', '5'],
  damaged: ['The database is damaged. Report this to the operator.', '60'],
  unknown: [
    'The connection to the database broke during the commit, so the change may or may not have been applied. ' +
      'Read the record to find out, or repeat the request with the same Idempotency-Key.',
    '1',
  ],
  replaced: [
    'The files of the database were deleted, replaced or overwritten, so the last changes may be lost. ' +
      'The service stops. Repeat the request later.',
    '5',
  ],
} as const;

const PROBLEM_CODES = new Map<Fault, ErrorCode>([
  ['unknown', 'outcome_unknown'],
  ['replaced', 'database_replaced'],
]);

/** A database error that clients receive as a temporary problem. The driver's error is its `cause`. */
export class DatabaseError extends ProblemError {
  constructor(
    readonly fault: Fault,
    override readonly cause: Error,
    /** True if requests have failed for longer than a failover takes. The error is then not retried. */
    readonly isFinal = false,
  ) {
    const [detail, seconds] = DETAILS[fault];
    super(PROBLEM_CODES.get(fault) ?? 'unavailable', detail, { headers: { 'Retry-After': seconds } });
  }
}

/**
 * Error codes of a server that accepts no changes, because it was demoted or left its cluster. The refused statement
 * had no effect, even if it was a COMMIT.
 */
const REFUSED = [
  'ER_OPTION_PREVENTS_STATEMENT', // 1290: --read-only, --super-read-only
  'ER_READ_ONLY_MODE', // 1836
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION', // 1792
  'ER_UNKNOWN_COM_ERROR', // 1047: Galera's "WSREP has not yet prepared node for application use"
];

/** Error codes of a broken connection or an interrupted server. The statement may or may not have been applied. */
const BROKEN = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ER_SERVER_SHUTDOWN',
  'ER_NORMAL_SHUTDOWN',
  'ER_CLIENT_INTERACTION_TIMEOUT',
  1927, // MariaDB's ER_CONNECTION_KILLED, for which the driver has no name
  // 1180 at COMMIT: the Galera node lost its cluster during the commit. The other nodes may or may not have committed
  // the change.
  'ER_ERROR_DURING_COMMIT',
  // 3100: a hook of MySQL's group replication failed, possibly after the group had received the transaction.
  'ER_RUN_HOOK_ERROR',
];

const SQLITE_BUSY = 'SQLITE_BUSY';

/** Error names of the driver, and error numbers of the server. */
const CODES: Readonly<Partial<Record<Fault, readonly unknown[]>>> = {
  race: [
    SQLITE_BUSY,
    'ER_LOCK_DEADLOCK', // also Galera's error for a failed certification, at any statement and at COMMIT
    'ER_LOCK_WAIT_TIMEOUT', // also Galera's error for a causal read that timed out
    'ER_CHECKREAD', // MariaDB: record has changed since last read
    'ER_TRANSACTION_ROLLBACK_DURING_COMMIT', // a failed certification of MySQL's group replication
  ],
  duplicate: ['ER_DUP_ENTRY', 'SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_CONSTRAINT_UNIQUE'],
  moved: [...REFUSED, ...BROKEN],
  // The last three: the time limit of the session or an operator's KILL ended the statement (MariaDB's
  // ER_STATEMENT_TIMEOUT, MySQL's ER_QUERY_TIMEOUT, ER_QUERY_INTERRUPTED).
  away: ['ER_CON_COUNT_ERROR', 1969, 3024, 1317],
  // A refused host, password, account or privilege, or an account that has reached a limit of its own.
  denied: [
    1044, 1045, 1129, 1130, 1142, 1143, 1203, 1226, 1227, 1370, 1449, 1698, 1820, 1862, 3118, 3159, 3955,
    4151,
  ],
  full: ['SQLITE_FULL', 1021, 1114],
  // Failed reads and writes of files, and errors of a storage engine (1030).
  disk_error: ['SQLITE_IOERR', 'SQLITE_CANTOPEN', 1024, 1026, 1030, 1598],
  // A read-only table or schema, or InnoDB in a read-only mode.
  read_only: ['SQLITE_READONLY', 1036, 1874, 1881, 3989],
  // Broken definition files, keys, tables, indexes and tablespaces.
  damaged: ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 1033, 1034, 1194, 1195, 1712, 1812, 1814, 1877, 1932],
};
const FAULTS = new Map(
  Object.entries(CODES).flatMap(([fault, codes]) => codes.map((code) => [code, fault as Fault])),
);
/** Numbers of broken keys and tables in error 1030, such as `Got error 127 from storage engine`. */
const DAMAGE = /\b(126|127|134|144|145|180|194)\b/;

/** Converts a driver's error to a `DatabaseError` if its code is known. Returns any other error unchanged. */
export function toDatabaseError(thrown: unknown): Error {
  if (thrown instanceof DatabaseError) return thrown;
  const error = types.isNativeError(thrown) ? thrown : new Error(String(thrown), { cause: thrown });
  const fault = faultOf(thrown);
  return fault ? new DatabaseError(fault, error) : error;
}

/** Returns true if another connection holds SQLite's lock. The statement had no effect and can be retried. */
export function isBusy(error: unknown): boolean {
  return error instanceof DatabaseError && errorCodeOf(error.cause) === SQLITE_BUSY;
}

function faultOf(error: unknown): Fault | undefined {
  const { code, errno, fatal, message } = isObject(error) ? error : {};
  if (errno === 1030 && DAMAGE.test(String(message))) return 'damaged';
  // mysql2 marks errors that end a connection as fatal.
  return FAULTS.get(code) ?? FAULTS.get(errno) ?? (fatal === true ? 'moved' : undefined);
}

/**
 * Converts the error of a statement outside of a transaction. If the response to the statement was lost, the fault
 * becomes `unknown`, because the change may have been committed.
 */
export function toChangeError(error: Error): Error {
  const isLost = error instanceof DatabaseError && error.fault === 'moved' && !isStatementRefused(error);
  return isLost ? new DatabaseError('unknown', error.cause) : error;
}

/**
 * Converts the error of a COMMIT. A race or a refusal is returned unchanged, because the transaction was rolled back.
 * Any other error gets the fault `unknown`.
 */
export function toCommitError(error: Error): Error {
  if (!(error instanceof DatabaseError)) return new DatabaseError('unknown', error);
  return error.fault === 'race' || isStatementRefused(error)
    ? error
    : new DatabaseError('unknown', error.cause);
}

const hasCode = (error: unknown, codes: readonly unknown[]): boolean =>
  error instanceof DatabaseError && 'code' in error.cause && codes.includes(error.cause.code);

export const isStatementRefused = (error: DatabaseError): boolean => hasCode(error, REFUSED);

/**
 * Returns true if the error affects all connections to the server. This includes a missing privilege, because open
 * connections do not notice when the privilege is granted.
 */
export const isServerWide = (error: DatabaseError): boolean =>
  error.fault === 'denied' || hasCode(error, [...REFUSED, 'PROTOCOL_SEQUENCE_TIMEOUT']);

export const isConnectionLimit = (error: unknown): boolean =>
  hasCode(error, ['ER_CON_COUNT_ERROR', 'ER_TOO_MANY_USER_CONNECTIONS', 'ER_USER_LIMIT_REACHED']);

/** Returns the state of a database in which a write or a probe failed with this error. */
export function toWriteState(error: unknown): UnwritableState {
  if (!(error instanceof DatabaseError)) return 'away';
  const { fault } = error;
  if (fault === 'race' || fault === 'duplicate') return 'locked';
  if (fault === 'moved' || fault === 'unknown') return isStatementRefused(error) ? 'read_only' : 'away';
  return fault;
}

/** Maximum time for which work is retried. */
const DEADLINE_MILLIS = 8000;
/**
 * Maximum number of attempts after races. It is enough for dozens of concurrent writers of one key, because one of them
 * succeeds each time.
 */
const MAX_RACE_ATTEMPTS = 12;

export type WorkKind = 'transaction' | 'statement';

/**
 * Limits of the pause before a retry, in milliseconds. The limit doubles with each attempt, from the first number to
 * the second.
 */
const LONGEST_PAUSES = { race: [10, 200], moved: [50, 500] } as const;

/**
 * Faults after which a single statement is retried. They do not include `duplicate`, because the value would still
 * exist at the next attempt.
 */
const STATEMENT_FAULTS: readonly Fault[] = ['race', 'moved'];
const TRANSACTION_FAULTS: readonly Fault[] = [...STATEMENT_FAULTS, 'duplicate'];

/**
 * Returns the milliseconds to wait before a retry, or undefined if the work must not be retried. The pause is random,
 * so that two writers do not collide again. Work that may have been committed (`unknown`) is never retried.
 * @param work `transaction` for work that reads before it writes, otherwise `statement`.
 * @param millis time since the first attempt began.
 */
export function computeRetryDelay(error: unknown, work: WorkKind, attempts: number, millis: number) {
  if (!(error instanceof DatabaseError) || millis >= DEADLINE_MILLIS) return undefined;
  const { fault, isFinal } = error;
  const retried = work === 'transaction' ? TRANSACTION_FAULTS : STATEMENT_FAULTS;
  if (isFinal || !retried.includes(fault)) return undefined;
  if (fault !== 'moved' && attempts >= MAX_RACE_ATTEMPTS) return undefined;
  // The second attempt needs no pause, because another connection is usually available.
  if (fault === 'moved' && attempts === 1) return 0;
  const [first, most] = LONGEST_PAUSES[fault === 'moved' ? 'moved' : 'race'];
  return Math.random() * Math.min(first * 2 ** (attempts - 1), most);
}

/** Runs `attempt` until it succeeds or `computeRetryDelay` allows no retry. @throws the error of the last attempt. */
export async function runWithRetry<T>(work: WorkKind, attempt: (number: number) => Promise<T>): Promise<T> {
  const started = performance.now();
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt(attempts);
    } catch (error) {
      const pause = computeRetryDelay(error, work, attempts, performance.now() - started);
      if (pause === undefined) throw error;
      await delay(pause);
    }
  }
}
