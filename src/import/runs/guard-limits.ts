import { ApiProperty } from '@nestjs/swagger';
import type { Env } from '../../platform/config/env.js';
import type { FieldError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import { findNearest } from '../../platform/common/nearest.js';
import { FIELD_VALUE } from '../../platform/openapi/shared-schemas.js';

type LimitSetting = keyof { [K in keyof Env as Env[K] extends number ? K : never]: K };

/** Setting that defines a limit, and the valid range of its value. */
interface LimitRange {
  setting: LimitSetting;
  least: number;
  most: number;
}

const createRowLimit = (setting: LimitSetting): LimitRange => ({ setting, least: 0, most: 1_000_000 });
const createPercentLimit = (setting: LimitSetting): LimitRange => ({ setting, least: 0, most: 100 });

type PairSetting = keyof { [K in LimitSetting as `${K}_PERCENT` extends keyof Env ? K : never]: K };
/** Creates the limits that a setting and its `_PERCENT` variant define. */
const createLimitPair = (setting: PairSetting) => ({
  rows: createRowLimit(setting),
  percent: createPercentLimit(`${setting}_PERCENT`),
});

/**
 * Limits of the guards, by their names in profiles. Each number is the highest value that passes, except in
 * `shrunken_file`, where it is the lowest. If a guard has `rows` and `percent`, the higher limit applies, but never
 * more than `total`.
 */
const GUARD_LIMITS = {
  deactivations: {
    ...createLimitPair('IMPORT_MAX_DEACTIVATIONS'),
    total: createRowLimit('IMPORT_MAX_DEACTIVATIONS_TOTAL'),
  },
  reactivations: {
    ...createLimitPair('IMPORT_MAX_REACTIVATIONS'),
    total: createRowLimit('IMPORT_MAX_REACTIVATIONS_TOTAL'),
  },
  /** The limit for all runs of seven days is the limit of one run, multiplied by this factor. */
  week: { factor: { setting: 'IMPORT_WEEK_FACTOR', least: 1, most: 100 } },
  changed_field: createLimitPair('IMPORT_MAX_CHANGED'),
  /** Limit for changes of the fields that affect logins and permissions. */
  changed_logins: createLimitPair('IMPORT_MAX_CHANGED_LOGINS'),
  emptied_field: createLimitPair('IMPORT_MAX_EMPTIED'),
  moved_values: createLimitPair('IMPORT_MAX_MOVED'),
  same_value: createLimitPair('IMPORT_MAX_SAME'),
  garbled_text: createLimitPair('IMPORT_MAX_GARBLED'),
  changed_keys: createLimitPair('IMPORT_MAX_NEW_KEYS'),
  shrunken_file: { percent: createPercentLimit('IMPORT_MIN_SIZE_PERCENT') },
  /** Limit for a file that was imported before, if a different file was imported since then. */
  same_file: { rows: createRowLimit('IMPORT_MAX_OLD_FILE') },
  old_file: createLimitPair('IMPORT_MAX_UNDONE'),
  foreign_dataset: createLimitPair('IMPORT_MAX_FOREIGN'),
  errors: createLimitPair('IMPORT_MAX_ERRORS'),
  after_revert: { rows: createRowLimit('IMPORT_MAX_REPEATED') },
  /** In a data set with fewer than `users` users, some guards allow at most `rows` rows. */
  small_dataset: {
    users: createRowLimit('IMPORT_SMALL_DATASET'),
    rows: { setting: 'IMPORT_SMALL_DATASET_ROWS', least: 1, most: 1000 },
  },
} as const satisfies Record<string, Record<string, LimitRange>>;

type Limits = typeof GUARD_LIMITS;
export type GuardLimits = { [K in keyof Limits]: Record<keyof Limits[K], number> };
/** Limits in a profile, which override the settings. */
export type GuardOverrides = { [K in keyof GuardLimits]?: Partial<GuardLimits[K]> };

export const isLimitName = (name: string): name is keyof GuardLimits => Object.hasOwn(GUARD_LIMITS, name);

const mapLimits = <T>(valueOf: (limits: readonly (readonly [name: string, LimitRange])[]) => T) =>
  Object.fromEntries(
    Object.entries(GUARD_LIMITS).map(([name, limits]) => [name, valueOf(Object.entries<LimitRange>(limits))]),
  );

export const limitsOf = (env: Env): GuardLimits =>
  mapLimits((limits) =>
    Object.fromEntries(limits.map(([name, { setting }]) => [name, env[setting]])),
  ) as GuardLimits;

export const buildLimitSchemas = () =>
  mapLimits((limits) => ({
    type: 'object' as const,
    properties: Object.fromEntries(
      limits.map(([name, { least: minimum, most: maximum }]) => [
        name,
        { type: 'integer' as const, minimum, maximum },
      ]),
    ),
  }));

/**
 * Returns the errors in the limits of a profile. The field of an error is the path of the limit, such as
 * `guards.errors.rows`.
 */
export function validateLimits(guards: readonly [string, unknown][]): FieldError[] {
  return guards.flatMap(([name, limits]): FieldError[] => {
    const field = `guards.${name}`;
    if (!isLimitName(name)) return [toNameError(field, 'is not a guard with limits', name, GUARD_LIMITS)];
    const bounds = new Map(Object.entries<LimitRange>(GUARD_LIMITS[name]));
    if (!isObject(limits)) {
      const message = `must be an object with ${[...bounds.keys()].join(', ')}`;
      return [{ field, code: 'invalid_type', message }];
    }
    return Object.entries(limits).flatMap(([limit, value]) => {
      const bound = bounds.get(limit);
      const path = `${field}.${limit}`;
      if (!bound) return [toNameError(path, `is not a limit of ${name}`, limit, GUARD_LIMITS[name])];
      const { least, most } = bound;
      const isValid = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
      const message = `must be an integer from ${least} to ${most}`;
      return isValid ? [] : [{ field: path, code: 'invalid_value', message }];
    });
  });
}

function toNameError(field: string, message: string, name: string, names: object): FieldError {
  const known = Object.keys(names);
  const meant = findNearest(name, known);
  const hint = meant === undefined ? `use one of ${known.join(', ')}` : `did you mean ${meant}?`;
  return { field, code: 'unknown_field', message: `${message}; ${hint}` };
}

export const MAX_EXAMPLES = 5;

/** Example row of a guard, for operators. Values are truncated, and secrets are left out. */
class ImportGuardExampleDto {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    example: 17,
    description: 'Line in the file. Null for a missing user.',
  })
  line!: number | null;
  @ApiProperty({ maxLength: 255, example: 'HR-10042' }) external_id!: string;
  @ApiProperty(FIELD_VALUE) old!: unknown;
  @ApiProperty({ ...FIELD_VALUE, example: '+44 20 7946 0321' }) new!: unknown;
}

