import { describe, expect, test } from '@jest/globals';
import { ProblemError } from '../../src/platform/common/errors.js';
import { readBulk, findReferences, resolveReferences, weightOf } from '../../src/scim/bulk/bulk-plan.js';

const post = (bulkId: string, data: object = {}, path = '/Users') => ({ method: 'POST', path, bulkId, data });
const plan = (...Operations: unknown[]) => readBulk({ Operations });
const manager = (bulkId: string) => ({ manager: { value: `bulkId:${bulkId}` } });
const orderOf = (...Operations: unknown[]) => plan(...Operations).operations.map(({ index }) => index);
/** Of each operation its error, if any. */
const faults = (...Operations: unknown[]) =>
  plan(...Operations).operations.map(({ error }) => error?.code ?? 'good');
const codeOf = (body: object): string => {
  try {
    readBulk(body);
    return 'good';
  } catch (error) {
    return error instanceof ProblemError ? error.code : String(error);
  }
};

describe('operations are done', () => {
  test('in the order sent', () => {
    expect(orderOf(post('a'), post('g', {}, '/Groups'), post('b'))).toEqual([0, 1, 2]);
  });

  test('behind what they refer to, and no earlier than that needs', () => {
    expect(orderOf(post('a', manager('c')), post('b'), post('c'))).toEqual([2, 0, 1]);
    const group = post('g', { members: [{ value: 'bulkId:b' }, { $ref: '../Users/bulkId:a' }] }, '/Groups');
    expect(orderOf(group, post('a'), post('b'))).toEqual([2, 1, 0]);
  });

  test('each once, where they refer to one another in a circle or to themselves', () => {
    expect(orderOf(post('a', manager('b')), post('b', manager('a')), post('c', manager('c')))).toEqual([
      1, 0, 2,
    ]);
  });
});

test.each<[string, unknown, string]>([
  ['a name in another case', { METHOD: 'post', Path: 'users/', BULKID: 'x', Data: {} }, 'good'],
  ['a list of PATCH operations', { method: 'PATCH', path: '/Users/1', data: [] }, 'good'],
  ['DELETE without data', { method: 'DELETE', path: '/Groups/1' }, 'good'],
  ['no bulkId with POST', { method: 'POST', path: '/Users', data: {} }, 'invalid_value'],
  ['an empty bulkId with POST', post(''), 'invalid_value'],
  ['a bulkId that is too long', post('x'.repeat(256)), 'invalid_value'],
  ['GET', { method: 'GET', path: '/Users/1' }, 'invalid_value'],
  ['no method', { path: '/Users/1' }, 'invalid_value'],
  ['POST with an id', post('x', {}, '/Users/1'), 'invalid_value'],
  ['PUT without an id', { method: 'PUT', path: '/Users', data: {} }, 'invalid_value'],
  ['a path with a query', { method: 'DELETE', path: '/Users/1?x=1' }, 'invalid_value'],
  ['another resource', { method: 'DELETE', path: '/Schemas/1' }, 'invalid_value'],
  ['no path', { method: 'DELETE', path: 1 }, 'invalid_value'],
  ['POST without data', { method: 'POST', path: '/Users', bulkId: 'x' }, 'invalid_syntax'],
  ['PUT of a text', { method: 'PUT', path: '/Users/1', data: 'x' }, 'invalid_syntax'],
  ['a version that is no text', { method: 'DELETE', path: '/Users/1', version: 1 }, 'invalid_value'],
  ['no object', null, 'invalid_value'],
])('%s', (_, operation, code) => {
  expect(faults(operation)).toEqual([code]);
});

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const BY_PATH = [{ op: 'add', path: 'urn:x:User:password', value: 'x' }];
const IN_VALUE = [{ op: 'add', value: { password: 'x' } }];
const patchedPassword = (index: number) => ({
  method: 'PATCH',
  path: `/Users/${index}`,
  data: index % 2 === 0 ? BY_PATH : IN_VALUE,
});
const withPassword = (index: number) => post(`p${index}`, { PassWord: 'x' });

test.each<[string, object, string]>([
  ['no Operations', {}, 'invalid_syntax'],
  ['none of them', { Operations: [] }, 'invalid_syntax'],
  ['1,000', { Operations: times(1000, (i) => post(`${i}`)) }, 'good'],
  ['1,001', { operations: times(1001, (i) => post(`${i}`)) }, 'too_large'],
  ['50 passwords', { Operations: [post('x'), ...times(50, withPassword)] }, 'good'],
  ['51 passwords', { Operations: times(51, withPassword) }, 'too_large'],
  ['51 passwords in PATCHes', { Operations: times(51, patchedPassword) }, 'too_large'],
  ['failOnErrors 1', { failOnErrors: 1, Operations: [post('x')] }, 'good'],
  ['failOnErrors 0', { failOnErrors: 0, Operations: [post('x')] }, 'invalid_value'],
  ['failOnErrors "1"', { failOnErrors: '1', Operations: [post('x')] }, 'invalid_value'],
])('a Bulk with %s: %s', (_, body, code) => {
  expect(codeOf(body)).toBe(code);
});

test('bulkId is resolved in value, $ref and the filters of paths, and nowhere else', () => {
  const data = {
    displayName: 'bulkId:a',
    VALUE: 'bulkId:a',
    value: ['bulkId:a', 'x bulkId:a', { value: 'bulkId:b' }],
    $ref: 'https://x/Users/bulkId:a',
    path: 'members[value eq "bulkId:a"].bulkId:a',
    members: [{ $ref: 'bulkId:b', display: 'bulkId:b' }],
  };
  expect([...findReferences('bulkId:c', data)].toSorted()).toEqual(['a', 'b', 'c']);
  expect(resolveReferences(data, (id) => id.toUpperCase())).toEqual({
    displayName: 'bulkId:a',
    VALUE: 'A',
    value: ['A', 'x bulkId:a', { value: 'B' }],
    $ref: 'https://x/Users/A',
    path: 'members[value eq "A"].bulkId:a',
    members: [{ $ref: 'B', display: 'bulkId:b' }],
  });
});

test('a PATCH of many operations takes the place of many in a set, whatever its form', () => {
  const steps = (count: number) => Array.from({ length: count }, () => ({ op: 'remove', path: 'title' }));
  const patch = (data: unknown) => ({ method: 'PATCH', path: '/Users/a', data });
  const { operations } = plan(
    post('a'),
    patch(steps(10)),
    patch({ Operations: steps(11) }),
    patch({ operations: steps(1000) }),
    patch({}),
    patch(5),
  );
  expect(operations.map(weightOf)).toEqual([1, 1, 2, 100, 1, 1]);
});
