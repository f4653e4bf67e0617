import { parse } from 'node:querystring';
import { readInput } from '../../input/read-input.js';
import { ImportOptions } from '../runs/import-options.js';

/** What a schedule may not do: nobody looks on. */
const NEVER = ['allow_privileged', 'dry_run', 'expected_rows'];

/**
 * The options in `IMPORT_OPTIONS`, written as in the query of `POST /imports`.
 * @throws Error naming each option that is unknown or has a bad value.
 */
export function scheduleOptions(text: string): ImportOptions {
  const given = { ...parse(text) };
  const { value, errors } = readInput(ImportOptions, given);
  const faults = [
    ...errors.map(({ field, message }) => `${field} ${message}`),
    ...NEVER.filter((name) => name in given).map((name) => `${name} is not for schedules`),
  ];
  if (faults.length > 0) throw new Error(`IMPORT_OPTIONS: ${faults.join('; ')}`);
  return value;
}
