import { CATALOGUE } from './error-catalogue.js';

export { CATALOGUE };
export type ErrorCode = keyof typeof CATALOGUE;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(CATALOGUE, code);
}

/** Another record holds the value; its `uuid` lets a connector reconcile without a search. */
export interface Conflict {
  field: string;
  uuid: string;
}

interface ProblemExtras {
  errors?: FieldError[];
  conflicts?: Conflict[];
  headers?: Record<string, string>;
}

/** An error of the catalogue, the only kind that clients see. */
export class ProblemError extends Error {
  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    readonly extras: ProblemExtras = {},
  ) {
    super(detail);
    this.name = 'ProblemError';
  }

  get status(): number {
    return CATALOGUE[this.code].status;
  }
}

/** Field errors per answer, so that it stays small whatever was sent. */
export const MAX_ERRORS = 100;

export function validationFailed(errors: FieldError[]): ProblemError {
  const reported = errors.slice(0, MAX_ERRORS);
  const fields = reported.slice(0, 10).map((error) => `${error.field} ${error.message}`);
  if (errors.length > fields.length) fields.push(`and ${errors.length - fields.length} more`);
  return new ProblemError('validation_failed', `Nothing was changed: ${fields.join('; ')}.`, {
    errors: reported,
  });
}

const CHALLENGE = { 'WWW-Authenticate': 'ApiKey realm="rollcall", header="X-API-Key"' };

export function unauthenticated(detail: string): ProblemError {
  return new ProblemError('unauthenticated', detail, { headers: CHALLENGE });
}

/** The error of an `Idempotency-Key` that came with another request. */
export function keyOfOtherRequest(): ProblemError {
  const message = 'was used with another request within 24 hours';
  return validationFailed([{ field: 'Idempotency-Key', code: 'invalid_value', message }]);
}

/** @param retryAfter seconds. */
export function unavailable(detail: string, retryAfter = 5): ProblemError {
  return new ProblemError('unavailable', detail, { headers: { 'Retry-After': String(retryAfter) } });
}

/** Codes of single fields inside `validation_failed`. Of several broken rules, the first in this order is reported. */
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

/** The code of an error of Node.js or of a driver, such as `ENOENT`; undefined when it has none. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** What a log shows of an error: its cause where it wraps one, such as a driver's error. */
export function originOf(error: unknown): unknown {
  return error instanceof ProblemError ? (error.cause ?? error) : error;
}
