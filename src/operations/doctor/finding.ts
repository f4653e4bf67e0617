import { errorCodeOf, rootErrorOf } from '../../platform/common/errors.js';

/** Result of a check by `rollcall doctor`. */
export interface Finding {
  level: 'ok' | 'warn' | 'fail';
  subject: string;
  /** Text of the finding. Also contains the remedy, unless the level is `ok`. */
  message: string;
}

const createFindingFactory =
  (level: Finding['level']) =>
  (subject: string, message: string): Finding[] => [{ level, subject, message }];
export const ok = createFindingFactory('ok');
export const fail = createFindingFactory('fail');
export const warn = createFindingFactory('warn');

/** Returns the code of an error, for use in a finding. Omits the error's message, because it may contain settings. */
export const codeOf = (error: unknown): string => errorCodeOf(rootErrorOf(error)) ?? 'unknown';
