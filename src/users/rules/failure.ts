import {
  type Conflict,
  type ErrorCode,
  FIELD_CODES,
  type FieldCode,
  type FieldError,
  ProblemError,
  validationFailed,
} from '../../platform/common/errors.js';

/** Codes that only imports show: the API cannot send two changes at once, nor match users by external id. */
type ImportCode = 'duplicate' | 'unlinked_conflict';

/** Why a change fails: one field, one rule, one text, for the API and for a row of a file. */
export interface Failure {
  field: string;
  code: FieldCode | ErrorCode | ImportCode;
  /** What follows the name of the field. */
  message: string;
  /** The other user of a conflict. */
  uuid?: string;
}

/** A user may not block the account that makes the change. */
export const SELF_BLOCK: Failure = {
  field: 'status',
  code: 'self_block',
  message: 'may not be Blocked by the user concerned: nobody may block themselves',
};

export const SELF_DELETION: Failure = {
  field: '',
  code: 'self_block',
  message: 'Nobody may delete themselves',
};

export const STALE: Failure = {
  field: '',
  code: 'precondition_failed',
  message: 'The user has changed since it was read',
};

export const notFound = (uuid: string): Failure => ({
  field: '',
  code: 'not_found',
  message: `There is no user ${uuid}`,
});

export const notDeleted = (uuid: string): Failure => ({
  field: '',
  code: 'not_found',
  message: `There is no deleted user ${uuid}`,
});

export const UNKNOWN_MANAGER: Failure = {
  field: 'manager_uuid',
  code: 'unknown_reference',
  message: 'must be an existing user',
};

export const CIRCLE: Failure = { field: 'manager_uuid', code: 'cycle', message: 'may not be below the user' };

/** @param how the last active Webmaster would cease to be one. */
export const lastWebmaster = (how: 'status' | 'roles' | 'deleted'): Failure =>
  how === 'deleted'
    ? { field: '', code: 'last_webmaster', message: 'The last active Webmaster may not be deleted' }
    : {
        field: how,
        code: 'last_webmaster',
        message: 'may not change: this user is the last active Webmaster',
      };

/** The failures of one change as the error of a request (interface §7). */
export function toProblem(failures: readonly Failure[]): ProblemError {
  const invalid = failures.filter((failure): failure is FieldError => isFieldCode(failure.code));
  if (invalid.length > 0) return validationFailed(invalid);
  const conflicts = failures.flatMap(({ field, uuid }): Conflict[] =>
    uuid === undefined ? [] : [{ field, uuid }],
  );
  const [first] = failures;
  if (!first) throw new Error('a change without failures has no problem');
  const detail = failures.map(({ field, message }) => `${field} ${message}`.trim()).join('; ');
  if (conflicts.length === 0) return new ProblemError(problemCode(first), `${detail}.`);
  return new ProblemError(problemCode(first), `Nothing was changed: ${detail}.`, { conflicts });
}

const TAKEN: Readonly<Record<string, ErrorCode>> = {
  username: 'username_taken',
  email: 'email_taken',
  external_id: 'external_id_taken',
  authname: 'authname_taken',
};

/** Codes of a change that takes a name of another user. */
export const TAKEN_CODES = Object.values(TAKEN);

export const takenCode = (field: string): ErrorCode => TAKEN[field] ?? 'internal';

/** Two changes of a set that take one name, and a user without external id in the way, are conflicts like others to the API. */
function problemCode({ code, field }: Failure): ErrorCode {
  if (code === 'duplicate' || code === 'unlinked_conflict') return takenCode(field);
  return isFieldCode(code) ? 'validation_failed' : code;
}

function isFieldCode(code: Failure['code']): code is FieldCode {
  return FIELD_CODES.some((fieldCode) => fieldCode === code);
}
