/** A guard passes up to `rows`, or up to a share of a whole where that is more. */
export interface Limit {
  rows: number;
  percent: number;
}

/** Never more than `total`, whatever the share. */
export interface CappedLimit extends Limit {
  total: number;
}

/**
 * The limits of all guards, by the names that they have in a profile. Each number is the greatest that passes, but for
 * `shrunken_file`: the least share, in percent.
 */
export interface GuardLimits {
  deactivations: CappedLimit;
  reactivations: CappedLimit;
  /** How many times the limit of one run the runs of seven days may reach together. */
  week: { factor: number };
  changed_field: Limit;
  /** For the fields by which people log in and get rights. */
  changed_logins: Limit;
  emptied_field: Limit;
  moved_values: Limit;
  same_value: Limit;
  garbled_text: Limit;
  changed_keys: Limit;
  shrunken_file: { percent: number };
  /** For a file that was imported before, and another one since. */
  same_file: { rows: number };
  old_file: Limit;
  foreign_dataset: Limit;
  errors: Limit;
  after_revert: { rows: number };
  /** With fewer `users` in scope, the `rows` of some guards are no more than these. */
  small_dataset: { users: number; rows: number };
}

/** What a profile has otherwise than the settings. */
export type GuardOverrides = { [K in keyof GuardLimits]?: Partial<GuardLimits[K]> };

/** The limits with those of a profile in their place. */
export function withOverrides(limits: GuardLimits, overrides: GuardOverrides): GuardLimits {
  return {
    deactivations: { ...limits.deactivations, ...overrides.deactivations },
    reactivations: { ...limits.reactivations, ...overrides.reactivations },
    week: { ...limits.week, ...overrides.week },
    changed_field: { ...limits.changed_field, ...overrides.changed_field },
    changed_logins: { ...limits.changed_logins, ...overrides.changed_logins },
    emptied_field: { ...limits.emptied_field, ...overrides.emptied_field },
    moved_values: { ...limits.moved_values, ...overrides.moved_values },
    same_value: { ...limits.same_value, ...overrides.same_value },
    garbled_text: { ...limits.garbled_text, ...overrides.garbled_text },
    changed_keys: { ...limits.changed_keys, ...overrides.changed_keys },
    shrunken_file: { ...limits.shrunken_file, ...overrides.shrunken_file },
    same_file: { ...limits.same_file, ...overrides.same_file },
    old_file: { ...limits.old_file, ...overrides.old_file },
    foreign_dataset: { ...limits.foreign_dataset, ...overrides.foreign_dataset },
    errors: { ...limits.errors, ...overrides.errors },
    after_revert: { ...limits.after_revert, ...overrides.after_revert },
    small_dataset: { ...limits.small_dataset, ...overrides.small_dataset },
  };
}

/** What each limit may be. */
type Bounds = Readonly<{ [K in keyof GuardLimits]: Readonly<Record<keyof GuardLimits[K], Bound>> }>;
type Bound = readonly [least: number, most: number];

const ROWS: Bound = [0, 1_000_000];
const PERCENT: Bound = [0, 100];
const LIMIT = { rows: ROWS, percent: PERCENT };
const CAPPED = { ...LIMIT, total: ROWS };

/** The bounds of all limits: those of the settings. */
export const GUARD_BOUNDS: Bounds = {
  deactivations: CAPPED,
  reactivations: CAPPED,
  week: { factor: [1, 100] },
  changed_field: LIMIT,
  changed_logins: LIMIT,
  emptied_field: LIMIT,
  moved_values: LIMIT,
  same_value: LIMIT,
  garbled_text: LIMIT,
  changed_keys: LIMIT,
  shrunken_file: { percent: PERCENT },
  same_file: { rows: ROWS },
  old_file: LIMIT,
  foreign_dataset: LIMIT,
  errors: LIMIT,
  after_revert: { rows: ROWS },
  small_dataset: { users: ROWS, rows: [1, 1000] },
};

export const isLimitName = (name: string): name is keyof GuardLimits => Object.hasOwn(GUARD_BOUNDS, name);
