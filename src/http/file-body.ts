import type { Request } from 'express';
import { ProblemError } from '../common/errors.js';

/** What a route that takes a file accepts. */
export interface FileRules {
  /** Media type of the file when it is the body itself; it may also come as `multipart/form-data`. */
  type: string;
  maxBytes: number;
}

/** Boundaries and part headers of a multipart body. */
export const MULTIPART_EXTRA = 64 * 1024;

/**
 * The part of a file's rules that its headers tell.
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
