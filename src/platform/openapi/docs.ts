import { applyDecorators } from '@nestjs/common';
import {
  ApiCookieAuth,
  ApiExtraModels,
  ApiHeader,
  ApiProperty,
  ApiPropertyOptional,
  ApiResponse,
  ApiSecurity,
  getSchemaPath,
} from '@nestjs/swagger';
import { CATALOGUE, type ErrorCode, FIELD_CODES, MAX_ERRORS } from '../common/errors.js';
import { AUDIT_REASON, MAX_REASON } from '../http/request-headers.js';
import { HEADER_BYTES } from '../http/server.js';
import { MAX_DETAIL } from '../http/problem.js';

/** The headers hold the path. */
const MAX_TARGET = HEADER_BYTES;
/** Username and e-mail conflict with either of another user's; and there are up to 160 names of login methods. */
const MAX_CONFLICTS = 200;
/** `X-Request-Id` as it is accepted, or a generated UUID. */
export const REQUEST_ID = { maxLength: 64, pattern: '^[A-Za-z0-9._-]{1,64}$' } as const;

const CONFLICT_FIELDS = ['username', 'email', 'external_id', 'authname'];

class FieldErrorDto {
  @ApiProperty({ maxLength: 100, example: 'email' }) field!: string;
  @ApiProperty({ enum: FIELD_CODES, example: 'invalid_format' }) code!: string;
  @ApiProperty({ maxLength: 500, example: 'must be an e-mail address' }) message!: string;
}

class ConflictDto {
  @ApiProperty({ enum: CONFLICT_FIELDS, example: 'username' }) field!: string;
  @ApiProperty({ format: 'uuid' }) uuid!: string;
}

/** Problem details, RFC 9457. */
class ProblemDto {
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

/** Header of an answer that has created a record. */
export const LOCATION = {
  Location: { description: 'Path of the record.', schema: { type: 'string', maxLength: 255 } },
} as const;

/** Header of a list that is walked by its links. */
export const NEXT = {
  Link: {
    description: '`rel="next"`: the next page.',
    schema: { type: 'string', maxLength: MAX_TARGET },
  },
} as const;

/** Text that is sent while it is generated: its length is unknown. */
export const STREAM = { type: 'string' } as const;

/** Headers of every answer but those of a fault. */
export const QUOTA = {
  RateLimit: {
    description:
      'Requests that are left, and the seconds until all are back; where RATE_LIMIT_PER_MINUTE is set.',
    schema: { type: 'string', maxLength: 100, pattern: '^"default";r=\\d+;t=\\d+$' },
  },
  'RateLimit-Policy': {
    description: 'Requests in a window of seconds; where RATE_LIMIT_PER_MINUTE is set.',
    schema: { type: 'string', maxLength: 100, pattern: '^"default";q=\\d+;w=\\d+$' },
  },
} as const;

/** An answer that names a record leads to the operation that reads it. @param parameter of that operation, and its value. */
export const linkTo = (operationId: string, parameter: string, value: string, description?: string) => ({
  [operationId]: { operationId, parameters: { [parameter]: value }, ...(description && { description }) },
});

/** The value of a field, old or new. Written out, because an empty schema gives a generator no type. */
export const ETAG = {
  ETag: { description: 'For If-None-Match and If-Match.', schema: { type: 'string', maxLength: 64 } },
} as const;
/** One tag or several; limited by the headers of a request. */
export const TAGS = { type: 'string', maxLength: 16_384 } as const;

export const FIELD_VALUE = {
  oneOf: [
    { type: 'string', maxLength: 10_000, nullable: true },
    { type: 'boolean' },
    { type: 'number' },
    // Roles, or the elements of an attribute such as addresses.
    {
      type: 'array',
      items: { oneOf: [{ type: 'string', maxLength: 10_000 }, { type: 'object' }] },
      maxItems: 1000,
    },
    { type: 'object' },
  ],
  example: '+44 20 7946 0958',
};

export const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds to wait.',
    schema: { type: 'integer', minimum: 1, maximum: 3600 },
  },
} as const;
export const CHALLENGE = {
  'WWW-Authenticate': {
    description: 'The header that is required.',
    schema: { type: 'string', maxLength: 255 },
  },
} as const;

