import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { now } from '../../../src/platform/common/time.js';
import { formsOf } from '../support/person.js';
import { FIRST_SERIAL } from '../support/requests.js';
import type { ResponseForm, Param } from '../support/statements.js';

type Value = string | number | null;
export type Row = Record<string, Value>;

/** Fills in the values for the statements of one request. */
export type Fill = (params: readonly Param[]) => Value[];

let serial = FIRST_SERIAL;

/**
 * Creates the function that fills in the values for one request.
 * @param n the number of the user.
 * @param key the API key as sent.
 */
export function createFiller(n: number, key: string): Fill {
  const forms: string[] = [...formsOf(n), String(++serial)];
  const fresh = new Map<string, string>();
  const uuid = (old: string): string => {
    const replacement = fresh.get(old) ?? uuidv7();
    fresh.set(old, replacement);
    return replacement;
  };
  const value = (param: Param): Value => {
    if ('constant' in param) return param.constant;
    if ('text' in param)
      return param.text.map((part) => (typeof part === 'number' ? forms[part] : part)).join('');
    if ('number' in param) return n;
    if ('keyHash' in param) return createHash('sha256').update(key).digest('hex');
    return 'now' in param ? now() : uuid(param.fresh);
  };
  return (params) => params.map(value);
}

/**
 * Builds the response from the results of the SELECTs. The last result has the row or rows, the one before has their
 * number or the counters.
 */
export function buildResponse(form: ResponseForm, found: readonly Row[][]): object {
  const rows = found.at(-1) ?? [];
  if (form === 'row') return rows[0] ?? {};
  const numbers = found.at(-2) ?? [];
  const counters = numbers.filter(
    ({ name }) => name === undefined || name === 'Active' || name === 'Blocked',
  );
  const count = counters.reduce((sum, { n, value }) => sum + Number(n ?? value), 0);
  return { Count: count, Results: rows };
}

export type Done = (error: Error | null, found: Row[][]) => void;

/** Sends all statements of a request, one after the other. */
export type Replay = (fill: Fill, done: Done) => void;
