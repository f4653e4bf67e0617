import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import type { Guard } from '../runs/import-run.js';

/** What a plan amounts to. */
export interface PlanNumbers {
  /** Rows of the file. */
  rows: number;
  errors: number;
  /** Active users that the file names or that its data set manages. */
  activeInScope: number;
  /** Users that the file names or that its data set manages. */
  linked: number;
  /** Users that rows were matched to. */
  matched: number;
  /** By rows, and for being missing. */
  deactivations: number;
  reactivations: number;
  /** Rows whose ExternalId is nobody's: new users, and those that clash with existing ones. */
  newKeys: number;
  /** Users of the data set that the file lacks, and rows that clash with linked users. */
  lostKeys: number;
  /** Column → matched users whose filled value the file empties. */
  emptied: Readonly<Record<string, number>>;
  usernamesChanged: number;
  emailsChanged: number;
  /** Rows of the last completed run of the data set; null for the first one. */
  lastRows: number | null;
}

/** A share of a whole that is exceeded only beyond a number of rows, too. */
interface Limit {
  percent: number;
  rows: number;
}

export interface GuardLimits {
  deactivations: Limit;
  reactivations: Limit;
  newKeys: Limit;
  column: Limit;
  errors: Limit;
  /** The least share of the last run's rows, in percent. */
  shrunkenPercent: number;
}

const share = ({ percent }: Limit, of: number): number => (of * percent) / 100;

/** The guards of a plan (interface §6). Pure. */
export function guardsOf(
  plan: PlanNumbers,
  limits: GuardLimits,
  missing: 'keep' | 'report' | 'block',
): Guard[] {
  const guards: Guard[] = [];
  const over = (name: string, value: number, limit: number, hit = value > limit): void => {
    guards.push({
      name,
      field: null,
      value,
      limit: Math.floor(limit * 100) / 100,
      hit,
      examples: [],
      hint: '',
    });
  };
  /** More than a share, and not fewer than a number of rows. */
  const many = (name: string, value: number, limit: Limit, of: number): void => {
    over(name, value, share(limit, of), value > share(limit, of) && value >= limit.rows);
  };
  const { deactivations, reactivations, newKeys } = limits;
  over(
    'deactivations',
    plan.deactivations,
    Math.max(deactivations.rows, share(deactivations, plan.activeInScope)),
  );
  over(
    'reactivations',
    plan.reactivations,
    Math.max(reactivations.rows, share(reactivations, plan.activeInScope)),
  );
  const keys = Math.max(newKeys.rows, share(newKeys, plan.linked));
  over('changed_keys', plan.newKeys, keys, plan.newKeys > keys && plan.lostKeys > keys);
  if (missing === 'block' && plan.lastRows !== null) {
    const least = (plan.lastRows * limits.shrunkenPercent) / 100;
    over('shrunken_file', plan.rows, least, plan.rows < least);
  }
  for (const [column, value] of Object.entries(plan.emptied)) {
    many(`emptied_${column}`, value, limits.column, plan.matched);
  }
  many('usernames_changed', plan.usernamesChanged, limits.column, plan.matched);
  many('emails_changed', plan.emailsChanged, limits.column, plan.matched);
  many('errors', plan.errors, limits.errors, plan.rows);
  return guards;
}

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
