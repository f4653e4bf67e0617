import { originOf } from '../common/errors.js';
import { isObject } from '../common/json.js';

/** What a check found. `say` tells what it means and, unless all is well, what to do. */
export interface Finding {
  level: 'ok' | 'warn' | 'fail';
  what: string;
  say: string;
}

export const ok = (what: string, say: string): Finding[] => [{ level: 'ok', what, say }];
export const warn = (what: string, say: string): Finding[] => [{ level: 'warn', what, say }];
export const fail = (what: string, say: string): Finding[] => [{ level: 'fail', what, say }];

/** The code of an error of the machine or of a driver, which may be a cause: its message may quote settings. */
export function codeOf(error: unknown): string {
  const origin = originOf(error);
  return isObject(origin) && typeof origin['code'] === 'string' ? origin['code'] : 'unknown';
}
