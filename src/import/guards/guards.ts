import { type Guard, type GuardLimits, type GuardOverrides, isLimitName } from '../runs/guard-limits.js';
import type { NamedProfile } from '../runs/import-options.js';
import { type ColumnShape, type Found, NO_ROWS, shown } from './column-shape.js';
import type { ShapeTally } from './plan-tally.js';

/** Maps a guard to its hint for operators: the usual reason why it trips. */
const HINTS = {
  deactivations:
    'Many people would lose access at once. The file may contain only part of the data set, or its Status column may be wrong.',
  reactivations:
    'Many blocked people would get access again. The file may be an old one, or its Status column may be wrong.',
  changed_field:
    'Many people would get a different value in this column. The column may have been swapped with another column, sorted separately or filled by mistake.',
  emptied_field:
    'Many people would lose their value in this column. The source has probably stopped sending it.',
  moved_values:
    'Many values would move from one person to another. A column has probably shifted by one row or was sorted without the other columns.',
  same_value:
    'Most people would get the same value in a column where their current values differ. The source may have filled in a default, or a lookup may have failed.',
  garbled_text:
    'Accented letters would be lost, garbled or escaped. The file may be meant for a web page or have a different encoding. Check the encoding option.',
  changed_keys:
    'Many external ids are new, and many known ids are missing or in conflict. The ids have probably changed, so the import would create the same people a second time.',
  shrunken_file: 'The file has far fewer rows than the last file. The export may be cut short or filtered.',
  old_file: 'Much of the last import would be undone. The file may be older than the last imported file.',
  foreign_dataset: 'Many people in the file belong to another data set. The dataset option may be wrong.',
  errors: 'Many rows fail with new errors. The format of the source may have changed.',
  after_revert: 'Changes that were reverted would be made again. The source still sends the wrong values.',
} as const;

const OTHER_HINTS = {
  deactivations_week:
    'This import and the others of the last seven days would together block many people. The source may be losing people little by little.',
  reactivations_week:
    'This import and the others of the last seven days would together give many blocked people access again. Check the source.',
  same_new_name:
    'Most new people have the same name. A column may have been filled with a single value, or the rows may not describe people.',
  cut_text: 'Many values in this column would be cut off inside a word. The source probably shortens them.',
  same_file: 'This old file was already imported, and a different file was imported after it.',
} as const;

/** Numbers of a plan and of earlier runs of its data set, which the guards compare with their limits. */
export interface PlanNumbers {
  rows: number;
  /** Failed rows, except rows that failed with the same errors in the last completed run. */
  errors: Found;
  /** Number of active users whom the file names, plus the missing users of its data set. */
  activeInScope: number;
  /** Number of users whom the file names, active or blocked, plus the missing users of its data set. */
  linked: number;
  matched: number;
  deactivations: Found;
  reactivations: Found;
  /**
   * Numbers of users of the data set whom earlier runs blocked or reactivated in the seven days before this run.
   * Approved runs do not count.
   */
  week: { deactivations: number; reactivations: number };
  /** Number of active users who belong to other parts of the data set and are not in the file. */
  elsewhere: number;
  /** Rows whose ExternalId is new. These rows create users, or fail because they conflict with existing users. */
  newKeys: Found;
  /**
   * Number of missing users, plus the number of identifiers that rows with a new ExternalId would take from linked
   * users. If it is high, the ExternalIds in the source have probably changed.
   */
  lostKeys: number;
  shape: ShapeTally;
  /**
   * Users whom the file names but another data set manages. `known` is the number of such users in the last completed
   * run.
   */
  foreign: Found & { known: number };
  /** Number of rows in the last completed run of the data set, or null before the first completed run. */
  lastRows: number | null;
  /** Number of users whom the plan would change. 0 if the file is not an old file (`Past.isOldFile`). */
  sameFile: number;
  /**
   * Users for whom the plan would undo changes of an earlier run. `of` is the number of users whom that run changed.
   * Null if the plan changes too few users for this check.
   */
  undone: (Found & { of: number }) | null;
  /** Users for whom the plan would repeat changes that a revert has undone, or null without such a revert. */
  repeated: Found | null;
}

