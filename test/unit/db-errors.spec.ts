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
  ['a read-only server', 'ER_OPTION_PREVENTS_STATEMENT', 'moved', '2'],
  ['a node that is out of sync', 'ER_UNKNOWN_COM_ERROR', 'moved', '2'],
  ['a node that lost its cluster', 'ER_ERROR_DURING_COMMIT', 'moved', '2'],
  ['a lost connection', 'PROTOCOL_CONNECTION_LOST', 'moved', '2'],
  ['a full disk', 'SQLITE_FULL', 'full', '5'],
  ['a disk error', 'SQLITE_IOERR', 'disk_error', '5'],
  ['a damaged page', 'SQLITE_CORRUPT', 'damaged', '60'],
  ['a server with too many connections', 'ER_CON_COUNT_ERROR', 'away', '5'],
  ['a lock that another transaction holds', 'ER_LOCK_WAIT_TIMEOUT', 'race', '1'],
  ['a failed certification', 'ER_LOCK_DEADLOCK', 'race', '1'],
  ['a locked SQLite file', 'SQLITE_BUSY', 'race', '1'],
  ['a unique key that another writer has used', 'SQLITE_CONSTRAINT_UNIQUE', 'duplicate', '1'],
])('%s leads to the error "unavailable" with Retry-After', (_, code, fault, retryAfter) => {
  const cause = driverError(code);
  const error = toDatabaseError(cause);
  expect(error).toBeInstanceOf(DatabaseError);
  expect(error).toMatchObject({ fault, cause, code: 'unavailable' });
  expect(error).toMatchObject({ extras: { headers: { 'Retry-After': retryAfter } } });
});

test.each([
  ['an unknown error that ends the connection', driverError('ER_UNHEARD_OF', { fatal: true })],
  ['a killed connection', driverError('UNKNOWN_CODE_PLEASE_REPORT', { errno: 1927 })],
])('%s is classified as retriable on another connection', (_, error) => {
  expect(toDatabaseError(error)).toMatchObject({ fault: 'moved' });
});

describe('the database error', () => {
  const unknown = { fault: 'unknown', code: 'outcome_unknown', status: 503 };
  const known = ['ER_LOCK_DEADLOCK', 'ER_TRANSACTION_ROLLBACK_DURING_COMMIT', 'ER_OPTION_PREVENTS_STATEMENT'];
  const lost = ['PROTOCOL_CONNECTION_LOST', 'PROTOCOL_SEQUENCE_TIMEOUT', 'ECONNRESET', 'ER_SERVER_SHUTDOWN'];
  const left = ['ER_ERROR_DURING_COMMIT', 'ER_RUN_HOOK_ERROR'];

  test.each([...known, 'ER_UNKNOWN_COM_ERROR', 'ER_READ_ONLY_MODE'])('%s leaves data unchanged', (code) => {
    const error = toDatabaseError(driverError(code));
    expect(toCommitError(error)).toBe(error);
    expect(toChangeError(error)).toBe(error);
  });
  test.each([...lost, ...left])('%s leaves the outcome unknown and is not retried', (code) => {
    const error = toDatabaseError(driverError(code));
    for (const meant of [toCommitError(error), toChangeError(error)]) {
      expect(meant).toMatchObject({ ...unknown, cause: { code } });
      expect(computeRetryDelay(meant, 'transaction', 1, 0)).toBeUndefined();
      expect(computeRetryDelay(meant, 'statement', 1, 0)).toBeUndefined();
    }
  });
  test('with an unknown code makes only a COMMIT outcome unknown', () => {
    const error = driverError('ER_UNHEARD_OF');
    expect(toCommitError(error)).toMatchObject(unknown);
    expect(toChangeError(error)).toBe(error);
  });
});

describe('a database operation', () => {
  const fault = (code: string) => toDatabaseError(driverError(code));
  test('is retried after a deadlock at most 11 times', () => {
    for (const work of ['transaction', 'statement'] as const) {
      for (let attempts = 1; attempts < 12; attempts++) {
        expect(computeRetryDelay(fault('ER_LOCK_DEADLOCK'), work, attempts, 100)).toBeLessThanOrEqual(200);
      }
      expect(computeRetryDelay(fault('ER_LOCK_DEADLOCK'), work, 12, 100)).toBeUndefined();
    }
  });
  test('violating a unique key is retried only as a transaction', () => {
    expect(computeRetryDelay(fault('ER_DUP_ENTRY'), 'transaction', 1, 0)).toBeGreaterThanOrEqual(0);
    expect(computeRetryDelay(fault('ER_DUP_ENTRY'), 'statement', 1, 0)).toBeUndefined();
  });
  test('on a read-only server is retried for 8 seconds', () => {
    const readOnly = fault('ER_OPTION_PREVENTS_STATEMENT');
    expect(computeRetryDelay(readOnly, 'statement', 1, 0)).toBe(0);
    expect(computeRetryDelay(readOnly, 'statement', 50, 7999)).toBeLessThanOrEqual(500);
    expect(computeRetryDelay(readOnly, 'statement', 2, 8000)).toBeUndefined();
  });
  test('is not retried after a full disk or invalid statement', () => {
    const long = new DatabaseError('moved', driverError('ER_OPTION_PREVENTS_STATEMENT'), true);
    for (const error of [long, fault('ER_DISK_FULL'), driverError('ER_PARSE_ERROR')]) {
      expect(computeRetryDelay(error, 'transaction', 1, 0)).toBeUndefined();
    }
  });
});

test('the driver error for an invalid statement is returned unchanged', () => {
  const cause = driverError('ER_PARSE_ERROR');
  expect(toDatabaseError(cause)).toBe(cause);
});
