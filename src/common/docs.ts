import { applyDecorators } from '@nestjs/common';
import { ApiCookieAuth, ApiProperty, ApiPropertyOptional, ApiResponse, ApiSecurity } from '@nestjs/swagger';
import { CATALOGUE, type ErrorCode, FIELD_CODES } from './errors.js';

class FieldErrorDto {
  @ApiProperty({ example: 'email' }) field!: string;
  @ApiProperty({ enum: FIELD_CODES, example: 'invalid_format' }) code!: string;
  @ApiProperty({ example: 'must be an e-mail address' }) message!: string;
}

class ConflictDto {
  @ApiProperty({ example: 'username' }) field!: string;
  @ApiProperty({ format: 'uuid' }) uuid!: string;
}

/** Problem details, RFC 9457. */
class ProblemDto {
  @ApiProperty({ format: 'uri-reference', example: '/problems/validation_failed' }) type!: string;
  @ApiProperty({ example: 'One or more fields are not valid' }) title!: string;
  @ApiProperty({ type: 'integer', example: 422 }) status!: number;
  @ApiProperty({ example: 'Nothing was changed: email must be an e-mail address.' }) detail!: string;
  @ApiProperty({ example: '/api/0.3/users' }) instance!: string;
  @ApiProperty({ enum: Object.keys(CATALOGUE), example: 'validation_failed' }) code!: string;
  @ApiProperty({ example: '4f0c1a52-6a2c-4d0c-9a0e-2f6f3f9f1a11' }) request_id!: string;
  @ApiPropertyOptional({ type: [FieldErrorDto], description: 'With 422: every field that is not valid.' })
  errors?: FieldErrorDto[];
  @ApiPropertyOptional({ type: [ConflictDto], description: 'With 409: who holds the value.' })
  conflicts?: ConflictDto[];
}

/** Of an answer that names what it made. */
export const LOCATION = {
  Location: { description: 'Path of the record.', schema: { type: 'string' } },
} as const;

/** Extension of an operation that holds a whole request body, where several media types have a form each. */
export const REQUEST_BODY = 'x-request-body';

/** Codes that the three global guards may answer on any route. */
const SYNTAX: ErrorCode[] = ['invalid_parameter'];
const BODY: ErrorCode[] = [
  'request_timeout',
  'malformed_json',
  'too_large',
  'unsupported_media_type',
  'validation_failed',
];
const ALWAYS: ErrorCode[] = ['rate_limited', 'internal', 'unavailable'];

/** Error answers of a route by their codes; those that every route may give are added. */
export const Problems = (...codes: ErrorCode[]) => {
  const all = [...new Set([...SYNTAX, ...codes, ...ALWAYS])];
  const statuses = [...new Set(all.map((code) => CATALOGUE[code].status))].toSorted((a, b) => a - b);
  return applyDecorators(
    ...statuses.map((status) => {
      const own = all.filter((code) => CATALOGUE[code].status === status);
      return ApiResponse({
        status,
        type: ProblemDto,
        description: own.join(', '),
        example: exampleOf(own[0]),
      });
    }),
  );
};

/** Those of a route that takes a JSON body. */
export const BodyProblems = (...codes: ErrorCode[]) => Problems(...BODY, ...codes);

/** A route that needs credentials. */
export const Secured = () => applyDecorators(ApiSecurity('api_key'), ApiCookieAuth('session'));

/** What an answer with this code looks like. */
function exampleOf(code: ErrorCode = 'internal'): ProblemDto {
  const { title, remedy, status } = CATALOGUE[code];
  return {
    type: `/problems/${code}`,
    title,
    status,
    detail: remedy,
    instance: '/api/0.3/users',
    code,
    request_id: '4f0c1a52-6a2c-4d0c-9a0e-2f6f3f9f1a11',
    ...(status === 422 && {
      errors: [{ field: 'email', code: 'invalid_format', message: 'must be an e-mail address' }],
    }),
    ...(status === 409 && {
      conflicts: [{ field: 'username', uuid: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' }],
    }),
  };
}
