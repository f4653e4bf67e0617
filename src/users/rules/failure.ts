import {
  type Conflict,
  type ErrorCode,
  FIELD_CODES,
  type FieldCode,
  type FieldError,
  ProblemError,
  createValidationError,
} from '../../platform/common/errors.js';
import { IDENTIFYING_FIELDS } from '../model/comparison-keys.js';

/** Failure codes that only import reports use. For requests, `toErrorCode` converts them to error codes. */
type ImportCode = 'duplicate' | 'unlinked_conflict' | 'privileged_user';

/** A broken rule, in the same form for API requests and rows of import files. */
export interface Failure {
  field: string;
  code: FieldCode | ErrorCode | ImportCode;
  /** Text that follows the field name, as in `email is required`. */
  message: string;
  uuid?: string;
}

/** Creates a `Failure`, which is also a `FieldError` if the code is a `FieldCode`. */
export function createFailure<C extends Failure['code']>(field: string, code: C, message: string) {
  return { field, code, message };
}

const SELF_BLOCK_MESSAGE = 'cannot be set to Blocked: users cannot block themselves';
export const SELF_BLOCK = createFailure('status', 'self_block', SELF_BLOCK_MESSAGE);

export const SELF_DELETION = createFailure('', 'self_block', 'Users cannot delete themselves');

export const STALE_VERSION: Failure = {
  field: '',
  code: 'precondition_failed',
  message: 'The user has changed since it was read. Read it again and repeat the change',
};

/** The failure of a change that must wait because it depends on an earlier change of its set. Clients never see it. */
export const DEPENDENT_CHANGE: Failure = createFailure('', 'unavailable', 'depends on another change');

export const createNotFoundFailure = (uuid: string, kind: 'user' | 'deleted user' = 'user'): Failure =>
  createFailure('', 'not_found', `There is no ${kind} ${uuid}`);

export const UNKNOWN_MANAGER = createFailure('manager_uuid', 'unknown_reference', 'must be an existing user');

export const MANAGER_CYCLE: Failure = {
  field: 'manager_uuid',
  code: 'cycle',
  message: 'must not report to this user, directly or indirectly',
};

/**
 * Creates the failure of a change that removes the last active Webmaster.
 * @param cause the field that changes, or `deleted` for a deletion.
 */
export const toWebmasterFailure = (cause: 'status' | 'roles' | 'deleted'): Failure =>
  cause === 'deleted'
    ? createFailure('', 'last_webmaster', 'The last active Webmaster cannot be deleted')
    : createFailure(cause, 'last_webmaster', 'cannot change while this user is the last active Webmaster');

/**
 * Converts the failures of one change to a ProblemError (interface §7).
 * @param nameOf returns the name of a field for the client.
 */
export function toFailureProblem(
  failures: readonly Failure[],
  nameOf = (field: string): string => field,
): ProblemError {
  const named = failures.map((failure) => ({ ...failure, field: nameOf(failure.field) }));
  const invalid = named.filter((failure): failure is FieldError => isFieldCode(failure.code));
  if (invalid.length > 0) return createValidationError(invalid);
  const conflicts = named.flatMap(({ field, uuid }): Conflict[] => (uuid ? [{ field, uuid }] : []));
  const [first] = failures;
  if (!first) throw new Error('a problem needs at least one failure');
  const detail = named.map(({ field, message }) => `${field} ${message}`.trim()).join('; ');
  if (conflicts.length === 0) return new ProblemError(toErrorCode(first), `${detail}.`);
  return new ProblemError(toErrorCode(first), `Nothing was changed: ${detail}.`, { conflicts });
}

/** Error codes for identifiers that belong to another user. */
export const TAKEN_CODES = IDENTIFYING_FIELDS.map((field) => `${field}_taken` as const);

function toErrorCode({ code, field }: Failure): ErrorCode {
  if (code === 'duplicate' || code === 'unlinked_conflict')
    return TAKEN_CODES.find((taken) => taken === `${field}_taken`) ?? 'internal';
  if (code === 'privileged_user') return 'insufficient_scope';
  return isFieldCode(code) ? 'validation_failed' : code;
}

function isFieldCode(code: Failure['code']): code is FieldCode {
  return FIELD_CODES.some((fieldCode) => fieldCode === code);
}
