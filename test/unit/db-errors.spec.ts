import { expect, test } from '@jest/globals';
import { DatabaseFault, toDatabaseError } from '../../src/database/engine/database-fault.js';

const driverError = (code: string, more = {}) => Object.assign(new Error(code), { code, ...more });

test.each([
  ['a server that accepts no changes', 'ER_OPTION_PREVENTS_STATEMENT', 'away', '5'],
  ['a node that is not in step', 'ER_UNKNOWN_COM_ERROR', 'away', '5'],
  ['a server that is not reached', 'ECONNREFUSED', 'away', '5'],
  ['a full disk', 'SQLITE_FULL', 'away', '5'],
  ['a disk that fails', 'SQLITE_IOERR_FSYNC', 'away', '5'],
  ['a lock that others keep', 'ER_LOCK_WAIT_TIMEOUT', 'race', '1'],
  ['a file that others keep locked', 'SQLITE_BUSY', 'race', '1'],
  ['a key that another writer has used', 'SQLITE_CONSTRAINT_UNIQUE', 'race', '1'],
])('%s is for a later attempt', (_, code, fault, retryAfter) => {
  const cause = driverError(code);
  const error = toDatabaseError(cause);
  expect(error).toBeInstanceOf(DatabaseFault);
  expect(error).toMatchObject({ fault, cause, code: 'unavailable' });
  expect(error).toMatchObject({ extras: { headers: { 'Retry-After': retryAfter } } });
});

test('an error that ends the connection is a database that is away', () => {
  expect(toDatabaseError(driverError('ER_UNHEARD_OF', { fatal: true }))).toMatchObject({ fault: 'away' });
});

test('a statement that is wrong is a fault of ours', () => {
  const cause = driverError('ER_PARSE_ERROR');
  expect(toDatabaseError(cause)).toBe(cause);
});
