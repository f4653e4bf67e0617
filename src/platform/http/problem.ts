import { HttpException } from '@nestjs/common';
import { CATALOGUE, ProblemError } from '../common/errors.js';
import { truncated } from '../common/text.js';

/** Characters: what quotes a request may not grow with it. */
export const MAX_DETAIL = 2000;

/** The body of an error answer (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  code: string;
  request_id: string;
  errors?: { field: string; code: string; message: string }[];
  conflicts?: { field: string; uuid: string }[];
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

export function toProblem(error: ProblemError, path: string, requestId: string): Problem {
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
