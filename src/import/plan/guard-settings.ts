import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import type { GuardLimits } from './guards.js';

/** The limits of the guards, from the settings. */
@Injectable()
export class GuardSettings implements GuardLimits {
  readonly deactivations;
  readonly reactivations;
  readonly newKeys;
  readonly column;
  readonly errors;
  readonly shrunkenPercent: number;

  constructor(env: Env) {
    this.deactivations = {
      percent: env.IMPORT_MAX_DEACTIVATIONS_PERCENT,
      rows: env.IMPORT_MAX_DEACTIVATIONS,
    };
    this.reactivations = {
      percent: env.IMPORT_MAX_REACTIVATIONS_PERCENT,
      rows: env.IMPORT_MAX_REACTIVATIONS,
    };
    this.newKeys = { percent: env.IMPORT_MAX_NEW_KEYS_PERCENT, rows: env.IMPORT_MAX_NEW_KEYS };
    this.column = { percent: env.IMPORT_MAX_COLUMN_PERCENT, rows: env.IMPORT_MAX_COLUMN };
    this.errors = { percent: env.IMPORT_MAX_ERRORS_PERCENT, rows: env.IMPORT_MAX_ERRORS };
    this.shrunkenPercent = env.IMPORT_MIN_SIZE_PERCENT;
  }
}