/** Limit of a guard: either `rows` or `percent` of a total, whichever allows more rows. */
interface Limit {
  rows: number;
  percent: number;
}

const LOGINS: ReadonlySet<string> = new Set(['username', 'email', 'authname', 'roles']);

const most = ({ rows, percent }: Limit, of: number): number =>
  Math.floor(Math.max(rows, (of * percent) / 100));

const capped = (limit: Limit & { total: number }, of: number): number =>
  Math.min(limit.total, most(limit, of));

function over(
  name: keyof typeof HINTS,
  { count: value, examples }: Found,
  limit: number,
  {
    field = null,
    hit = value > limit,
    hint = HINTS[name],
  }: Partial<Pick<Guard, 'field' | 'hit' | 'hint'>> = {},
): Guard {
  return { name, field, value, limit, hit, examples: hit ? shown(examples) : [], hint };
}

/**
 * Returns the guards of a plan (interface §6, reasons in ADR 21).
 * @param profile profile of the run, whose limits override the settings.
 */
export function guardsOf(
  plan: PlanNumbers,
  settings: GuardLimits,
  missing: 'keep' | 'report' | 'block',
  profile: Pick<NamedProfile, 'name' | 'guards'> | null = null,
): Guard[] {
  const own = profile?.guards;
  const limits = limitsFor(plan.linked, settings, own);
  // The limits for the whole data set, including its other parts.
  const ofDataset = limitsFor(plan.linked + plan.elsewhere, settings, own);
  const { shape, matched } = plan;
  const { moved, garbled } = shape;
  const keys = most(limits.changed_keys, plan.linked);
  const lastRows = plan.lastRows ?? 0;
  const share = Math.ceil((lastRows * limits.shrunken_file.percent) / 100);
  // A file with only one row fewer than the last file never trips this guard.
  const least = Math.max(0, Math.min(share, lastRows - 1));
  const foreign = most(limits.foreign_dataset, matched);
  const size = { ...NO_ROWS, count: plan.rows };
  const guards = [
    checkAccessChange('deactivations', plan, limits, ofDataset),
    checkAccessChange('reactivations', plan, limits, ofDataset),
    over('changed_keys', plan.newKeys, keys, { hit: plan.newKeys.count > keys && plan.lostKeys > keys }),
    ...(missing === 'block' && plan.lastRows !== null
      ? [over('shrunken_file', size, least, { hit: plan.rows < least })]
      : []),
    ...shape.columns.flatMap((column) => columnGuards(column, matched, limits)),
    ...(shape.created > 0 ? newNameGuards(shape, limits) : []),
    over('moved_values', moved, most(limits.moved_values, matched), { field: moved.field }),
    over('garbled_text', garbled, most(limits.garbled_text, plan.rows), { field: garbled.field }),
    ...cutGuards(plan, limits),
    ...oldFileGuards(plan, limits),
    over(
      'foreign_dataset',
      plan.foreign,
      // If the last run was above the limit, an operator has accepted its foreign users. Apply the limit only to
      // additional foreign users.
      plan.foreign.known > foreign ? plan.foreign.known + foreign : foreign,
    ),
    ...(plan.repeated ? [over('after_revert', plan.repeated, limits.after_revert.rows)] : []),
    over('errors', plan.errors, most(limits.errors, plan.rows)),
  ];
  return own ? guards.map((guard) => addProfileHint(profile.name, own, guard)) : guards;
}

/**
 * Checks how many users lose or get access. This run has a limit that depends on the users in its scope. All runs of the
 * past week together have a limit that depends on the whole data set.
 */
function checkAccessChange(
  name: 'deactivations' | 'reactivations',
  plan: PlanNumbers,
  limits: GuardLimits,
  ofDataset: GuardLimits,
): Guard {
  const found = plan[name];
  const alone = capped(limits[name], plan.activeInScope);
  const inWeek = ofDataset.week.factor * capped(ofDataset[name], plan.activeInScope + plan.elsewhere);
  const together = { ...found, count: found.count + plan.week[name] };
  const byWeek = found.count > 0 && found.count <= alone && together.count > inWeek;
  return byWeek
    ? over(name, together, inWeek, { hint: OTHER_HINTS[`${name}_week`] })
    : over(name, found, alone);
}

