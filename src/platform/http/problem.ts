import { HttpException } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { CATALOGUE, FIELD_CODES, MAX_ERRORS, ProblemError } from '../common/errors.js';
import { truncate } from '../common/text.js';
import type { Log } from '../telemetry/log.js';
import { HEADER_BYTES } from './server.js';

/** Maximum length of an error detail, which may quote the request. */
export const MAX_DETAIL = 2000;

/** Maximum length of the request path in an error response. A path cannot be longer than the request headers. */
const MAX_TARGET = HEADER_BYTES;
/** Maximum number of conflicts in one error. A user can have 160 logins in authnames, and several other identifiers. */
const MAX_CONFLICTS = 200;
/** Schema of a request id: an accepted `X-Request-Id` or a generated UUID. */
export const REQUEST_ID = { maxLength: 64, pattern: '^[A-Za-z0-9._-]{1,64}$' } as const;

class FieldErrorDto {
  @ApiProperty({ maxLength: 100, example: 'email' }) field!: string;
  @ApiProperty({ enum: FIELD_CODES, example: 'invalid_format' }) code!: string;
  @ApiProperty({ maxLength: 500, example: 'must be an e-mail address' }) message!: string;
}

const NAMED = 'Only sent to callers who may read users.';

class ConflictDto {
  @ApiProperty({ enum: ['username', 'email', 'external_id', 'authname'], example: 'username' })
  field!: string;
  @ApiProperty({ format: 'uuid' }) uuid!: string;
  @ApiPropertyOptional({ maxLength: 254, example: 'jane.doe', description: NAMED }) username?: string;
  @ApiPropertyOptional({ maxLength: 511, example: 'Jane Doe', description: NAMED }) name?: string;
}

/** The body of an error response: problem details (RFC 9457). */
export class ProblemDto {
  @ApiProperty({ format: 'uri-reference', maxLength: 64, example: '/problems/validation_failed' })
  type!: string;
  @ApiProperty({ maxLength: 100, example: 'One or more fields are not valid' }) title!: string;
  @ApiProperty({ type: 'integer', format: 'int32', minimum: 400, maximum: 599, example: 422 })
  status!: number;
  @ApiProperty({ maxLength: MAX_DETAIL, example: 'Nothing was changed: email must be an e-mail address.' })
  detail!: string;
  @ApiProperty({ maxLength: MAX_TARGET, example: '/api/0.3/users', description: 'Path of the request.' })
  instance!: string;
  @ApiProperty({ enum: Object.keys(CATALOGUE), example: 'validation_failed' }) code!: string;
  @ApiProperty({ ...REQUEST_ID, example: '4f0c1a52-6a2c-4d0c-9a0e-2f6f3f9f1a11' }) request_id!: string;
  @ApiPropertyOptional({
    type: [FieldErrorDto],
    maxItems: MAX_ERRORS,
    description: 'Only with status 422: the invalid fields.',
  })
  errors?: FieldErrorDto[];
  @ApiPropertyOptional({
    type: [ConflictDto],
    maxItems: MAX_CONFLICTS,
    description: 'Only with status 409: the users who already have the value.',
  })
  conflicts?: ConflictDto[];
}

/** Converts a thrown value to an error of the catalogue. An unknown error becomes `internal` without its details. */
export function toProblemError(thrown: unknown): ProblemError {
  if (thrown instanceof ProblemError) return thrown;
  const status = thrown instanceof HttpException ? thrown.getStatus() : undefined;
  if (status === 404) return new ProblemError('not_found', 'This path does not exist. Check the URL.');
  // The router rejects malformed percent-encoding in a path parameter with 400.
  if (status === 400)
    return new ProblemError('malformed_uuid', 'The path has malformed percent-encoding. Encode it as UTF-8.');
  return new ProblemError('internal', 'The request failed. Report the request id to the operator.');
}

/** Creates a handler that logs the errors of a background job as faults. */
export const createFaultLogger =
  (log: Log, requestId: string) =>
  (error: unknown): void => {
    log.logFault(requestId, toProblemError(error).code, error);
  };

export function toProblemDto(error: ProblemError, path: string, requestId: string): ProblemDto {
  return {
    type: `/problems/${error.code}`,
    title: CATALOGUE[error.code].title,
    status: error.status,
    detail: truncate(error.detail, MAX_DETAIL),
    instance: path,
    code: error.code,
    request_id: requestId,
    ...(error.extras.errors && { errors: error.extras.errors }),
    ...(error.extras.conflicts && { conflicts: error.extras.conflicts }),
  };
}
