import { setTimeout as delay } from 'node:timers/promises';
import { types } from 'node:util';
import { type ErrorCode, ProblemError, errorCode } from '../../common/errors.js';
import { isObject } from '../../common/json.js';

/**
 * - `race`: another writer came in between (deadlock, lock wait, certification on a cluster), and nothing of the
 *   statement or the transaction is left; the same may succeed now.
 * - `duplicate`: a unique index has the value already; work that reads before it writes may succeed now.
 * - `moved`: this connection is of no use any more: it broke, or its server takes no changes. Another one may do.
 * - `away`: no server answers, or it has no room left.
 * - `unknown`: the answer to a commit was lost, and the commit may be done or not.
 */
export type Fault = 'race' | 'duplicate' | 'moved' | 'away' | 'unknown';

const LOCKED = {
  code: 'unavailable',
  detail: 'The database is kept locked by others.',
  seconds: '1',
} as const;
const SHOWN = {
  race: LOCKED,
  duplicate: LOCKED,
  moved: { code: 'unavailable', detail: 'The database takes no requests at the moment.', seconds: '2' },
  away: { code: 'unavailable', detail: 'The database does not answer.', seconds: '5' },
  unknown: {
    code: 'outcome_unknown',
    detail:
      'The connection to the database broke while the change was being committed: it may have been made or not. ' +
      'Ask, or repeat the request with the same Idempotency-Key.',
    seconds: '1',
  },
} as const satisfies Record<Fault, { code: ErrorCode; detail: string; seconds: string }>;

/** An error of the database that may be gone at a later attempt. The driver's error is its `cause`. */
export class DatabaseFault extends ProblemError {
  constructor(
    readonly fault: Fault,
    override readonly cause: Error,
    /** Enough attempts were made, by others too. */
    readonly final = false,
  ) {
    const { code, detail, seconds } = SHOWN[fault];
    super(code, detail, { headers: { 'Retry-After': seconds } });
  }
}

const RACE = [
  'ER_LOCK_DEADLOCK', // also what Galera says of a certification that failed, at any statement and at COMMIT
  'ER_LOCK_WAIT_TIMEOUT', // also a causal read that did not come in time
  'ER_CHECKREAD', // MariaDB: record has changed since last read
  'ER_TRANSACTION_ROLLBACK_DURING_COMMIT', // the certification of MySQL's group replication
];

const DUPLICATE = ['ER_DUP_ENTRY', 'SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_CONSTRAINT_UNIQUE'];

/**
 * The server refuses changes, or anything: it was demoted, or left its cluster. It says so before it does anything, and
 * instead of a COMMIT that it then rolls back (MariaDB's `ha_commit_trans` and MySQL's likewise ask `read_only` first;
 * a node of Galera that is not ready does not look at the statement).
 */
const REFUSED = [
  'ER_OPTION_PREVENTS_STATEMENT', // 1290: --read-only, --super-read-only
  'ER_READ_ONLY_MODE', // 1836
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION', // 1792
  'ER_UNKNOWN_COM_ERROR', // 1047: Galera's "WSREP has not yet prepared node for application use"
];

/** The connection broke, or its server could not finish. What was under way may be done or not. */
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
  // 1180 at COMMIT: Galera lost its group while the write set was on its way. The others may have received it and have
  // committed it, although this node answers with an error: `gcs_repl` fails with ENOTCONN in both cases.
  'ER_ERROR_DURING_COMMIT',
  // 3100: a hook of MySQL's group replication failed, which as with Galera may be after the group has the transaction.
  'ER_RUN_HOOK_ERROR',
];

/** The server refuses the user, or the user's rights. */
const DENIED = [
  'ER_DBACCESS_DENIED_ERROR', // 1044
  'ER_ACCESS_DENIED_ERROR', // 1045
  'ER_TABLEACCESS_DENIED_ERROR', // 1142
  'ER_SPECIFIC_ACCESS_DENIED_ERROR', // 1227
];

const AWAY = [
  ...DENIED,
  'POOL_CLOSED',
  'ER_CON_COUNT_ERROR',
  'ER_DISK_FULL',
  'ER_RECORD_FILE_FULL',
  // The server has ended the statement, by the limit of the session or at the request of an operator: MariaDB's
  // ER_STATEMENT_TIMEOUT, MySQL's ER_QUERY_TIMEOUT, ER_QUERY_INTERRUPTED.
  1969,
  3024,
  1317,
];

const FAULTS = new Map<unknown, Fault>([
  ...RACE.map((code) => [code, 'race'] as const),
  ...DUPLICATE.map((code) => [code, 'duplicate'] as const),
  ...[...REFUSED, ...BROKEN].map((code) => [code, 'moved'] as const),
  ...AWAY.map((code) => [code, 'away'] as const),
]);

/** SQLite's extended codes begin with the basic ones: `SQLITE_IOERR_FSYNC`. */
const SQLITE_RACE = /^SQLITE_BUSY/;
const SQLITE_AWAY = /^SQLITE_(FULL|IOERR|CANTOPEN|READONLY)/;

