import { expect, test } from '@jest/globals';
import { toProblemError } from '../../src/http/problem.js';

test.each([
  ['a server that takes no changes', 'ER_OPTION_PREVENTS_STATEMENT'],
  ['a node that is not in step', 'ER_UNKNOWN_COM_ERROR'],
  ['a full disk', 'SQLITE_FULL'],
  ['a lock that others keep', 'ER_LOCK_WAIT_TIMEOUT'],
])('%s is for a later attempt', (_, code) => {
  expect(toProblemError(Object.assign(new Error(code), { code })).code).toBe('unavailable');
});

test('a statement that is wrong is a fault of ours', () => {
  expect(toProblemError(Object.assign(new Error(), { code: 'ER_PARSE_ERROR' })).code).toBe('internal');
});
