import { ProblemError } from './errors.js';

/** What a log shows of an error: its cause where it wraps one, such as a driver's error. */
export function originOf(error: unknown): unknown {
  return error instanceof ProblemError ? (error.cause ?? error) : error;
}
