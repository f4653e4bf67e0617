import {
  type CappedLimit,
  type GuardLimits,
  type GuardOverrides,
  type Limit,
  isLimitName,
} from '../runs/guard-limits.js';
import type { NamedProfile } from '../runs/import-options.js';
import type { Guard } from '../runs/import-run.js';
import type { ColumnShape } from './column-shape.js';
import { type Found, shown } from './guard-examples.js';
import { HINTS } from './guard-hints.js';
import { limitsFor } from './guard-settings.js';
import type { ShapeTally } from './shape-tally.js';

/** What a plan amounts to, and what the earlier runs of its data set did. */
export interface PlanNumbers {
  /** Rows of the file. */
  rows: number;
  /** Rows that fail, those that failed in the same way in the last completed run aside. */
  errors: Found;
  /** Active users that the file names or that its data set manages. */
  activeInScope: number;
  /** Users that the file names or that its data set manages. */
  linked: number;
  /** Users that rows were matched to. */
  matched: number;
  /** By rows, and for being missing. */
  deactivations: Found;
  reactivations: Found;
  /** By the unapproved runs of the data set in the seven days before. */
  week: { deactivations: number; reactivations: number };
  /** Active users of other parts of the data set that the file does not name. */
  elsewhere: number;
  /** Rows whose ExternalId is nobody's: new users, and those that clash with existing ones. */
  newKeys: Found;
  /** Users of the data set that the file lacks, and rows that clash with linked users. */
  lostKeys: number;
  shape: ShapeTally;
  /** Matched users of other data sets; `known` of them in the last completed run, if an operator has approved that. */
  foreign: Found & { known: number };
  /** Rows of the last completed run of the data set; null for the first one. */
  lastRows: number | null;
  /** Rows that change a user, where the file is an earlier one; else 0. */
  sameFile: number;
  /** Of the users that the last run changed, those that would be changed back; null where they cannot be many. */
  undone: (Found & { of: number }) | null;
  /** Changes that a revert has undone and that would be made again; null where there was no revert. */
  repeated: Found | null;
}

/** The fields by which people log in and get rights. */
const LOGINS: ReadonlySet<string> = new Set(['username', 'email', 'authname', 'roles']);

const most = ({ rows, percent }: Limit, of: number): number =>
  Math.floor(Math.max(rows, (of * percent) / 100));

const capped = (limit: CappedLimit, of: number): number => Math.min(limit.total, most(limit, of));

const NONE: Found = { count: 0, examples: [] };

/** A guard over a number and its limit: only more than that is a hit. */
function over(
  name: string,
  { count: value, examples }: Found,
  limit: number,
  hint: string,
  field: string | null = null,
  hit = value > limit,
): Guard {
  return { name, field, value, limit, hit, examples: hit ? shown(examples) : [], hint };
}

/**
 * The guards of a plan (interface §6; why each judges what, in ADR 21). Pure.
 * @param profile of the run, whose limits go before the settings.
 */
export function guardsOf(
  plan: PlanNumbers,
  settings: GuardLimits,
  missing: 'keep' | 'report' | 'block',
  profile: Pick<NamedProfile, 'name' | 'guards'> | null = null,
): Guard[] {
  const limits = limitsFor(plan.linked, settings, profile?.guards);
  const ofDataset = limitsFor(plan.linked + plan.elsewhere, settings, profile?.guards);
  const guards = judged(plan, limits, ofDataset, missing);
  return profile?.guards ? guards.map((guard) => naming(profile.name, profile.guards ?? {}, guard)) : guards;
}

