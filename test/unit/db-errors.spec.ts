import { describe, expect, test } from '@jest/globals';
import {
  DatabaseError,
  toChangeError,
  toCommitError,
  computeRetryDelay,
  toDatabaseError,
} from '../../src/platform/database/engine/database-error.js';

const driverError = (code: string, more = {}) => Object.assign(new Error(code), { code, ...more });

test.each([
  ['a server that accepts no changes', 'ER_OPTION_PREVENTS_STATEMENT', 'moved', '2'],
  ['a node that is not in step', 'ER_UNKNOWN_COM_ERROR', 'moved', '2'],
  ['a node that lost its group', 'ER_ERROR_DURING_COMMIT', 'moved', '2'],
  ['a connection that broke', 'PROTOCOL_CONNECTION_LOST', 'moved', '2'],
  ['a full disk', 'SQLITE_FULL', 'away', '5'],
  ['a disk that fails', 'SQLITE_IOERR_FSYNC', 'away', '5'],
  ['a server with too many connections', 'ER_CON_COUNT_ERROR', 'away', '5'],
  ['a lock that others keep', 'ER_LOCK_WAIT_TIMEOUT', 'race', '1'],
  ['a certification that failed', 'ER_LOCK_DEADLOCK', 'race', '1'],
  ['a file that others keep locked', 'SQLITE_BUSY', 'race', '1'],
  ['a key that another writer has used', 'SQLITE_CONSTRAINT_UNIQUE', 'duplicate', '1'],
])('%s is for a later attempt', (_, code, fault, retryAfter) => {
  const cause = driverError(code);
  const error = toDatabaseError(cause);
  expect(error).toBeInstanceOf(DatabaseError);
  expect(error).toMatchObject({ fault, cause, code: 'unavailable' });
  expect(error).toMatchObject({ extras: { headers: { 'Retry-After': retryAfter } } });
});

test.each([
  ['an error that ends the connection', driverError('ER_UNHEARD_OF', { fatal: true })],
  ['a connection that was killed', driverError('UNKNOWN_CODE_PLEASE_REPORT', { errno: 1927 })],
])('%s says nothing of the next connection', (_, error) => {
  expect(toDatabaseError(error)).toMatchObject({ fault: 'moved' });
});

describe('of an error whose moment is a commit', () => {
  const unknown = { fault: 'unknown', code: 'outcome_unknown', status: 503 };
  const known = ['ER_LOCK_DEADLOCK', 'ER_TRANSACTION_ROLLBACK_DURING_COMMIT', 'ER_OPTION_PREVENTS_STATEMENT'];
  const lost = ['PROTOCOL_CONNECTION_LOST', 'PROTOCOL_SEQUENCE_TIMEOUT', 'ECONNRESET', 'ER_SERVER_SHUTDOWN'];
  const left = ['ER_ERROR_DURING_COMMIT', 'ER_RUN_HOOK_ERROR'];

  test.each([...known, 'ER_UNKNOWN_COM_ERROR', 'ER_READ_ONLY_MODE'])('%s is a rollback', (code) => {
    const error = toDatabaseError(driverError(code));
    expect(toCommitError(error)).toBe(error);
    expect(toChangeError(error)).toBe(error);
  });
  test.each([...lost, ...left])('%s leaves the outcome open, and is not tried again', (code) => {
    const error = toDatabaseError(driverError(code));
    for (const meant of [toCommitError(error), toChangeError(error)]) {
      expect(meant).toMatchObject({ ...unknown, cause: { code } });
      expect(computeRetryDelay(meant, 'transaction', 1, 0)).toBeUndefined();
      expect(computeRetryDelay(meant, 'statement', 1, 0)).toBeUndefined();
    }
  });
  test('an unheard-of one leaves it open at COMMIT, and is a fault of ours at a statement', () => {
    const error = driverError('ER_UNHEARD_OF');
    expect(toCommitError(error)).toMatchObject(unknown);
    expect(toChangeError(error)).toBe(error);
  });
});

describe('another attempt', () => {
  const fault = (code: string) => toDatabaseError(driverError(code));
  test('follows a race, for transactions and for statements of their own, a bounded number of times', () => {
    for (const work of ['transaction', 'statement'] as const) {
      for (let attempts = 1; attempts < 12; attempts++) {
        expect(computeRetryDelay(fault('ER_LOCK_DEADLOCK'), work, attempts, 100)).toBeLessThanOrEqual(200);
      }
      expect(computeRetryDelay(fault('ER_LOCK_DEADLOCK'), work, 12, 100)).toBeUndefined();
    }
  });
  test('follows a unique violation only where the work reads first', () => {
    expect(computeRetryDelay(fault('ER_DUP_ENTRY'), 'transaction', 1, 0)).toBeGreaterThanOrEqual(0);
    expect(computeRetryDelay(fault('ER_DUP_ENTRY'), 'statement', 1, 0)).toBeUndefined();
  });
  test('is made on another connection at once, and then until the deadline', () => {
    expect(computeRetryDelay(fault('ER_OPTION_PREVENTS_STATEMENT'), 'statement', 1, 0)).toBe(0);
    expect(
      computeRetryDelay(fault('ER_OPTION_PREVENTS_STATEMENT'), 'statement', 50, 7999),
    ).toBeLessThanOrEqual(500);
    expect(computeRetryDelay(fault('ER_OPTION_PREVENTS_STATEMENT'), 'statement', 2, 8000)).toBeUndefined();
  });
  test('is not made where no server has taken changes for long, none answers, or the statement is wrong', () => {
    const long = new DatabaseError('moved', driverError('ER_OPTION_PREVENTS_STATEMENT'), true);
    for (const error of [long, fault('ER_DISK_FULL'), driverError('ER_PARSE_ERROR')]) {
      expect(computeRetryDelay(error, 'transaction', 1, 0)).toBeUndefined();
    }
  });
});

test('a statement that is wrong is a fault of ours', () => {
  const cause = driverError('ER_PARSE_ERROR');
  expect(toDatabaseError(cause)).toBe(cause);
});
