import type { Request } from 'express';
import { ProblemError } from '../common/errors.js';

/** The files that a route accepts. */
export interface FileRules {
  /** Media type of the file when it is the body itself; it may also come as `multipart/form-data`. */
  type: string;
  maxBytes: number;
}

/** Boundaries and part headers of a multipart body. */
export const MULTIPART_EXTRA = 64 * 1024;

/**
 * Checks the rules of a file against the headers of its request.
 * @throws ProblemError `unsupported_media_type`, `too_large`.
 */
export function assertFile(request: Request, { type, maxBytes }: FileRules): void {
  if (!request.is(type) && !isMultipart(request)) {
    throw new ProblemError('unsupported_media_type', `Send the file as ${type} or multipart/form-data.`);
  }
  const encoding = request.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new ProblemError('unsupported_media_type', 'Send the file as it is, without a Content-Encoding.');
  }
  if (Number(request.get('content-length') ?? 0) > maxBytes + (isMultipart(request) ? MULTIPART_EXTRA : 0)) {
    throw new ProblemError('too_large', `The file has more than ${Math.floor(maxBytes / 1024 / 1024)} MiB.`);
  }
}

export function isMultipart(request: Request): boolean {
  return Boolean(request.is('multipart/form-data'));
}
