import { throwIfInvalid } from '../../platform/config/env.js';
import type { FieldError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import { findNearest } from '../../platform/common/nearest.js';
import { type GuardOverrides, PRESETS, type Preset } from '../runs/import-guard.js';
import type { Limits } from './guard.js';
import { GUARDS } from './guard-table.js';

/** Limits of all guards by name. */
export type GuardLimits = Readonly<Record<string, Limits>>;

const FACTORS: Readonly<Record<Preset, number>> = { strict: 0.5, normal: 1, relaxed: 2 };

/** In a scope with fewer users, floors are at most SMALL_FLOOR, except in the guards and limits of KEPT_FLOORS. */
const SMALL_SCOPE = 50;
const SMALL_FLOOR = 3;
const KEPT_FLOORS: ReadonlySet<string> = new Set(['created', 'lost_together', 'errors']);

const MAX_ROWS = 1_000_000;
const DECIMAL = /^\d{1,7}(\.\d)?$/;

export const isPercent = (limit: string): boolean => limit.includes('percent');
const maxOf = (limit: string): number => (isPercent(limit) ? 100 : MAX_ROWS);

/** Names of limits in earlier versions, with the guards or settings that replace them. */
const REPLACED: Readonly<Record<string, string>> = {
  week: 'deactivations',
  moved_values: 'slid_column',
  same_value: 'changed_field',
  changed_keys: 'created',
  shrunken_file: 'deactivations',
  same_file: 'old_file',
  small_dataset: 'preset',
  total: 'cap_rows',
};

/** Maps each limit of each guard to a value. */
const mapLimits = <T>(map: (limit: string, value: number, guard: string) => T) =>
  Object.fromEntries(
    GUARDS.map(({ name: guard, limits }) => {
      const entries = Object.entries(limits).map(([name, value]) => [name, map(name, value, guard)] as const);
      return [guard, Object.fromEntries(entries)];
    }),
  );

const isLowered = (limit: string, guard: string): boolean =>
  (limit === 'rows' || limit === 'email_rows') && !KEPT_FLOORS.has(guard);

/** Preset and limits of the settings, and of the profile, which override them. */
export class LimitSettings {
  private readonly own: Readonly<Record<string, Record<string, number>>>;

  /**
   * @param variables variables of the environment that begin with `IMPORT_`, for limits such as `IMPORT_GUARD_ERRORS_ROWS`.
   * @throws EnvError that lists each limit that is unknown or invalid.
   */
  constructor(
    private readonly preset: Preset,
    variables: ReadonlyMap<string, string>,
  ) {
    const own: Record<string, Record<string, number>> = {};
    const faults: string[] = [];
    for (const [variable, text] of variables) {
      const limit = SETTINGS.get(variable);
      const value = DECIMAL.test(text) ? Number(text) : NaN;
      if (!limit) faults.push(`${variable} is no longer supported. ${formatReplacement(variable)}`);
      else if (!isValidLimit(limit.name, value))
        faults.push(`${variable} must be ${formatRange(limit.name)}`);
      else (own[limit.guard] ??= {})[limit.name] = value;
    }
    throwIfInvalid(faults);
    this.own = own;
  }

  /** Returns the limits for a scope with this number of users. Single limits are not lowered in a small scope. */
  getLimits(users: number, overrides: GuardOverrides | undefined): GuardLimits {
    const factor = FACTORS[overrides?.preset ?? this.preset];
    return mapLimits((limit, value, guard) => {
      const own = overrides?.[guard];
      const single = (isObject(own) ? own[limit] : undefined) ?? this.own[guard]?.[limit];
      const ofPreset = Math.min(maxOf(limit), value * factor);
      const isSmall = users < SMALL_SCOPE && isLowered(limit, guard);
      return single ?? (isSmall ? Math.min(ofPreset, SMALL_FLOOR) : ofPreset);
    });
  }
}

export const toSettingName = (guard: string, limit: string): string =>
  `IMPORT_GUARD_${guard}_${limit}`.toUpperCase();

const SETTINGS: ReadonlyMap<string, { guard: string; name: string }> = new Map(
  GUARDS.flatMap(({ name: guard, limits }) =>
    Object.keys(limits).map((name) => [toSettingName(guard, name), { guard, name }] as const),
  ),
);

/** Settings of earlier versions, by the end of their names. */
const OLD_SETTINGS: readonly (readonly [pattern: RegExp, setting: string])[] = [
  [/^IMPORT_SMALL_DATASET/, 'IMPORT_GUARDS'],
  [/^IMPORT_(WEEK_FACTOR|MIN_SIZE)/, 'IMPORT_GUARD_DEACTIVATIONS_ROWS'],
  [/_DEACTIVATIONS_TOTAL$/, 'IMPORT_GUARD_DEACTIVATIONS_CAP_ROWS'],
  [/_REACTIVATIONS/, 'IMPORT_GUARD_REACTIVATIONS'],
  [/_DEACTIVATIONS/, 'IMPORT_GUARD_DEACTIVATIONS'],
  [/_CHANGED_LOGINS/, 'IMPORT_GUARD_CHANGED_LOGINS'],
  [/_(CHANGED|COLUMN|SAME)/, 'IMPORT_GUARD_CHANGED_FIELD'],
  [/_EMPTIED/, 'IMPORT_GUARD_EMPTIED_FIELD'],
  [/_MOVED/, 'IMPORT_GUARD_SLID_COLUMN'],
  [/_GARBLED/, 'IMPORT_GUARD_GARBLED_TEXT'],
  [/_NEW_KEYS/, 'IMPORT_GUARD_CREATED'],
  [/_(UNDONE|OLD_FILE)/, 'IMPORT_GUARD_OLD_FILE'],
  [/_FOREIGN/, 'IMPORT_GUARD_FOREIGN_DATASET'],
  [/_ERRORS/, 'IMPORT_GUARD_ERRORS'],
  [/_REPEATED/, 'IMPORT_GUARD_AFTER_REVERT'],
];

function formatReplacement(variable: string): string {
  const [, replacement] = OLD_SETTINGS.find(([pattern]) => pattern.test(variable)) ?? [];
  if (replacement === undefined || variable.startsWith('IMPORT_GUARD_')) {
    const nearest = findNearest(variable, SETTINGS.keys());
    return nearest === undefined
      ? 'See docs/imports.md for the limits of the guards'
      : `Did you mean ${nearest}?`;
  }
  const limit = `${replacement}_${variable.endsWith('_PERCENT') ? 'PERCENT' : 'ROWS'}`;
  return `Set ${SETTINGS.has(limit) ? limit : replacement} instead`;
}

const isValidLimit = (limit: string, value: unknown): boolean =>
  typeof value === 'number' &&
  value >= 0 &&
  value <= maxOf(limit) &&
  (isPercent(limit) ? Number.isInteger(value * 10) : Number.isInteger(value));

const formatRange = (limit: string): string =>
  isPercent(limit)
    ? 'a percentage from 0 to 100, with at most one decimal'
    : `an integer from 0 to ${MAX_ROWS}`;

/** Returns the schemas of the limits in a profile, by guard. */
export function buildLimitSchemas() {
  const limits = mapLimits((limit) => {
    const type = isPercent(limit) ? ('number' as const) : ('integer' as const);
    return { type, minimum: 0, maximum: maxOf(limit) };
  });
  const guards = Object.entries(limits).map(
    ([guard, properties]) => [guard, { type: 'object' as const, properties }] as const,
  );
  return { preset: { type: 'string' as const, enum: [...PRESETS] }, ...Object.fromEntries(guards) };
}

/**
 * Returns the errors in the guards of a profile. The field of an error is the path of the limit, such as
 * `guards.errors.rows`.
 */
export function validateLimits(guards: readonly [string, unknown][]): FieldError[] {
  return guards.flatMap(([name, limits]): FieldError[] => {
    const field = `guards.${name}`;
    if (name === 'preset') {
      const message = `must be one of ${PRESETS.join(', ')}`;
      return PRESETS.some((preset) => preset === limits) ? [] : [{ field, code: 'invalid_value', message }];
    }
    const guard = GUARDS.find((known) => known.name === name);
    if (!guard)
      return [toNameError(field, 'is not a guard', name, ['preset', ...GUARDS.map((known) => known.name)])];
    const names = Object.keys(guard.limits);
    if (!isObject(limits))
      return [{ field, code: 'invalid_type', message: `must be an object with ${names.join(', ')}` }];
    return Object.entries(limits).flatMap(([limit, value]): FieldError[] => {
      const path = `${field}.${limit}`;
      if (!names.includes(limit)) return [toNameError(path, `is not a limit of ${name}`, limit, names)];
      const message = `must be ${formatRange(limit)}`;
      return isValidLimit(limit, value) ? [] : [{ field: path, code: 'invalid_value', message }];
    });
  });
}

function toNameError(field: string, message: string, name: string, known: readonly string[]): FieldError {
  const replacement = known.find((one) => Object.hasOwn(REPLACED, name) && one === REPLACED[name]);
  const nearest = findNearest(name, known);
  const hint =
    replacement !== undefined
      ? `use ${replacement} instead`
      : nearest !== undefined
        ? `did you mean ${nearest}?`
        : `use one of ${known.join(', ')}`;
  return { field, code: 'unknown_field', message: `${message}; ${hint}` };
}
