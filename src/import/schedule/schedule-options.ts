import { parse } from 'node:querystring';
import { RoleCatalogue } from '../../access/roles.js';
import type { Env } from '../../config/env.js';
import { readInput } from '../../input/read-input.js';
import { ImportOptions } from '../runs/import-options.js';

/** Options that a schedule may not set, because nobody watches its runs. */
const NEVER = ['allow_privileged', 'dry_run', 'expected_rows'];

/**
 * The options in `IMPORT_OPTIONS`, written as in the query of `POST /imports`.
 * @throws Error naming each option that is unknown or has a bad value.
 */
export function scheduleOptions({ IMPORT_OPTIONS, EXTRA_ROLES }: Env): ImportOptions {
  const query = { ...parse(IMPORT_OPTIONS) };
  const { value, errors } = readInput(ImportOptions, query);
  const roles = new RoleCatalogue(EXTRA_ROLES);
  const unknown = value.default_roles?.filter((role) => roles.find(role) === undefined) ?? [];
  const faults = [
    ...errors.map(({ field, message }) => `${field} ${message}`),
    ...unknown.map((role) => `default_roles names "${role}", which is not a role of this service`),
    ...NEVER.filter((name) => name in query).map((name) => `${name} is not for schedules`),
  ];
  if (faults.length > 0) throw new Error(`IMPORT_OPTIONS: ${faults.join('; ')}`);
  return value;
}