/** @param ofDataset the limits for all parts of the data set together. */
function judged(
  plan: PlanNumbers,
  limits: GuardLimits,
  ofDataset: GuardLimits,
  missing: 'keep' | 'report' | 'block',
): Guard[] {
  const { shape, matched } = plan;
  const keys = most(limits.changed_keys, plan.linked);
  const lastRows = plan.lastRows ?? 0;
  // One row fewer does not make a file a cut one, however few there were.
  const least = Math.max(
    0,
    Math.min(Math.ceil((lastRows * limits.shrunken_file.percent) / 100), lastRows - 1),
  );
  const foreign = most(limits.foreign_dataset, matched);
  return [
    crowd('deactivations', plan, limits, ofDataset),
    crowd('reactivations', plan, limits, ofDataset),
    over(
      'changed_keys',
      plan.newKeys,
      keys,
      HINTS.changed_keys,
      null,
      plan.newKeys.count > keys && plan.lostKeys > keys,
    ),
    ...(missing === 'block' && plan.lastRows !== null
      ? [
          over(
            'shrunken_file',
            { ...NONE, count: plan.rows },
            least,
            HINTS.shrunken_file,
            null,
            plan.rows < least,
          ),
        ]
      : []),
    ...shape.columns.flatMap((column) => columnGuards(column, matched, limits)),
    ...newNameGuards(shape, limits),
    over(
      'moved_values',
      shape.moved,
      most(limits.moved_values, matched),
      HINTS.moved_values,
      shape.moved.field,
    ),
    over(
      'garbled_text',
      shape.garbled,
      most(limits.garbled_text, plan.rows),
      HINTS.garbled_text,
      shape.garbled.field,
    ),
    ...cutGuards(plan, limits),
    ...oldFileGuards(plan, limits),
    over(
      'foreign_dataset',
      plan.foreign,
      // What an operator has approved for the data set stays approved; only more of it is news.
      plan.foreign.known > foreign ? plan.foreign.known + foreign : foreign,
      HINTS.foreign_dataset,
    ),
    ...(plan.repeated
      ? [over('after_revert', plan.repeated, limits.after_revert.rows, HINTS.after_revert)]
      : []),
    over('errors', plan.errors, most(limits.errors, plan.rows), HINTS.errors),
  ];
}

/**
 * Users that lose or get access: by this run alone among the users of its own scope, and by all runs of the week among
 * those of the whole data set, whatever the parts that its files are.
 */
function crowd(
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
  return byWeek ? over(name, together, inWeek, HINTS[`${name}_week`]) : over(name, found, alone, HINTS[name]);
}

function columnGuards(column: ColumnShape, matched: number, limits: GuardLimits): Guard[] {
  const { field, replaced, emptied, same } = column;
  const guards: Guard[] = [];
  const changed = LOGINS.has(field) ? limits.changed_logins : limits.changed_field;
  const push = (name: 'changed_field' | 'emptied_field' | 'same_value', found: Found, limit: Limit): void => {
    if (found.count > 0) guards.push(over(name, found, most(limit, matched), HINTS[name], field));
  };
  push('changed_field', { count: replaced, examples: column.changes.list }, changed);
  push('emptied_field', { count: emptied, examples: column.clearings.list }, limits.emptied_field);
  push('same_value', same ?? NONE, limits.same_value);
  return guards;
}

/** Values that end at one length, in the middle of a word, were cut by whatever wrote the file. */
function cutGuards({ shape, rows }: PlanNumbers, limits: GuardLimits): Guard[] {
  const limit = most(limits.garbled_text, rows);
  return shape.columns.flatMap(({ field, cut }) =>
    cut.count > limit ? [over('garbled_text', cut, limit, HINTS.cut_text, field)] : [],
  );
}

/** New users are matched to nobody, but they differ in either name, where the file has both. */
function newNameGuards(shape: ShapeTally, { same_value: same }: GuardLimits): Guard[] {
  const limit = most(same, shape.created);
  const isShared = ({ count }: Found): boolean => count > limit;
  const names = shape.sameNames;
  return names
    .filter((found) => isShared(found) && names.every((other) => other.count > 0))
    .map((found) => over('same_value', found, limit, HINTS.same_new_name, found.field));
}

function oldFileGuards(
  { sameFile, undone }: PlanNumbers,
  { same_file: sameBytes, old_file: limit }: GuardLimits,
): Guard[] {
  if (sameFile > sameBytes.rows)
    return [over('old_file', { ...NONE, count: sameFile }, sameBytes.rows, HINTS.same_file)];
  return undone ? [over('old_file', undone, most(limit, undone.of), HINTS.old_file)] : [];
}

/** A guard whose limit a profile has set says so: an operator looks for it in the settings otherwise. */
function naming(profile: string, own: GuardOverrides, guard: Guard): Guard {
  const isOwn = limitNames(guard).some((name) => own[name] !== undefined);
  return isOwn ? { ...guard, hint: `${guard.hint} The limit is that of the profile ${profile}.` } : guard;
}

/** What the limits of a guard are called in a profile. */
function limitNames({ name, field, hint }: Guard): (keyof GuardLimits)[] {
  if (name === 'changed_field') return [LOGINS.has(field ?? '') ? 'changed_logins' : name];
  if (name === 'old_file') return [hint === HINTS.same_file ? 'same_file' : name];
  if (name === 'deactivations' || name === 'reactivations')
    return hint === HINTS[`${name}_week`] ? [name, 'week'] : [name];
  return isLimitName(name) ? [name] : [];
}