/**
 * Result of a guard: a number of the plan and its limit. If `hit` is true, the run waits for approval before its first
 * write.
 */
export class ImportGuardDto {
  @ApiProperty({ maxLength: 64, example: 'changed_field' }) name!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 64,
    example: 'phone',
    description: 'Field that the guard checks. Null if the guard checks the whole plan.',
  })
  field!: string | null;
  @ApiProperty({ type: 'integer', example: 91 }) value!: number;
  @ApiProperty({
    type: 'integer',
    example: 80,
    description: 'Highest `value` that does not trip the guard. For `shrunken_file`, the lowest such value.',
  })
  limit!: number;
  @ApiProperty() hit!: boolean;
  @ApiProperty({
    type: [ImportGuardExampleDto],
    maxItems: MAX_EXAMPLES,
    description: 'First affected rows, if the guard tripped. Long values are truncated.',
  })
  examples!: ImportGuardExampleDto[];
  @ApiProperty({
    maxLength: 400,
    example:
      'Many people would get a different value in this column. The column may have been swapped with another column.',
    description: 'Usual reason why the guard trips.',
  })
  hint!: string;
}

/** Members of a guard. Guards are plain objects, not instances of the DTO. */
export type Guard = Pick<ImportGuardDto, keyof ImportGuardDto>;
export type GuardExample = ImportGuardExampleDto;
