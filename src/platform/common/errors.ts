import { CATALOGUE } from './error-catalogue.js';
import type { FieldError } from './field-errors.js';
export { errorCode } from './error-code.js';
export { FIELD_CODES, type FieldCode, type FieldError } from './field-errors.js';

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

/** @param retryAfter seconds. */
export function unavailable(detail: string, retryAfter = 5): ProblemError {
  return new ProblemError('unavailable', detail, { headers: { 'Retry-After': String(retryAfter) } });
}
