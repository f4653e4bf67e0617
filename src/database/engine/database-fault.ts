import { ProblemError } from '../../common/errors.js';
import { isObject } from '../../common/json.js';

/**
 * - `race`: another writer came in between (unique violation, deadlock, lock wait); the same work may succeed now.
 * - `away`: the database does not answer, has no room left, or accepts no changes, as a server that is being replaced.
 */
type Fault = 'race' | 'away';

/** An error of the database that may be gone at a later attempt. The driver's error is its `cause`. */
export class DatabaseFault extends ProblemError {
  constructor(
    readonly fault: Fault,
    override readonly cause: Error,
  ) {
    const detail =
      fault === 'race' ? 'The database is kept locked by others.' : 'The database does not answer.';
    super('unavailable', detail, { headers: { 'Retry-After': fault === 'race' ? '1' : '5' } });
  }
}

const RACE = new Set<unknown>([
  'ER_DUP_ENTRY',
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_CHECKREAD', // MariaDB: record has changed since last read
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  'SQLITE_CONSTRAINT_UNIQUE',
]);

const AWAY = new Set<unknown>([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'POOL_CLOSED',
  'ER_CON_COUNT_ERROR',
  'ER_SERVER_SHUTDOWN',
  'ER_CONNECTION_KILLED',
  'ER_OPTION_PREVENTS_STATEMENT', // --read-only
  'ER_READ_ONLY_MODE',
  'ER_UNKNOWN_COM_ERROR', // Galera: a node that is not in step yet
  'ER_DISK_FULL',
  'ER_RECORD_FILE_FULL',
  'PROTOCOL_SEQUENCE_TIMEOUT',
]);

/** SQLite's extended codes begin with the basic ones: `SQLITE_IOERR_FSYNC`. */
const SQLITE_RACE = /^SQLITE_BUSY/;
const SQLITE_AWAY = /^SQLITE_(FULL|IOERR|CANTOPEN|READONLY)/;

/** A driver's error as a DatabaseFault where it is one; any other error unchanged. */
export function toDatabaseError(thrown: unknown): Error {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown });
  const fault = faultOf(thrown);
  return fault ? new DatabaseFault(fault, error) : error;
}

/** Whether another connection has the lock: nothing was done, and the same statement may succeed in a moment. */
export function isBusy(error: unknown): boolean {
  return error instanceof DatabaseFault && SQLITE_RACE.test(codeOf(error.cause));
}

function codeOf(error: unknown): string {
  const { code } = isObject(error) ? error : {};
  return typeof code === 'string' ? code : '';
}

function faultOf(error: unknown): Fault | undefined {
  const { code, fatal } = isObject(error) ? error : {};
  const text = codeOf(error);
  if (RACE.has(code) || SQLITE_RACE.test(text)) return 'race';
  // mysql2 marks what ends a connection as fatal.
  if (AWAY.has(code) || SQLITE_AWAY.test(text) || fatal === true) return 'away';
  return undefined;
}