/** A driver's error as a DatabaseFault where it is one; any other error unchanged. */
export function toDatabaseError(thrown: unknown): Error {
  if (thrown instanceof DatabaseFault) return thrown;
  const error = types.isNativeError(thrown) ? thrown : new Error(String(thrown), { cause: thrown });
  const fault = faultOf(thrown);
  return fault ? new DatabaseFault(fault, error) : error;
}

/** Whether another connection has the lock: nothing was done, and the same statement may succeed in a moment. */
export function isBusy(error: unknown): boolean {
  return error instanceof DatabaseFault && SQLITE_RACE.test(codeOf(error.cause));
}

const codeOf = (error: unknown): string => errorCode(error) ?? '';

function faultOf(error: unknown): Fault | undefined {
  const { code, errno, fatal } = isObject(error) ? error : {};
  const known = FAULTS.get(code) ?? FAULTS.get(errno);
  if (known) return known;
  const text = codeOf(error);
  if (SQLITE_RACE.test(text)) return 'race';
  if (SQLITE_AWAY.test(text)) return 'away';
  // mysql2 marks what ends a connection as fatal.
  return fatal === true ? 'moved' : undefined;
}

/** What an error of a server says of a change that commits itself: where the answer was lost, the outcome is unknown. */
export function ofChange(error: Error): Error {
  return error instanceof DatabaseFault && error.fault === 'moved' && !isRefused(error)
    ? new DatabaseFault('unknown', error.cause)
    : error;
}

/**
 * What an error of a server says of a COMMIT. Rolled back for sure are a race and a refusal; after anything else, an
 * unknown error included, the outcome is unknown.
 */
export function ofCommit(error: Error): Error {
  if (!(error instanceof DatabaseFault)) return new DatabaseFault('unknown', error);
  return error.fault === 'race' || isRefused(error) ? error : new DatabaseFault('unknown', error.cause);
}

const hasCode = (error: unknown, codes: readonly unknown[]): boolean =>
  error instanceof DatabaseFault && 'code' in error.cause && codes.includes(error.cause.code);

/** The server takes no changes, or nothing at all. */
export const isRefused = (error: DatabaseFault): boolean => hasCode(error, REFUSED);

/**
 * The server is of no use on its other connections either: it takes no changes, answers nothing, or refuses a right, which
 * each connection has as it was when the connection was made.
 */
export const isServerWide = (error: DatabaseFault): boolean =>
  hasCode(error, [...REFUSED, ...DENIED, 'PROTOCOL_SEQUENCE_TIMEOUT']);

/** The server has as many connections as it takes. */
export const isCrowded = (error: unknown): boolean => hasCode(error, ['ER_CON_COUNT_ERROR']);

/** The service is ending. */
export function poolClosed(): DatabaseFault {
  return new DatabaseFault('away', Object.assign(new Error('the pool is closed'), { code: 'POOL_CLOSED' }));
}

/** A request waits no longer for races to end or for a server that takes changes. */
const DEADLINE_MILLIS = 8000;
/** Enough for some dozens of writers of one key: each attempt ends with one of them done. */
const MAX_RACES = 12;

export type Work = 'transaction' | 'statement';

/** Milliseconds of the longest pause before the second attempt, and of the longest at all. */
const PAUSES: Record<'race' | 'moved', [first: number, most: number]> = { race: [10, 200], moved: [50, 500] };

/** A single statement reads nothing first: a value that is taken stays taken. */
const ALONE: readonly Fault[] = ['race', 'moved'];
const READ_BEFORE_WRITE: readonly Fault[] = [...ALONE, 'duplicate'];

/**
 * The one rule about second attempts. A race is run again after a short random pause, so that two writers do not meet
 * twice. On a connection that is of no use any more the work is run again on the next one, which may be to another
 * server. What may have been committed (`unknown`) never is.
 * @param work `transaction` reads before it writes, and so finds what took its unique value; a `statement` does not.
 * @param attempts made so far. @param millis since the first one began.
 * @returns milliseconds to wait before the next attempt; undefined where there is to be none.
 */
export function pauseAfter(error: unknown, work: Work, attempts: number, millis: number): number | undefined {
  if (!(error instanceof DatabaseFault) || millis >= DEADLINE_MILLIS) return undefined;
  const { fault, final } = error;
  if (final || !(work === 'transaction' ? READ_BEFORE_WRITE : ALONE).includes(fault)) return undefined;
  if (fault !== 'moved' && attempts >= MAX_RACES) return undefined;
  // The second attempt on another connection is made at once: most often there is one.
  if (fault === 'moved' && attempts === 1) return 0;
  const [first, most] = PAUSES[fault === 'moved' ? 'moved' : 'race'];
  return Math.random() * Math.min(first * 2 ** (attempts - 1), most);
}

/** What `attempt` returns, which is made again by the rule of `pauseAfter`. @throws the last error. */
export async function repeated<T>(work: Work, attempt: (number: number) => Promise<T>): Promise<T> {
  const started = Date.now();
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt(attempts);
    } catch (error) {
      await pauseOrThrow(error, work, attempts, Date.now() - started);
    }
  }
}

async function pauseOrThrow(error: unknown, work: Work, attempts: number, millis: number): Promise<void> {
  const pause = pauseAfter(error, work, attempts, millis);
  if (pause === undefined) throw error;
  await delay(pause);
}
