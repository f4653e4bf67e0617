import { CATALOGUE } from './error-catalogue.js';

export { CATALOGUE };
export type ErrorCode = keyof typeof CATALOGUE;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(CATALOGUE, code);
}

/**
 * A field whose value is already used by another record. `uuid` identifies that record. If it is a user, `username`
 * and `name` are set for callers who may read users.
 */
export interface Conflict {
  field: string;
  uuid: string;
  username?: string;
  name?: string;
}

/** An error from `CATALOGUE`. Clients receive no other errors. */
export class ProblemError extends Error {
  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    readonly extras: { errors?: FieldError[]; conflicts?: Conflict[]; headers?: Record<string, string> } = {},
  ) {
    super(detail);
    this.name = 'ProblemError';
  }

  get status(): number {
    return CATALOGUE[this.code].status;
  }
}

export const MAX_ERRORS = 100;

export function createValidationError(errors: FieldError[]): ProblemError {
  const reported = errors.slice(0, MAX_ERRORS);
  const fields = reported.slice(0, 10).map((error) => `${error.field} ${error.message}`);
  if (errors.length > fields.length) fields.push(`and ${errors.length - fields.length} more`);
  const detail = `Nothing was changed: ${fields.join('; ')}.`;
  return new ProblemError('validation_failed', detail, { errors: reported });
}

const CHALLENGE = { 'WWW-Authenticate': 'ApiKey realm="rollcall", header="X-API-Key"' };

export function createUnauthenticatedError(detail: string): ProblemError {
  return new ProblemError('unauthenticated', detail, { headers: CHALLENGE });
}

export function createKeyReuseError(): ProblemError {
  const message = 'was already used for a different request within the last 24 hours';
  return createValidationError([{ field: 'Idempotency-Key', code: 'invalid_value', message }]);
}

/**
 * Creates the error `unavailable`.
 * @param retryAfter value of the `Retry-After` header, in seconds.
 */
export function createUnavailableError(detail: string, retryAfter = 5): ProblemError {
  return new ProblemError('unavailable', detail, { headers: { 'Retry-After': String(retryAfter) } });
}

/**
 * Codes of field errors in `validation_failed`. If a field breaks several rules, the response contains the code that
 * comes first in this list.
 */
export const FIELD_CODES = [
  'required',
  'blank',
  'unknown_field',
  'invalid_type',
  'too_long',
  'too_short',
  'invisible_character',
  'invalid_format',
  'invalid_value',
  'too_common',
  'unknown_role',
  'exclusive_roles',
  'unknown_reference',
  'self_reference',
  'cycle',
  'uuid_mismatch',
] as const;
export type FieldCode = (typeof FIELD_CODES)[number];

export interface FieldError {
  field: string;
  code: FieldCode;
  message: string;
}

/** Returns the `code` of an error from Node.js or a driver, such as `ENOENT`, or undefined. */
export function errorCodeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns the error to log: the cause of a `ProblemError`, such as a driver's error, or the error itself. */
export function rootErrorOf(error: unknown): unknown {
  return error instanceof ProblemError ? (error.cause ?? error) : error;
}
