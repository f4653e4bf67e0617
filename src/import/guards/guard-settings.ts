import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { type GuardLimits, type GuardOverrides, withOverrides } from '../runs/guard-limits.js';

/**
 * The limits for a data set of some users: of eight people five are a crowd, so the fixed numbers of small ones are lower.
 * What a profile says of a guard is said of its own data set, and holds as it is.
 * @param users that the file names or that its data set manages.
 */
export function limitsFor(
  users: number,
  settings: GuardLimits,
  profile: GuardOverrides | undefined,
): GuardLimits {
  if (!profile) return lowered(users, settings);
  return withOverrides(lowered(users, withOverrides(settings, profile)), profile);
}

function lowered(users: number, limits: GuardLimits): GuardLimits {
  const { small_dataset: small } = limits;
  if (users >= small.users) return limits;
  const upTo = (most: number) => (limit: { rows: number }) => ({ rows: Math.min(limit.rows, most) });
  const [over, from] = [upTo(small.rows), upTo(small.rows - 1)];
  return withOverrides(limits, {
    deactivations: over(limits.deactivations),
    moved_values: over(limits.moved_values),
    changed_keys: over(limits.changed_keys),
    changed_field: from(limits.changed_field),
    changed_logins: from(limits.changed_logins),
    emptied_field: from(limits.emptied_field),
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
      changed_field: { rows: env.IMPORT_MAX_CHANGED, percent: env.IMPORT_MAX_CHANGED_PERCENT },
      changed_logins: {
        rows: env.IMPORT_MAX_CHANGED_LOGINS,
        percent: env.IMPORT_MAX_CHANGED_LOGINS_PERCENT,
      },
      emptied_field: { rows: env.IMPORT_MAX_EMPTIED, percent: env.IMPORT_MAX_EMPTIED_PERCENT },
      moved_values: { rows: env.IMPORT_MAX_MOVED, percent: env.IMPORT_MAX_MOVED_PERCENT },
      same_value: { rows: env.IMPORT_MAX_SAME, percent: env.IMPORT_MAX_SAME_PERCENT },
      garbled_text: { rows: env.IMPORT_MAX_GARBLED, percent: env.IMPORT_MAX_GARBLED_PERCENT },
      changed_keys: { rows: env.IMPORT_MAX_NEW_KEYS, percent: env.IMPORT_MAX_NEW_KEYS_PERCENT },
      shrunken_file: { percent: env.IMPORT_MIN_SIZE_PERCENT },
      same_file: { rows: env.IMPORT_MAX_OLD_FILE },
      old_file: { rows: env.IMPORT_MAX_UNDONE, percent: env.IMPORT_MAX_UNDONE_PERCENT },
      foreign_dataset: { rows: env.IMPORT_MAX_FOREIGN, percent: env.IMPORT_MAX_FOREIGN_PERCENT },
      errors: { rows: env.IMPORT_MAX_ERRORS, percent: env.IMPORT_MAX_ERRORS_PERCENT },
      after_revert: { rows: env.IMPORT_MAX_REPEATED },
      small_dataset: { users: env.IMPORT_SMALL_DATASET, rows: env.IMPORT_SMALL_DATASET_ROWS },
    };
  }
}
