import { Controller, applyDecorators } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiConsumes,
  ApiProduces,
  ApiProperty,
  ApiPropertyOptional,
  ApiResponse,
  ApiSecurity,
} from '@nestjs/swagger';
import { ByKey, Requires } from '../../access/decorators.js';
import type { Permission } from '../../access/policy.js';
import { CATALOGUE, ProblemError, createKeyReuseError } from '../../platform/common/errors.js';
import { truncate } from '../../platform/common/text.js';
import type { BodyRules } from '../../platform/http/body-reader.js';
import type { ErrorFormat } from '../../platform/http/error.filter.js';
import { Accepts } from '../../platform/http/input.guard.js';
import { MAX_DETAIL } from '../../platform/http/problem.js';
import { describeTexts } from '../../platform/openapi/shared-schemas.js';
import {
  COMMON_ERRORS,
  type Conventions,
  restrictSchema,
  DescribeRoutes,
} from '../../platform/openapi/route-docs.js';
import { scimTypeOf, listScimTypes } from '../protocol/errors.js';
import { ERROR_MESSAGE } from '../protocol/urns.js';

export const SCIM_PATH = 'scim/v2';
/**
 * The media type of requests and responses, unless a client accepts only `application/json` (RFC 7644, section 3.1).
 */
const SCIM_TYPE = 'application/scim+json';

const SCIM_URL = new RegExp(`^/${SCIM_PATH}(?:[/?]|$)`, 'i');

const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="rollcall"' };

/** Formats errors as SCIM requires (RFC 7644, section 3.12), with the error classes and codes of the API. */
export const SCIM_ERRORS: ErrorFormat = {
  mediaType: SCIM_TYPE,
  appliesTo: (path) => SCIM_URL.test(path),
  toResponse: (error) => {
    const status = statusOf(error);
    return { status, body: toErrorBody(error), ...(status === 401 && { headers: CHALLENGE }) };
  },
};

export const describeUrns = (example: readonly string[]) => ({
  ...describeTexts(255, 20),
  example: [...example],
});

/** The body of an error response, and the error of a failed operation in a Bulk response. */
export class ScimErrorDto {
  @ApiProperty(describeUrns([ERROR_MESSAGE])) schemas!: string[];
  @ApiProperty({ type: String, pattern: '^[45]\\d\\d$', maxLength: 3, example: '400' }) status!: string;
  @ApiPropertyOptional({ enum: listScimTypes(), example: 'invalidValue' }) scimType?: string;
  @ApiProperty({ maxLength: MAX_DETAIL, example: 'emails is required.' }) detail!: string;
}

export function toErrorBody(error: ProblemError): ScimErrorDto {
  const scimType = scimTypeOf(error.code);
  return {
    schemas: [ERROR_MESSAGE],
    status: String(statusOf(error)),
    ...(scimType !== undefined && { scimType }),
    detail: truncate(detailOf(error), MAX_DETAIL),
  };
}

function statusOf({ code, status, extras: { errors } }: ProblemError): number {
  // The Internet draft for this header requires 422 if the `Idempotency-Key` belongs to a different request.
  if (errors?.length === 1 && errors[0]?.field === 'Idempotency-Key') return 422;
  if (code === 'malformed_uuid') return 404; // a text that is not a UUID cannot be the id of a resource
  return status === 422 ? 400 : status;
}

function detailOf({ detail, extras: { errors, conflicts = [] } }: ProblemError): string {
  if (errors) return errors.map(({ field, message }) => `${field} ${message}`).join('; ') + '.';
  const others = [...new Set(conflicts.map(({ uuid }) => uuid))];
  return others.length === 0 ? detail : `${detail} It belongs to ${others.join(', ')}.`;
}

const OTHER_REQUEST = ApiResponse({
  status: 422,
  schema: restrictSchema(ScimErrorDto, { status: ['422'], scimType: ['invalidValue'] }),
  description: 'The Idempotency-Key was already used for a different request.',
  example: toErrorBody(createKeyReuseError()),
});

const CONVENTIONS: Conventions = {
  getSecurity: () => [ApiBearerAuth('scim'), ApiSecurity('api_key')],
  lastErrors: ['invalid_value', ...COMMON_ERRORS],
  changeResponses: [OTHER_REQUEST],
  error: ScimErrorDto,
  mediaType: SCIM_TYPE,
  buildExample: (code) => toErrorBody(new ProblemError(code, CATALOGUE[code].remedy)),
  restrictedMembers: ['status', 'scimType'],
};

/**
 * Declares a SCIM controller, whose routes require an API key, usually as bearer token.
 * @param path path below `/scim/v2`
 */
export const ScimController = (path = '') =>
  applyDecorators(
    Controller(path === '' ? SCIM_PATH : `${SCIM_PATH}/${path}`),
    ByKey(),
    ApiConsumes(SCIM_TYPE),
    ApiProduces(SCIM_TYPE),
    DescribeRoutes('scim', CONVENTIONS),
  );

/** Declares the permission of a SCIM route, which accepts any query parameters and responds with the SCIM media type. */
export const RequiresScim = (permission: Permission, body?: Partial<BodyRules>) =>
  applyDecorators(
    Requires(permission),
    Accepts({ anyQuery: true, responseType: SCIM_TYPE, ...(body && { body }) }),
  );
