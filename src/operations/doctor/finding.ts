import { errorCode, originOf } from '../../platform/common/errors.js';

/** The result of a check. */
export interface Finding {
  level: 'ok' | 'warn' | 'fail';
  /** What was checked. */
  subject: string;
  /** The finding and, unless the level is `ok`, what to do. */
  message: string;
}

const finding =
  (level: Finding['level']) =>
  (subject: string, message: string): Finding[] => [{ level, subject, message }];
export const ok = finding('ok');
export const fail = finding('fail');
export const warn = finding('warn');

/** The code of an error, to be shown instead of its message, which may quote settings. */
export const codeOf = (error: unknown): string => errorCode(originOf(error)) ?? 'unknown';
