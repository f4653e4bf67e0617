import type { Env } from '../../platform/config/env.js';
import type { FieldError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import { nearest } from '../../platform/common/nearest.js';

/** A number of a limit: the setting that holds it, and the bounds that settings and profiles share. */
interface Bounded {
  setting: keyof { [K in keyof Env as Env[K] extends number ? K : never]: K };
  least: number;
  most: number;
}

const rows = (setting: Bounded['setting']): Bounded => ({ setting, least: 0, most: 1_000_000 });
const percent = (setting: Bounded['setting']): Bounded => ({ setting, least: 0, most: 100 });

/**
 * The limits of all guards, by the names that they have in a profile. Each number is the greatest that passes, but for
 * `shrunken_file`: the least share, in percent. Where a guard has `rows` and `percent`, the greater one counts, and never
 * more than `total`.
 */
const GUARD_LIMITS = {
  deactivations: {
    rows: rows('IMPORT_MAX_DEACTIVATIONS'),
    percent: percent('IMPORT_MAX_DEACTIVATIONS_PERCENT'),
    total: rows('IMPORT_MAX_DEACTIVATIONS_TOTAL'),
  },
  reactivations: {
    rows: rows('IMPORT_MAX_REACTIVATIONS'),
    percent: percent('IMPORT_MAX_REACTIVATIONS_PERCENT'),
    total: rows('IMPORT_MAX_REACTIVATIONS_TOTAL'),
  },
  /** How many times the limit of one run the runs of seven days may reach together. */
  week: { factor: { setting: 'IMPORT_WEEK_FACTOR', least: 1, most: 100 } },
  changed_field: { rows: rows('IMPORT_MAX_CHANGED'), percent: percent('IMPORT_MAX_CHANGED_PERCENT') },
  /** For the fields by which people log in and get rights. */
  changed_logins: {
    rows: rows('IMPORT_MAX_CHANGED_LOGINS'),
    percent: percent('IMPORT_MAX_CHANGED_LOGINS_PERCENT'),
  },
  emptied_field: { rows: rows('IMPORT_MAX_EMPTIED'), percent: percent('IMPORT_MAX_EMPTIED_PERCENT') },
  moved_values: { rows: rows('IMPORT_MAX_MOVED'), percent: percent('IMPORT_MAX_MOVED_PERCENT') },
  same_value: { rows: rows('IMPORT_MAX_SAME'), percent: percent('IMPORT_MAX_SAME_PERCENT') },
  garbled_text: { rows: rows('IMPORT_MAX_GARBLED'), percent: percent('IMPORT_MAX_GARBLED_PERCENT') },
  changed_keys: { rows: rows('IMPORT_MAX_NEW_KEYS'), percent: percent('IMPORT_MAX_NEW_KEYS_PERCENT') },
  shrunken_file: { percent: percent('IMPORT_MIN_SIZE_PERCENT') },
  /** For a file that was imported before, and another one since. */
  same_file: { rows: rows('IMPORT_MAX_OLD_FILE') },
  old_file: { rows: rows('IMPORT_MAX_UNDONE'), percent: percent('IMPORT_MAX_UNDONE_PERCENT') },
  foreign_dataset: { rows: rows('IMPORT_MAX_FOREIGN'), percent: percent('IMPORT_MAX_FOREIGN_PERCENT') },
  errors: { rows: rows('IMPORT_MAX_ERRORS'), percent: percent('IMPORT_MAX_ERRORS_PERCENT') },
  after_revert: { rows: rows('IMPORT_MAX_REPEATED') },
  /** With fewer `users` in scope, the `rows` of some guards are no more than these. */
  small_dataset: {
    users: rows('IMPORT_SMALL_DATASET'),
    rows: { setting: 'IMPORT_SMALL_DATASET_ROWS', least: 1, most: 1000 },
  },
} as const satisfies Record<string, Record<string, Bounded>>;

type Limits = typeof GUARD_LIMITS;
export type GuardLimits = { [K in keyof Limits]: Record<keyof Limits[K], number> };
/** The limits that a profile sets. */
export type GuardOverrides = { [K in keyof GuardLimits]?: Partial<GuardLimits[K]> };

export const isLimitName = (name: string): name is keyof GuardLimits => Object.hasOwn(GUARD_LIMITS, name);

/** Returns an object with the same members as the table, and a value for each guard. */
const mapGuards = <T>(valueOf: (limits: readonly (readonly [name: string, Bounded])[]) => T) =>
  Object.fromEntries(
    Object.entries(GUARD_LIMITS).map(([name, limits]) => [name, valueOf(Object.entries<Bounded>(limits))]),
  );

/** Returns the limits of the settings. */
export const limitsOf = (env: Env): GuardLimits =>
  mapGuards((limits) =>
    Object.fromEntries(limits.map(([name, { setting }]) => [name, env[setting]])),
  ) as GuardLimits;

/** How OpenAPI describes the limits. */
export const guardProperties = () =>
  mapGuards((limits) => ({
    type: 'object' as const,
    properties: Object.fromEntries(
      limits.map(([name, { least: minimum, most: maximum }]) => [
        name,
        { type: 'integer' as const, minimum, maximum },
      ]),
    ),
  }));

/** What is wrong with the limits of a profile, each under its name (`guards.errors.rows`). */
export function guardFaults(guards: readonly [string, unknown][]): FieldError[] {
  return guards.flatMap(([name, limits]): FieldError[] => {
    const field = `guards.${name}`;
    if (!isLimitName(name)) return [unknown(field, 'is not a guard with limits', name, GUARD_LIMITS)];
    const bounds = new Map(Object.entries<Bounded>(GUARD_LIMITS[name]));
    if (!isObject(limits)) {
      const message = `must be an object with ${[...bounds.keys()].join(', ')}`;
      return [{ field, code: 'invalid_type', message }];
    }
    return Object.entries(limits).flatMap(([limit, value]) => {
      const bound = bounds.get(limit);
      const place = `${field}.${limit}`;
      if (!bound) return [unknown(place, `is not a limit of ${name}`, limit, GUARD_LIMITS[name])];
      const { least, most } = bound;
      const fits = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
      const message = `must be an integer from ${least} to ${most}`;
      return fits ? [] : [{ field: place, code: 'invalid_value', message }];
    });
  });
}

/** With the name that was probably meant, or all that there are. */
function unknown(field: string, what: string, name: string, names: object): FieldError {
  const known = Object.keys(names);
  const meant = nearest(name, known);
  const hint = meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`;
  return { field, code: 'unknown_field', message: `${what}; ${hint}` };
}

/** Rows that a guard shows. */
export const MAX_EXAMPLES = 5;

/** A row that shows an operator what a guard has found. Values are cut; a secret is never one. */
export interface GuardExample {
  /** As a spreadsheet shows it (header = 1); null for a user that the file lacks. */
  line: number | null;
  external_id: string;
  old: unknown;
  new: unknown;
}

/** A number of a plan and its limit. A hit parks the run before the first write. */
export interface Guard {
  name: string;
  /** Wire name of the field that it is about; null where it is about the whole plan. */
  field: string | null;
  value: number;
  /** The greatest value that passes; of `shrunken_file` the least one. */
  limit: number;
  hit: boolean;
  /** Up to five rows, of a hit. */
  examples: GuardExample[];
  /** What a hit usually means, in one sentence. */
  hint: string;
}
