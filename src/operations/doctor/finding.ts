import { errorCodeOf, rootErrorOf } from '../../platform/common/errors.js';

/** Result of a check. */
export interface Finding {
  level: 'ok' | 'warn' | 'fail';
  /** Subject of the check. */
  subject: string;
  /** Finding and, unless the level is `ok`, the remedy. */
  message: string;
}

const createFinding =
  (level: Finding['level']) =>
  (subject: string, message: string): Finding[] => [{ level, subject, message }];
export const ok = createFinding('ok');
export const fail = createFinding('fail');
export const warn = createFinding('warn');

/** Returns the code of an error. Findings contain it rather than the message, which may contain settings. */
export const codeOf = (error: unknown): string => errorCodeOf(rootErrorOf(error)) ?? 'unknown';
