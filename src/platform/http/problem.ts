import { HttpException } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { CATALOGUE, FIELD_CODES, MAX_ERRORS, ProblemError } from '../common/errors.js';
import { truncated } from '../common/text.js';
import { HEADER_BYTES } from './server.js';

/** Characters: what quotes a request may not grow with it. */
export const MAX_DETAIL = 2000;

/** The headers hold the path. */
const MAX_TARGET = HEADER_BYTES;
/** Username and e-mail conflict with either of another user's; and there are up to 160 names of login methods. */
const MAX_CONFLICTS = 200;
/** `X-Request-Id` as it is accepted, or a generated UUID. */
export const REQUEST_ID = { maxLength: 64, pattern: '^[A-Za-z0-9._-]{1,64}$' } as const;

class FieldErrorDto {
  @ApiProperty({ maxLength: 100, example: 'email' }) field!: string;
  @ApiProperty({ enum: FIELD_CODES, example: 'invalid_format' }) code!: string;
  @ApiProperty({ maxLength: 500, example: 'must be an e-mail address' }) message!: string;
}

class ConflictDto {
  @ApiProperty({ enum: ['username', 'email', 'external_id', 'authname'], example: 'username' })
  field!: string;
  @ApiProperty({ format: 'uuid' }) uuid!: string;
}

/** The body of an error answer: problem details, RFC 9457. */
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
    description: 'With 422: every field that is not valid.',
  })
  errors?: FieldErrorDto[];
  @ApiPropertyOptional({
    type: [ConflictDto],
    maxItems: MAX_CONFLICTS,
    description: 'With 409: the users that have the value.',
  })
  conflicts?: ConflictDto[];
}

/** Any thrown value as an error of the catalogue; any other is `internal` and shows nothing of itself. */
export function toProblemError(thrown: unknown): ProblemError {
  if (thrown instanceof ProblemError) return thrown;
  const status = thrown instanceof HttpException ? thrown.getStatus() : undefined;
  if (status === 404) {
    return new ProblemError('not_found', 'There is nothing at this path.');
  }
  // The router's answer to a path parameter with a broken percent-encoding.
  if (status === 400) {
    return new ProblemError('malformed_uuid', 'The path holds a malformed percent-encoding.');
  }
  return new ProblemError('internal', 'The service failed to answer.');
}

export function toProblem(error: ProblemError, path: string, requestId: string): ProblemDto {
  return {
    type: `/problems/${error.code}`,
    title: CATALOGUE[error.code].title,
    status: error.status,
    detail: truncated(error.detail, MAX_DETAIL),
    instance: path,
    code: error.code,
    request_id: requestId,
    ...(error.extras.errors && { errors: error.extras.errors }),
    ...(error.extras.conflicts && { conflicts: error.extras.conflicts }),
  };
}
