import { parse } from 'node:querystring';
import { RoleCatalogue } from '../../access/roles.js';
import type { Env } from '../../platform/config/env.js';
import { readInput } from '../../platform/input/read-input.js';
import type { JsonObject } from '../../platform/common/json.js';
import { ProblemError } from '../../platform/common/errors.js';
import { ImportOptions, RequestedOptions } from '../runs/import-options.js';

/** Options that a schedule may not set, because nobody watches its runs. */
const NEVER = ['allow_privileged', 'dry_run', 'expected_rows'];

/** The options in `IMPORT_OPTIONS` by name, `profile` among them, as they are written. */
export function scheduleQuery({ IMPORT_OPTIONS }: Env): JsonObject {
  return { ...parse(IMPORT_OPTIONS) };
}

/** @throws ProblemError where a profile has brought options that are not for schedules. */
export function assertForSchedule(options: ImportOptions): void {
  const given = new Map<string, unknown>(Object.entries(options));
  const defaults = new Map<string, unknown>(Object.entries(new ImportOptions()));
  const bad = NEVER.filter((name) => given.get(name) !== defaults.get(name));
  if (bad.length === 0) return;
  throw new ProblemError(
    'invalid_parameter',
    `The profile sets ${bad.join(', ')}, which is not for schedules.`,
  );
}

/**
 * The options in `IMPORT_OPTIONS`, written as in the query of `POST /imports`.
 * @throws Error naming each option that is unknown or has a bad value.
 */
export function scheduleOptions(env: Env): ImportOptions {
  const query = scheduleQuery(env);
  const { value, errors } = readInput(RequestedOptions, query);
  const roles = new RoleCatalogue(env.EXTRA_ROLES);
  const unknown = value.default_roles?.filter((role) => roles.find(role) === undefined) ?? [];
  const faults = [
    ...errors.map(({ field, message }) => `${field} ${message}`),
    ...unknown.map((role) => `default_roles names "${role}", which is not a role of this service`),
    ...NEVER.filter((name) => name in query).map((name) => `${name} is not for schedules`),
  ];
  if (faults.length > 0) throw new Error(`IMPORT_OPTIONS: ${faults.join('; ')}`);
  return value;
}
