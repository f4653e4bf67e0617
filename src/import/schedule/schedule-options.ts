import { parse } from 'node:querystring';
import { RoleCatalogue } from '../../access/roles.js';
import type { Env } from '../../platform/config/env.js';
import { readInput } from '../../platform/input/read-input.js';
import type { JsonObject } from '../../platform/common/json.js';
import { ProblemError } from '../../platform/common/errors.js';
import {
  SUPERVISED,
  type ImportOptions,
  RequestedOptions,
  listSupervisedOptions,
} from '../runs/import-options.js';

/** Returns the options in `IMPORT_OPTIONS` without validation. */
export const getRawOptions = ({ IMPORT_OPTIONS }: Env): JsonObject => ({ ...parse(IMPORT_OPTIONS) });

/**
 * Rejects options of a profile that scheduled imports do not support.
 * @throws ProblemError `invalid_parameter`
 */
export function assertSchedulable(options: ImportOptions): void {
  const bad = listSupervisedOptions(options);
  if (bad.length === 0) return;
  const detail = `The profile sets ${bad.join(', ')}, which schedules do not support. Remove these options from the profile.`;
  throw new ProblemError('invalid_parameter', detail);
}

/**
 * Reads the options in `IMPORT_OPTIONS`, which have the format of the query of `POST /imports`.
 * @throws Error that lists each unknown option and each invalid value.
 */
export function readScheduleOptions(env: Env): ImportOptions {
  const query = getRawOptions(env);
  const { value, errors } = readInput(RequestedOptions, query);
  const roles = new RoleCatalogue(env.EXTRA_ROLES);
  const unknown = value.default_roles?.filter((role) => roles.find(role) === undefined) ?? [];
  const faults = [
    ...errors.map(({ field, message }) => `${field} ${message}`),
    ...unknown.map((role) => `default_roles contains the unknown role "${role}"`),
    ...SUPERVISED.filter((name) => name in query).map((name) => `${name} is not supported in schedules`),
  ];
  if (faults.length > 0) throw new Error(`IMPORT_OPTIONS: ${faults.join('; ')}`);
  return value;
}
