import { describe, expect, test } from '@jest/globals';
import { ProblemError } from '../../src/platform/common/errors.js';
import {
  readBulkRequest,
  findReferences,
  resolveReferences,
  weightOf,
} from '../../src/scim/bulk/bulk-plan.js';

const post = (bulkId: string, data: object = {}, path = '/Users') => ({ method: 'POST', path, bulkId, data });
const readPlan = (...Operations: unknown[]) => readBulkRequest({ Operations });
const createOnes = (count: number) => Array<number>(count).fill(1);
const repeat = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const manager = (bulkId: string) => ({ manager: { value: `bulkId:${bulkId}` } });
const orderOf = async (...Operations: unknown[]) =>
  (await readPlan(...Operations)).operations.map(({ index }) => index);
/** Returns the error code of each operation, or `good`. */
const codesIn = async (...Operations: unknown[]) =>
  (await readPlan(...Operations)).operations.map(({ error }) => error?.code ?? 'good');
const codeOf = async (body: object): Promise<string> => {
  try {
    await readBulkRequest(body);
    return 'good';
  } catch (error) {
    return error instanceof ProblemError ? error.code : String(error);
  }
};

describe('Bulk operations', () => {
  test('run in the order of the request', async () => {
    expect(await orderOf(post('a'), post('g', {}, '/Groups'), post('b'))).toEqual([0, 1, 2]);
  });

  test('run after the operations that they reference', async () => {
    expect(await orderOf(post('a', manager('c')), post('b'), post('c'))).toEqual([2, 0, 1]);
    const group = post('g', { members: [{ value: 'bulkId:b' }, { $ref: '../Users/bulkId:a' }] }, '/Groups');
    expect(await orderOf(group, post('a'), post('b'))).toEqual([2, 1, 0]);
  });

  test('on groups run after the users that they reference if failOnErrors is set', async () => {
    const Operations = [post('g', manager('b'), '/Groups'), post('h', {}, '/Groups'), post('a'), post('b')];
    const { operations } = await readBulkRequest({ failOnErrors: 1, Operations });
    expect(operations.map(({ index }) => index)).toEqual([2, 3, 0, 1]);
  });

  test('run only once despite circular references', async () => {
    expect(await orderOf(post('a', manager('b')), post('b', manager('a')), post('c', manager('c')))).toEqual([
      1, 0, 2,
    ]);
  });
});

test.each<[string, unknown, string]>([
  ['names in another case are accepted', { METHOD: 'post', Path: 'users/', BULKID: 'x', Data: {} }, 'good'],
  ['a PATCH with a list as data is accepted', { method: 'PATCH', path: '/Users/1', data: [] }, 'good'],
  ['a DELETE without data is accepted', { method: 'DELETE', path: '/Groups/1' }, 'good'],
  ['a POST without a bulkId is refused', { method: 'POST', path: '/Users', data: {} }, 'invalid_value'],
  ['a POST with an empty bulkId is refused', post(''), 'invalid_value'],
  ['a bulkId of 256 characters is refused', post('x'.repeat(256)), 'invalid_value'],
  ['the method GET is refused', { method: 'GET', path: '/Users/1' }, 'invalid_value'],
  ['a POST with an id in its path is refused', post('x', {}, '/Users/1'), 'invalid_value'],
  ['a PUT without an id is refused', { method: 'PUT', path: '/Users', data: {} }, 'invalid_value'],
  ['a path with a query is refused', { method: 'DELETE', path: '/Users/1?x=1' }, 'invalid_value'],
  ['a path of another resource type is refused', { method: 'DELETE', path: '/Schemas/1' }, 'invalid_value'],
  ['a path that is not a string is refused', { method: 'DELETE', path: 1 }, 'invalid_value'],
  ['a POST without data is refused', { method: 'POST', path: '/Users', bulkId: 'x' }, 'invalid_syntax'],
  ['a numeric version is refused', { method: 'DELETE', path: '/Users/1', version: 1 }, 'invalid_value'],
  ['a version of 65 characters is refused', { ...post('x'), version: 'x'.repeat(65) }, 'invalid_value'],
  ['a path of 1,001 characters is refused', post('x', {}, '/'.padEnd(1001, 'x')), 'invalid_value'],
  ['20,001 JSON values are refused', post('x', createOnes(19_996)), 'invalid_value'],
  ['20,000 JSON values are accepted', post('x', createOnes(19_995)), 'good'],
  ['an operation that is not an object is refused', null, 'invalid_value'],
])('in a Bulk request, %s', async (_, operation, code) => {
  expect(await codesIn(operation)).toEqual([code]);
});

