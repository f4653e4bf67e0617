import { HttpException } from '@nestjs/common';
import { describe, expect, test } from '@jest/globals';
import {
  CATALOGUE,
  type ErrorCode,
  FIELD_CODES,
  ProblemError,
  createValidationError,
} from '../../src/platform/common/errors.js';
import { toDatabaseError } from '../../src/platform/database/engine/database-error.js';
import { toProblemDto, toProblemError } from '../../src/platform/http/problem.js';

test('every error code has a unique title and a remedy', () => {
  const entries = Object.entries(CATALOGUE);
  for (const [code, { title, remedy }] of entries) {
    expect(code).toMatch(/^[a-z_]+$/);
    expect(`${title}${remedy}`).not.toMatch(/[<>]/);
    expect(remedy).toMatch(/\.$/);
  }
  expect(new Set(entries.map(([, { title }]) => title)).size).toBe(entries.length);
});

test('the error codes of fields match the published interface', () => {
  const ofValues = ['invalid_type', 'invalid_format', 'invalid_value', 'invisible_character', 'too_common'];
  const ofLengths = ['required', 'blank', 'too_long', 'too_short', 'unknown_field', 'uuid_mismatch'];
  const ofOthers = ['unknown_role', 'exclusive_roles', 'unknown_reference', 'self_reference', 'cycle'];
  expect([...FIELD_CODES].sort()).toEqual([...ofValues, ...ofLengths, ...ofOthers].sort());
});

describe('a thrown value', () => {
  const away = Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:3306'), { code: 'ECONNREFUSED' });

  test.each<[string, unknown, ErrorCode]>([
    ['an error of the catalogue', new ProblemError('self_block', 'x'), 'self_block'],
    ['an unreachable database', toDatabaseError(away), 'unavailable'],
    ['a refused connection to another server', away, 'internal'],
    ['an unknown path', new HttpException('Cannot GET /x', 404), 'not_found'],
    ['an unexpected error', new Error('secret'), 'internal'],
    ['a string', 'secret', 'internal'],
    ['the value undefined', undefined, 'internal'],
    ['the value null', null, 'internal'],
  ])('is converted to a catalogue error: %s', (_, thrown, code) => {
    expect(toProblemError(thrown).code).toBe(code);
  });

  test.each<[string, unknown]>([
    ['an error', new Error('secret at 10.1.2.3')],
    ['an error with a code', away],
    ['a database error', toDatabaseError(away)],
    ['a text', 'secret 10.1.2.3'],
    ['an object with a message', { message: 'secret' }],
  ])('reveals no internal details in the response: %s', (_, thrown) => {
    const problem = JSON.stringify(toProblemDto(toProblemError(thrown), '/x', 'id'));
    expect(problem).not.toMatch(/secret|10\.1\.2\.3|ECONN/);
  });
});

test('a validation error names every invalid field', () => {
  const errors = [
    { field: 'email', code: 'required', message: 'is required' },
    { field: 'x', code: 'unknown_field', message: 'is not a field' },
  ] as const;
  const problem = toProblemDto(createValidationError([...errors]), '/', 'id');
  expect(problem.errors).toEqual(errors);
  expect(problem.detail).toContain('email is required');
  expect(problem.detail).toContain('x is not a field');
});
