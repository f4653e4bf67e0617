import type { Request } from 'express';
import { ProblemError } from '../common/errors.js';
import { deceptiveIn } from '../common/invisible.js';
import { isCleanText, isWithin, normaliseLine } from '../common/text.js';
import { isSafe } from './methods.js';

/** The header by which a client says why it changes something. */
export const AUDIT_REASON = 'X-Audit-Reason';
export const MAX_REASON = 500;

/**
 * Why a request changes something, for the audit. A header has no letters beyond ASCII: others are percent-encoded as UTF-8.
 * @returns undefined where nothing is said. @throws ProblemError `invalid_parameter`.
 */
export function auditReasonOf(request: Request): string | undefined {
  const sent = request.headers['x-audit-reason'];
  if (typeof sent !== 'string' || isSafe(request)) return undefined;
  return checkedReason(decoded(sent), AUDIT_REASON);
}

/** @param name of the header or option that it comes from. @returns undefined for an empty one. @throws ProblemError `invalid_parameter`. */
export function checkedReason(text: string, name: string): string | undefined {
  const reason = normaliseLine(text);
  if (!isWithin(reason, MAX_REASON) || !isCleanText(reason) || deceptiveIn(reason) !== undefined) {
    throw new ProblemError(
      'invalid_parameter',
      `${name} must have at most ${MAX_REASON} characters, in one line, and none that changes the order of what is read.`,
    );
  }
  return reason === '' ? undefined : reason;
}

function decoded(sent: string): string {
  try {
    return decodeURIComponent(sent);
  } catch {
    throw new ProblemError('invalid_parameter', `${AUDIT_REASON} must be percent-encoded UTF-8.`);
  }
}
