import { applyDecorators } from '@nestjs/common';
import {
  ApiConsumes,
  ApiExtraModels,
  ApiHeader,
  ApiParam,
  ApiProduces,
  ApiProperty,
  ApiPropertyOptional,
  ApiQuery,
  ApiResponse,
} from '@nestjs/swagger';
import {
  CATALOGUE,
  type ErrorCode,
  type FieldError,
  ProblemError,
  validationFailed,
} from '../../platform/common/errors.js';
import { HEADER_BYTES } from '../../platform/http/server.js';
import { CHALLENGE, RETRY_AFTER, Repeatable, narrowed } from '../../platform/openapi/docs.js';
import { MAX_DETAIL } from '../../platform/http/problem.js';
import { scimTypes } from '../protocol/errors.js';
import { MAX_COUNT } from '../protocol/list.js';
import { ERROR_MESSAGE, LIST_MESSAGE, PATCH_MESSAGE, SEARCH_MESSAGE } from '../protocol/urns.js';
import { SCIM_TYPE, errorBody } from './scim-format.js';

/** Parts of the OpenAPI descriptions of all routes of SCIM. */

/** A list of URNs of schemas. */
export const urns = (example: readonly string[]) =>
  ({
    type: 'array',
    items: { type: 'string', maxLength: 255 },
    maxItems: 20,
    example: [...example],
  }) as const;

export class ScimErrorDto {
  @ApiProperty(urns([ERROR_MESSAGE])) schemas!: string[];
  @ApiProperty({ type: String, pattern: '^[45]\\d\\d$', maxLength: 3, example: '400' }) status!: string;
  @ApiPropertyOptional({ enum: scimTypes(), example: 'invalidValue' }) scimType?: string;
  @ApiProperty({ maxLength: MAX_DETAIL, example: 'emails is required.' }) detail!: string;
}

const ALWAYS: ErrorCode[] = [
  'invalid_value',
  'unauthenticated',
  'forbidden',
  'insufficient_scope',
  'network_not_permitted',
  'rate_limited',
  'internal',
  'unavailable',
  'outcome_unknown',
];
const BODY: ErrorCode[] = [
  'request_timeout',
  'malformed_json',
  'too_large',
  'unsupported_media_type',
  'validation_failed',
];

/** An error with this status; its `scimType` is one of those of its codes, where it has one. */
function errorOf(status: number, types: (string | undefined)[]) {
  const named = [...new Set(types.filter((type) => type !== undefined))];
  return narrowed(ScimErrorDto, {
    status: { type: 'string', enum: [String(status)] },
    ...(named.length > 0 && { scimType: { type: 'string', enum: named } }),
  });
}

/** Error answers of a route by their codes, with those that every route may return. */
export const ScimProblems = (...codes: ErrorCode[]) => {
  const all = [...new Set([...codes, ...ALWAYS])];
  const bodyOf = (code: ErrorCode) => errorBody(new ProblemError(code, CATALOGUE[code].remedy));
  const statuses = [...new Set(all.map((code) => Number(bodyOf(code).status)))].toSorted((a, b) => a - b);
  return applyDecorators(
    ApiProduces(SCIM_TYPE),
    ApiExtraModels(ScimErrorDto),
    ...statuses.map((status) => {
      const own = all.filter((code) => bodyOf(code).status === String(status));
      return ApiResponse({
        status,
        schema: errorOf(
          status,
          own.map((code) => bodyOf(code).scimType),
        ),
        description: own.map((code) => bodyOf(code).scimType ?? code).join(', '),
        example: bodyOf(own[0] ?? 'internal'),
        ...(status === 401 && { headers: CHALLENGE }),
        ...((status === 429 || status === 503) && { headers: RETRY_AFTER }),
      });
    }),
  );
};

/** Error answers of a route with a body. */
export const ScimBodyProblems = (...codes: ErrorCode[]) =>
  applyDecorators(ApiConsumes(SCIM_TYPE), ScimProblems(...BODY, ...codes));

const OTHER_REQUEST: FieldError = {
  field: 'Idempotency-Key',
  code: 'invalid_value',
  message: 'was used with another request within 24 hours',
};

const OtherRequest = () =>
  ApiResponse({
    status: 422,
    schema: errorOf(422, ['invalidValue']),
    description: 'The Idempotency-Key came with another request.',
    example: errorBody(validationFailed([OTHER_REQUEST])),
  });

/** As `ScimBodyProblems`, of a route that changes something and has an `Idempotency-Key`. */
export const ScimChangeProblems = (...codes: ErrorCode[]) =>
  applyDecorators(Repeatable(), OtherRequest(), ScimBodyProblems('invalid_parameter', ...codes));

