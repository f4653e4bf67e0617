import { type Conflict, type FieldError, type ProblemError } from '../../platform/common/errors.js';
import { truncated } from '../../platform/common/text.js';
import type { ErrorForm } from '../../platform/http/error.filter.js';
import { MAX_DETAIL } from '../../platform/http/problem.js';
import { scimTypeOf } from '../protocol/errors.js';
import { ERROR_MESSAGE } from '../protocol/urns.js';
import { SCIM_TYPE } from './scim-answers.js';
import { SCIM_PATH } from './scim-route.js';

const BELOW = new RegExp(`^/${SCIM_PATH}(?:/|$)`, 'i');
const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="rollcall"' };

/** Bad requests to the API are 400 to SCIM, which has no 422. */
const STATUSES: Readonly<Record<number, number>> = { 422: 400 };

/** The error of SCIM (RFC 7644, section 3.12), made of the same errors as those of the API. */
export const SCIM_ERRORS: ErrorForm = {
  type: SCIM_TYPE,
  holds: (path) => BELOW.test(path),
  write: (error) => {
    const status = statusOf(error);
    return { status, body: errorBody(error), ...(status === 401 && { headers: CHALLENGE }) };
  },
};

/** The body of an error, on its own and in the answer to an operation of Bulk. */
export function errorBody(error: ProblemError) {
  const scimType = error.code === 'search_too_broad' ? 'tooMany' : scimTypeOf(error.code);
  return {
    schemas: [ERROR_MESSAGE],
    status: String(statusOf(error)),
    ...(scimType !== undefined && { scimType }),
    detail: truncated(detailOf(error), MAX_DETAIL),
  };
}

function statusOf(error: ProblemError): number {
  if (isOfAnother(error)) return 422; // the draft of Idempotency-Key, as for the API
  if (error.code === 'malformed_uuid') return 404; // an id that is none is nobody's
  return STATUSES[error.status] ?? error.status;
}

/** An Idempotency-Key that came with another request. */
const isOfAnother = ({ extras: { errors } }: ProblemError): boolean =>
  errors?.length === 1 && errors[0]?.field === 'Idempotency-Key';

function detailOf({ detail, extras: { errors, conflicts } }: ProblemError): string {
  if (errors) return errors.map(({ field, message }: FieldError) => `${field} ${message}`).join('; ') + '.';
  const others = [...new Set((conflicts ?? []).map(({ uuid }: Conflict) => uuid))];
  return others.length === 0 ? detail : `${detail} It belongs to ${others.join(', ')}.`;
}
