import { Controller, applyDecorators } from '@nestjs/common';
import { ApiBearerAuth, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ByKey } from '../../access/decorators.js';
import type { ProblemError } from '../../platform/common/errors.js';
import { truncated } from '../../platform/common/text.js';
import type { ErrorForm } from '../../platform/http/error.filter.js';
import { MAX_DETAIL } from '../../platform/http/problem.js';
import { scimTypeOf } from '../protocol/errors.js';
import { ERROR_MESSAGE } from '../protocol/urns.js';

/** The path of all routes of SCIM. */
export const SCIM_PATH = 'scim/v2';
export const SCIM_TYPE = 'application/scim+json';

/**
 * Declares a controller of SCIM: an API key as bearer token; `scimAnswers` gives its responses their media type.
 * @param path below `/scim/v2`
 */
export const ScimController = (path = '') =>
  applyDecorators(
    Controller(path === '' ? SCIM_PATH : `${SCIM_PATH}/${path}`),
    ByKey(),
    ApiTags('scim'),
    ApiBearerAuth('scim'),
    ApiSecurity('api_key'),
  );

const BELOW = new RegExp(`^/${SCIM_PATH}(?:[/?]|$)`, 'i');
/** This media type alone, with any parameters and weight. */
const PLAIN_JSON = /^\s*application\/json\s*(;[^,]*)?$/i;

/**
 * Sets the media type of SCIM: `application/scim+json`, or JSON where `Accept` names that alone (RFC 7644, section 3.1). Runs
 * for every request before its route is looked up: an interceptor would cost a short request as much as reading the user.
 */
export function scimAnswers({ url, headers: { accept = '' } }: Request, response: Response): void {
  if (!BELOW.test(url)) return;
  const type = PLAIN_JSON.test(accept) ? 'application/json' : SCIM_TYPE;
  response.setHeader('Content-Type', `${type}; charset=utf-8`);
}

const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="rollcall"' };

/** The error of SCIM (RFC 7644, section 3.12), built from the same errors as those of the API. */
export const SCIM_ERRORS: ErrorForm = {
  type: SCIM_TYPE,
  holds: (path) => BELOW.test(path),
  write: (error) => {
    const status = statusOf(error);
    return { status, body: errorBody(error), ...(status === 401 && { headers: CHALLENGE }) };
  },
};

/** Returns the body of an error, on its own and in the response to an operation of Bulk. */
export function errorBody(error: ProblemError) {
  const scimType = error.code === 'search_too_broad' ? 'tooMany' : scimTypeOf(error.code);
  return {
    schemas: [ERROR_MESSAGE],
    status: String(statusOf(error)),
    ...(scimType !== undefined && { scimType }),
    detail: truncated(detailOf(error), MAX_DETAIL),
  };
}

function statusOf({ code, status, extras: { errors } }: ProblemError): number {
  // An Idempotency-Key that came with another request: its draft has 422, as for the API.
  if (errors?.length === 1 && errors[0]?.field === 'Idempotency-Key') return 422;
  if (code === 'malformed_uuid') return 404; // an id that is no UUID belongs to no resource
  return status === 422 ? 400 : status;
}

function detailOf({ detail, extras: { errors, conflicts = [] } }: ProblemError): string {
  if (errors) return errors.map(({ field, message }) => `${field} ${message}`).join('; ') + '.';
  const others = [...new Set(conflicts.map(({ uuid }) => uuid))];
  return others.length === 0 ? detail : `${detail} It belongs to ${others.join(', ')}.`;
}