/** As `ScimChangeProblems`, for a route without a body. */
export const ScimDeleteProblems = (...codes: ErrorCode[]) =>
  applyDecorators(
    Repeatable(),
    OtherRequest(),
    ScimProblems('invalid_parameter', 'validation_failed', ...codes),
  );

export const ETAG = {
  ETag: { description: 'The version: `W/"3"`.', schema: { type: 'string', maxLength: 64 } },
} as const;

const TAGS = { type: 'string', maxLength: HEADER_BYTES } as const;

export const ResourceId = () =>
  ApiParam({ name: 'id', format: 'uuid', example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' });

export const IfMatch = () =>
  ApiHeader({
    name: 'If-Match',
    required: false,
    description: 'The version that was read, with or without `W/`; 412 where there is another by now.',
    schema: TAGS,
  });

export const IfNoneMatch = () =>
  ApiHeader({
    name: 'If-None-Match',
    required: false,
    description: 'The version that the client has.',
    schema: TAGS,
  });

const text = (name: string, description: string, maxLength: number, example?: string) =>
  ApiQuery({
    name,
    required: false,
    description,
    schema: { type: 'string', maxLength },
    ...(example !== undefined && { example }),
  });

/** Which attributes an answer has. */
export const ViewQuery = () =>
  applyDecorators(
    text(
      'attributes',
      'Names of attributes, with commas: nothing else is sent but `id` and `schemas`.',
      8192,
    ),
    text(
      'excludedAttributes',
      'Names of attributes that are not sent. Not together with `attributes`.',
      8192,
    ),
  );

const NUMBER = { type: 'integer', minimum: -1e15, maximum: 1e15 } as const;

export const ListQueryDocs = (filter: string) =>
  applyDecorators(
    text('filter', 'RFC 7644, section 3.4.2.2.', 2048, filter),
    text('sortBy', 'An attribute.', 255),
    ApiQuery({ name: 'sortOrder', required: false, enum: ['ascending', 'descending'] }),
    ApiQuery({ name: 'startIndex', required: false, description: 'From 1.', schema: NUMBER }),
    ApiQuery({
      name: 'count',
      required: false,
      description: `At most ${MAX_COUNT}; default 100.`,
      schema: NUMBER,
    }),
    text('cursor', 'RFC 9865: empty begins, then `nextCursor` of the page before.', 16_000),
    ViewQuery(),
  );

/** The envelope of a list; a type of resource adds its `Resources`. */
export class ScimListDto {
  @ApiProperty(urns([LIST_MESSAGE])) schemas!: string[];
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    description: 'All that match; exact, where it is there.',
  })
  totalResults?: number;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 10_000, example: 1 }) itemsPerPage!: number;
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 1 }) startIndex?: number;
  @ApiPropertyOptional({ maxLength: 16_000, description: 'Of a walk by cursor; not on its last page.' })
  nextCursor?: string;
}

/** The body of `.search`. */
export class ScimSearchDto {
  @ApiPropertyOptional(urns([SEARCH_MESSAGE])) schemas?: string[];
  @ApiPropertyOptional({ maxLength: 2048 }) filter?: string;
  @ApiPropertyOptional({ maxLength: 255 }) sortBy?: string;
  @ApiPropertyOptional({ enum: ['ascending', 'descending'] }) sortOrder?: string;
  @ApiPropertyOptional(NUMBER) startIndex?: number;
  @ApiPropertyOptional(NUMBER) count?: number;
  @ApiPropertyOptional({ maxLength: 16_000 }) cursor?: string;
  @ApiPropertyOptional(urns([])) attributes?: string[];
  @ApiPropertyOptional(urns([])) excludedAttributes?: string[];
}

class OperationDto {
  @ApiProperty({ maxLength: 7, example: 'replace', description: 'add, replace or remove, in any case.' })
  op!: string;
  @ApiPropertyOptional({ maxLength: 2048, example: 'emails[type eq "work"].value' }) path?: string;
  @ApiPropertyOptional({
    oneOf: [
      { type: 'string', maxLength: 10_000, nullable: true },
      { type: 'boolean' },
      { type: 'number' },
      { type: 'array', items: { type: 'object' }, maxItems: 100_000 },
      { type: 'object' },
    ],
    example: 'jane.doe@example.org',
  })
  value?: unknown;
}

/** The body of a PATCH. */
export class ScimPatchDto {
  @ApiProperty(urns([PATCH_MESSAGE])) schemas!: string[];
  @ApiProperty({ type: [OperationDto], minItems: 1, maxItems: 1000 }) Operations!: OperationDto[];
}
