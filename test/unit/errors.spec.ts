import { HttpException } from '@nestjs/common';
import { describe, expect, test } from '@jest/globals';
import {
  CATALOGUE,
  type ErrorCode,
  FIELD_CODES,
  ProblemError,
  unavailable,
  validationFailed,
} from '../../src/common/errors.js';
import { toDatabaseError } from '../../src/database/engine/database-fault.js';
import { toProblem, toProblemError } from '../../src/http/problem.js';

/** The table of the interface: a code never changes its status. */
const STATUS: Record<string, number> = {
  malformed_json: 400,
  malformed_request: 400,
  malformed_uuid: 400,
  invalid_parameter: 400,
  unauthenticated: 401,
  login_failed: 401,
  login_throttled: 429,
  forbidden: 403,
  field_not_permitted: 403,
  cross_site: 403,
  self_block: 403,
  not_found: 404,
  method_not_allowed: 405,
  username_taken: 409,
  email_taken: 409,
  external_id_taken: 409,
  authname_taken: 409,
  last_webmaster: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  validation_failed: 422,
  headers_too_large: 431,
  internal: 500,
  unavailable: 503,
};

test.each(Object.entries(STATUS))('%s answers with %d', (code, status) => {
  expect(CATALOGUE[code as ErrorCode].status).toBe(status);
});

test('every code has its own title and remedy, and a name that fits into a URL', () => {
  const entries = Object.entries(CATALOGUE);
  for (const [code, { title, remedy }] of entries) {
    expect(code).toMatch(/^[a-z_]+$/);
    expect(`${title}${remedy}`).not.toMatch(/[<>]/);
    expect(remedy).toMatch(/\.$/);
  }
  expect(new Set(entries.map(([, { title }]) => title)).size).toBe(entries.length);
});

test('the field codes are those of the interface', () => {
  expect([...FIELD_CODES].sort()).toEqual(
    [
      'required blank too_long too_short invisible_character invalid_format invalid_type invalid_value too_common unknown_field',
      'unknown_role',
      'unknown_reference self_reference cycle exclusive_roles uuid_mismatch',
    ]
      .join(' ')
      .split(' ')
      .sort(),
  );
});

describe('a thrown value', () => {
  const away = Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:3306'), { code: 'ECONNREFUSED' });

  test.each<[string, unknown, ErrorCode]>([
    ['an error of the catalogue stays', new ProblemError('self_block', 'x'), 'self_block'],
    ['a database that is away', toDatabaseError(away), 'unavailable'],
    ['a connection to anything else', away, 'internal'],
    ['a path that nobody serves', new HttpException('Cannot GET /x', 404), 'not_found'],
    ['an unexpected error', new Error('secret'), 'internal'],
    ['no error at all', 'secret', 'internal'],
    ['undefined', undefined, 'internal'],
    ['null', null, 'internal'],
  ])('%s', (_, thrown, code) => {
    expect(toProblemError(thrown).code).toBe(code);
  });

  test.each([
    new Error('secret at 10.1.2.3'),
    away,
    toDatabaseError(away),
    'secret 10.1.2.3',
    { message: 'secret' },
  ])('that is not in the error catalogue reveals nothing (%#)', (thrown) => {
    const problem = JSON.stringify(toProblem(toProblemError(thrown), '/x', 'id'));
    expect(problem).not.toMatch(/secret|10\.1\.2\.3|ECONN/);
  });
});

test('a problem has the members of RFC 9457 and ours, and those of its kind only', () => {
  const problem = toProblem(new ProblemError('not_found', 'There is no such thing.'), '/api/0.3/x', 'id-1');
  expect(problem).toEqual({
    type: '/problems/not_found',
    title: CATALOGUE.not_found.title,
    status: 404,
    detail: 'There is no such thing.',
    instance: '/api/0.3/x',
    code: 'not_found',
    request_id: 'id-1',
  });
});

test('a failed validation names all fields in its detail and in its errors', () => {
  const errors = [
    { field: 'email', code: 'required', message: 'is required' },
    { field: 'x', code: 'unknown_field', message: 'is not a field' },
  ] as const;
  const problem = toProblem(validationFailed([...errors]), '/', 'id');
  expect(problem.errors).toEqual(errors);
  expect(problem.detail).toContain('email is required');
  expect(problem.detail).toContain('x is not a field');
});

test('unavailable says when to try again', () => {
  expect(unavailable('x', 3).extras.headers).toEqual({ 'Retry-After': '3' });
});