/** Extension of an operation that holds a whole request body with several media types. */
export const REQUEST_BODY = 'x-request-body';

/** Codes that the global guards may return on any route. */
const SYNTAX: ErrorCode[] = ['invalid_parameter'];
const BODY: ErrorCode[] = [
  'request_timeout',
  'malformed_json',
  'too_large',
  'unsupported_media_type',
  'validation_failed',
];
/** Of every route with credentials: what an API key may be limited to. */
const OF_KEYS: ErrorCode[] = ['insufficient_scope', 'network_not_permitted'];
const ALWAYS: ErrorCode[] = ['rate_limited', 'internal', 'unavailable', 'outcome_unknown'];

/** A schema whose members have fewer values in this place. */
export const narrowed = (
  type: new () => object,
  members: Record<string, { type: string; enum: string[] }>,
) => ({
  allOf: [{ $ref: getSchemaPath(type) }, { type: 'object', properties: members }],
});

/** Error answers of a route by their codes, with those that every route may return. */
export const Problems = (...codes: ErrorCode[]) => {
  const all = [
    ...new Set([...SYNTAX, ...codes, ...(codes.includes('unauthenticated') ? OF_KEYS : []), ...ALWAYS]),
  ];
  const statuses = [...new Set(all.map((code) => CATALOGUE[code].status))].toSorted((a, b) => a - b);
  return applyDecorators(
    ApiExtraModels(ProblemDto),
    ...statuses.map((status) => {
      const own = all.filter((code) => CATALOGUE[code].status === status);
      return ApiResponse({
        status,
        schema: narrowed(ProblemDto, { code: { type: 'string', enum: own } }),
        description: own.join(', '),
        example: exampleOf(own[0]),
        ...(own.includes('unauthenticated') && { headers: CHALLENGE }),
        ...((status === 429 || status === 503) && { headers: RETRY_AFTER }),
      });
    }),
  );
};

/** Error answers of a route with a JSON body. */
export const BodyProblems = (...codes: ErrorCode[]) => Problems(...BODY, ...codes);

/** Characters of one that is percent-encoded as UTF-8. */
const MAX_ENCODED = 12;

/** The header of a request that may be sent again. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** A route that changes something: with a key it takes effect once, and a repetition gets the first answer. The audit keeps its reason. */
export const Repeatable = () =>
  applyDecorators(
    ApiHeader({
      name: IDEMPOTENCY_KEY,
      required: false,
      description:
        'Random, 1 to 255 printable ASCII characters. Sent again within 24 hours, the request gets its first answer.',
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]{1,255}$' },
    }),
    ApiHeader({
      name: AUDIT_REASON,
      required: false,
      description: `Why, for the audit: at most ${MAX_REASON} characters, percent-encoded as UTF-8.`,
      schema: { type: 'string', maxLength: MAX_REASON * MAX_ENCODED, pattern: '^[ -~]*$' },
    }),
  );

const OF_A_CHANGE: ErrorCode[] = ['unauthenticated', 'forbidden', 'cross_site', 'validation_failed'];

/** Error answers of a route that changes something, and its `Idempotency-Key`. */
export const ChangeProblems = (...codes: ErrorCode[]) =>
  applyDecorators(Repeatable(), Problems(...OF_A_CHANGE, ...codes));

/** As `ChangeProblems`, for a route with a JSON body. */
export const ChangeBodyProblems = (...codes: ErrorCode[]) =>
  applyDecorators(Repeatable(), BodyProblems(...OF_A_CHANGE, ...codes));

/** A route without credentials, which OpenAPI must state explicitly. */
export const Open = () => ApiSecurity({});

/** A route that needs credentials. */
export const Secured = () => applyDecorators(ApiSecurity('api_key'), ApiCookieAuth('session'));

/** Example of an answer with this code. */
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
