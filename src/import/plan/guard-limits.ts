import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';

/** A guard passes up to `rows`, or up to a share of a whole where that is more. */
export interface Limit {
  rows: number;
  percent: number;
}

/** Never more than `total`, whatever the share. */
export interface CappedLimit extends Limit {
  total: number;
}

/** The limits of all guards. Each number is the greatest that passes, but for `shrunken`: the least share, in percent. */
export interface GuardLimits {
  deactivations: CappedLimit;
  reactivations: CappedLimit;
  /** How many times the limit of one run the runs of seven days may reach together. */
  week: { factor: number };
  changed: Limit;
  /** For the fields by which people log in and get rights. */
  changedLogins: Limit;
  emptied: Limit;
  moved: Limit;
  same: Limit;
  garbled: Limit;
  newKeys: Limit;
  shrunken: { percent: number };
  /** For a file that was imported before, and another one since. */
  oldFile: { rows: number };
  undone: Limit;
  foreign: Limit;
  errors: Limit;
  repeated: { rows: number };
  /** With fewer `users` in scope, the `rows` of some guards are no more than these. */
  small: { users: number; rows: number };
}

/** What a data set may have otherwise than the settings. */
export type GuardOverrides = { [K in keyof GuardLimits]?: Partial<GuardLimits[K]> };

/** The limits with those of a data set in their place. */
export function withOverrides(limits: GuardLimits, overrides: GuardOverrides): GuardLimits {
  return {
    deactivations: { ...limits.deactivations, ...overrides.deactivations },
    reactivations: { ...limits.reactivations, ...overrides.reactivations },
    week: { ...limits.week, ...overrides.week },
    changed: { ...limits.changed, ...overrides.changed },
    changedLogins: { ...limits.changedLogins, ...overrides.changedLogins },
    emptied: { ...limits.emptied, ...overrides.emptied },
    moved: { ...limits.moved, ...overrides.moved },
    same: { ...limits.same, ...overrides.same },
    garbled: { ...limits.garbled, ...overrides.garbled },
    newKeys: { ...limits.newKeys, ...overrides.newKeys },
    shrunken: { ...limits.shrunken, ...overrides.shrunken },
    oldFile: { ...limits.oldFile, ...overrides.oldFile },
    undone: { ...limits.undone, ...overrides.undone },
    foreign: { ...limits.foreign, ...overrides.foreign },
    errors: { ...limits.errors, ...overrides.errors },
    repeated: { ...limits.repeated, ...overrides.repeated },
    small: { ...limits.small, ...overrides.small },
  };
}

/**
 * The limits for a data set of some users: of eight people five are a crowd, so the fixed numbers of small ones are lower.
 * @param users that the file names or that its data set manages.
 */
export function limitsFor(users: number, limits: GuardLimits): GuardLimits {
  const { small } = limits;
  if (users >= small.users) return limits;
  const upTo = (most: number) => (limit: { rows: number }) => ({ rows: Math.min(limit.rows, most) });
  const [over, from] = [upTo(small.rows), upTo(small.rows - 1)];
  return withOverrides(limits, {
    deactivations: over(limits.deactivations),
    reactivations: over(limits.reactivations),
    moved: over(limits.moved),
    newKeys: over(limits.newKeys),
    changed: from(limits.changed),
    changedLogins: from(limits.changedLogins),
    emptied: from(limits.emptied),
    foreign: from(limits.foreign),
  });
}

/** The limits of the settings. */
@Injectable()
export class GuardSettings {
  readonly limits: GuardLimits;

  constructor(env: Env) {
    this.limits = {
      deactivations: {
        rows: env.IMPORT_MAX_DEACTIVATIONS,
        percent: env.IMPORT_MAX_DEACTIVATIONS_PERCENT,
        total: env.IMPORT_MAX_DEACTIVATIONS_TOTAL,
      },
      reactivations: {
        rows: env.IMPORT_MAX_REACTIVATIONS,
        percent: env.IMPORT_MAX_REACTIVATIONS_PERCENT,
        total: env.IMPORT_MAX_REACTIVATIONS_TOTAL,
      },
      week: { factor: env.IMPORT_WEEK_FACTOR },
      changed: { rows: env.IMPORT_MAX_CHANGED, percent: env.IMPORT_MAX_CHANGED_PERCENT },
      changedLogins: {
        rows: env.IMPORT_MAX_CHANGED_LOGINS,
        percent: env.IMPORT_MAX_CHANGED_LOGINS_PERCENT,
      },
      emptied: { rows: env.IMPORT_MAX_EMPTIED, percent: env.IMPORT_MAX_EMPTIED_PERCENT },
      moved: { rows: env.IMPORT_MAX_MOVED, percent: env.IMPORT_MAX_MOVED_PERCENT },
      same: { rows: env.IMPORT_MAX_SAME, percent: env.IMPORT_MAX_SAME_PERCENT },
      garbled: { rows: env.IMPORT_MAX_GARBLED, percent: env.IMPORT_MAX_GARBLED_PERCENT },
      newKeys: { rows: env.IMPORT_MAX_NEW_KEYS, percent: env.IMPORT_MAX_NEW_KEYS_PERCENT },
      shrunken: { percent: env.IMPORT_MIN_SIZE_PERCENT },
      oldFile: { rows: env.IMPORT_MAX_OLD_FILE },
      undone: { rows: env.IMPORT_MAX_UNDONE, percent: env.IMPORT_MAX_UNDONE_PERCENT },
      foreign: { rows: env.IMPORT_MAX_FOREIGN, percent: env.IMPORT_MAX_FOREIGN_PERCENT },
      errors: { rows: env.IMPORT_MAX_ERRORS, percent: env.IMPORT_MAX_ERRORS_PERCENT },
      repeated: { rows: env.IMPORT_MAX_REPEATED },
      small: { users: env.IMPORT_SMALL_DATASET, rows: env.IMPORT_SMALL_DATASET_ROWS },
    };
  }
}