const BY_PATH = [{ op: 'add', path: 'urn:x:User:password', value: 'x' }];
const IN_VALUE = [{ op: 'add', value: { password: 'x' } }];
const patchWithPassword = (index: number) => ({
  method: 'PATCH',
  path: `/Users/${index}`,
  data: index % 2 === 0 ? BY_PATH : IN_VALUE,
});
const postWithPassword = (index: number) => post(`p${index}`, { PassWord: 'x' });

test.each<[string, object, string]>([
  ['without Operations is refused', {}, 'invalid_syntax'],
  ['with an empty list of Operations is refused', { Operations: [] }, 'invalid_syntax'],
  ['with 1,000 operations is accepted', { Operations: repeat(1000, (i) => post(`${i}`)) }, 'good'],
  ['with 1,001 operations is refused', { operations: repeat(1001, (i) => post(`${i}`)) }, 'too_large'],
  ['with 50 passwords is accepted', { Operations: [post('x'), ...repeat(50, postWithPassword)] }, 'good'],
  ['with 51 passwords is refused', { Operations: repeat(51, postWithPassword) }, 'too_large'],
  ['with 51 passwords in PATCHes is refused', { Operations: repeat(51, patchWithPassword) }, 'too_large'],
  ['with failOnErrors 1 is accepted', { failOnErrors: 1, Operations: [post('x')] }, 'good'],
  ['with failOnErrors 0 is refused', { failOnErrors: 0, Operations: [post('x')] }, 'invalid_value'],
  ['with failOnErrors "1" is refused', { failOnErrors: '1', Operations: [post('x')] }, 'invalid_value'],
])('a Bulk request %s', async (_, body, code) => {
  expect(await codeOf(body)).toBe(code);
});

test('bulkId references are resolved only in values, $ref and paths', async () => {
  const data = {
    displayName: 'bulkId:a',
    VALUE: 'bulkId:a',
    value: ['bulkId:a', 'x bulkId:a', { value: 'bulkId:b' }],
    $ref: 'https://x/Users/bulkId:a',
    members: [{ $ref: 'bulkId:b', display: 'bulkId:b' }, 'bulkId:a'],
    'urn:x:User': { MANAGER: 'bulkId:d', Department: 'bulkId:x' },
    'urn:x:User:manager': 'bulkId:d',
    'urn:x:User:manager.value': ['bulkId:d'],
    'members[value eq "bulkId:e"]': 'bulkId:d',
    'title[x eq "a"].display': 'bulkId:x',
    path: 'members[value eq "bulkId:a" or value EQ  bulkId:b].bulkId:a',
  };
  expect([...findReferences('bulkId:c', data)].toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(resolveReferences(data, (id) => id.toUpperCase())).toEqual({
    displayName: 'bulkId:a',
    VALUE: 'A',
    value: ['A', 'x bulkId:a', { value: 'B' }],
    $ref: 'https://x/Users/A',
    members: [{ $ref: 'B', display: 'bulkId:b' }, 'A'],
    'urn:x:User': { MANAGER: 'D', Department: 'bulkId:x' },
    'urn:x:User:manager': 'D',
    'urn:x:User:manager.value': ['D'],
    'members[value eq "E"]': 'D',
    'title[x eq "a"].display': 'bulkId:x',
    path: 'members[value eq "A" or value EQ  "B"].bulkId:a',
  });
});

test('every ten operations of a PATCH count as one Bulk operation', async () => {
  const steps = (count: number) => Array.from({ length: count }, () => ({ op: 'remove', path: 'title' }));
  const patch = (data: unknown) => ({ method: 'PATCH', path: '/Users/a', data });
  const { operations } = await readPlan(
    post('a'),
    patch(steps(10)),
    patch({ Operations: steps(11) }),
    patch({ operations: steps(1000) }),
    patch({}),
    patch(5),
  );
  expect(operations.map(weightOf)).toEqual([1, 1, 2, 100, 1, 1]);
});