function columnGuards(column: ColumnShape, matched: number, limits: GuardLimits): Guard[] {
  const { field, replaced, clearings, same } = column;
  const guards: Guard[] = [];
  const changed = LOGINS.has(field) ? limits.changed_logins : limits.changed_field;
  const push = (name: 'changed_field' | 'emptied_field' | 'same_value', found: Found, limit: Limit): void => {
    if (found.count > 0) guards.push(over(name, found, most(limit, matched), { field }));
  };
  push('changed_field', replaced, changed);
  push('emptied_field', clearings, limits.emptied_field);
  push('same_value', same, limits.same_value);
  return guards;
}

/** Returns a guard for each column in which many values were cut inside a word to the same length. */
function cutGuards({ shape, rows }: PlanNumbers, limits: GuardLimits): Guard[] {
  const limit = most(limits.garbled_text, rows);
  return shape.columns.flatMap(({ field, cut }) =>
    cut.count > limit ? [over('garbled_text', cut, limit, { hint: OTHER_HINTS.cut_text, field })] : [],
  );
}

/**
 * Returns guards for forenames or surnames that most new users share. Ignores files without forenames or without
 * surnames.
 */
function newNameGuards(shape: ShapeTally, { same_value: same }: GuardLimits): Guard[] {
  const limit = most(same, shape.created);
  const names = shape.sameNames;
  if (names.some(({ count }) => count === 0)) return [];
  return names
    .filter(({ count }) => count > limit)
    .map((found) =>
      over('same_value', found, limit, { hint: OTHER_HINTS.same_new_name, field: found.field }),
    );
}

function oldFileGuards(
  { sameFile, undone }: PlanNumbers,
  { same_file: sameBytes, old_file: limit }: GuardLimits,
): Guard[] {
  if (sameFile > sameBytes.rows)
    return [
      over('old_file', { ...NO_ROWS, count: sameFile }, sameBytes.rows, { hint: OTHER_HINTS.same_file }),
    ];
  return undone ? [over('old_file', undone, most(limit, undone.of))] : [];
}

/** Adds to the hint of a guard that the profile sets its limit. Operators then do not search the settings for it. */
function addProfileHint(profile: string, own: GuardOverrides, guard: Guard): Guard {
  const isOwn = limitNames(guard).some((name) => own[name] !== undefined);
  return isOwn ? { ...guard, hint: `${guard.hint} The profile ${profile} sets the limit.` } : guard;
}

/** Returns the names under which a profile can override the limits of a guard. */
function limitNames({ name, field, hint }: Guard): (keyof GuardLimits)[] {
  if (name === 'changed_field') return [LOGINS.has(field ?? '') ? 'changed_logins' : name];
  if (name === 'old_file') return [hint === OTHER_HINTS.same_file ? 'same_file' : name];
  if (name === 'deactivations' || name === 'reactivations')
    return hint === OTHER_HINTS[`${name}_week`] ? [name, 'week'] : [name];
  return isLimitName(name) ? [name] : [];
}

/**
 * Guards with a lower limit in a small data set: at most `small_dataset.rows`, minus the number listed for the guard.
 */
const LOWERED = [
  ['deactivations', 0],
  ['moved_values', 0],
  ['changed_keys', 0],
  ['changed_field', 1],
  ['changed_logins', 1],
  ['emptied_field', 1],
] as const;

/**
 * Returns the limits for a data set with this number of users. In a small data set, some guards allow fewer rows.
 * Limits of a profile are not lowered, because they were chosen for the data set.
 * @param users number of users whom the file names or its data set manages.
 */
function limitsFor(users: number, settings: GuardLimits, profile: GuardOverrides = {}): GuardLimits {
  const limits = withOverrides(settings, profile);
  const { small_dataset: small } = limits;
  if (users >= small.users) return limits;
  for (const [name, less] of LOWERED) limits[name].rows = Math.min(limits[name].rows, small.rows - less);
  return withOverrides(limits, profile);
}

function withOverrides(limits: GuardLimits, overrides: GuardOverrides): GuardLimits {
  const merged = structuredClone(limits);
  for (const [name, limit] of Object.entries<object>(merged))
    Object.assign(limit, Reflect.get(overrides, name));
  return merged;
}
