import { type Guard, type GuardLimits, type GuardOverrides, isLimitName } from '../runs/guard-limits.js';
import type { NamedProfile } from '../runs/import-options.js';
import { type ColumnShape, type Found, NO_ROWS, shown } from './column-shape.js';
import type { ShapeTally } from './plan-tally.js';

/** What a hit of a guard usually means, in a sentence for an operator. */
const HINTS = {
  deactivations:
    'Many people would lose access at once: the file may be only a part of the data set, or its Status column wrong.',
  reactivations:
    'Many blocked people would get access again: the file may be an old one, or its Status column wrong.',
  changed_field:
    'Many people get another value in this column: it was exchanged with another one, sorted alone, or filled by mistake.',
  emptied_field: 'Many people lose their value in this column: the source has stopped to deliver it.',
  moved_values:
    'Values move from one person to another: a column has slid by a row, or was sorted without the others.',
  same_value:
    'Most people get one and the same value in a column in which they differed: a default, or a failed look-up.',
  garbled_text:
    'Accents are lost, broken or escaped: the file was saved with another encoding than it is read with (see the option encoding), or for a web page.',
  changed_keys:
    'Many external ids are new while as many are gone: the ids themselves have changed, and people would be created twice.',
  shrunken_file: 'The file has far fewer rows than the last one: the export was cut or filtered.',
  old_file: 'The last import would be undone in large part: the file may be older than the one before it.',
  foreign_dataset: 'Many people belong to another data set: the option dataset may have the wrong name.',
  errors:
    'Many rows fail that did not fail in the same way last time: the format of the source may have changed.',
  after_revert: 'What a revert has undone would be done again: the source still delivers what was wrong.',
} as const;

/** Hints of guards that are hit for another reason than usual. */
const OTHER_HINTS = {
  deactivations_week:
    'Together with the other imports of the last seven days many people lose access: the source may lose them bit by bit.',
  reactivations_week:
    'Together with the other imports of the last seven days many blocked people get access again: look at the source.',
  same_new_name:
    'Most new people share one name: a column was filled with one value, or these are no people.',
  cut_text: 'Values in this column end at one length, in the middle of a word: the source has cut them.',
  same_file: 'A file with exactly these bytes was imported before, and another one since: it is an old file.',
} as const;

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
  /** Rows whose ExternalId no user has: new users, and those that clash with existing ones. */
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

/** A guard passes up to `rows`, or up to a share of a whole where that is more. */
interface Limit {
  rows: number;
  percent: number;
}

/** The fields by which people log in and get rights. */
const LOGINS: ReadonlySet<string> = new Set(['username', 'email', 'authname', 'roles']);

const most = ({ rows, percent }: Limit, of: number): number =>
  Math.floor(Math.max(rows, (of * percent) / 100));

const capped = (limit: Limit & { total: number }, of: number): number =>
  Math.min(limit.total, most(limit, of));

/** A guard over a number and its limit: only more than that is a hit. */
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
 * The guards of a plan (interface §6; ADR 21 has the reasons). Pure.
 * @param profile of the run, whose limits go before the settings.
 */
export function guardsOf(
  plan: PlanNumbers,
  settings: GuardLimits,
  missing: 'keep' | 'report' | 'block',
  profile: Pick<NamedProfile, 'name' | 'guards'> | null = null,
): Guard[] {
  const own = profile?.guards;
  const limits = limitsFor(plan.linked, settings, own);
  const ofDataset = limitsFor(plan.linked + plan.elsewhere, settings, own);
  const guards = evaluateGuards(plan, limits, ofDataset, missing);
  return own ? guards.map((guard) => addProfileHint(profile.name, own, guard)) : guards;
}

/** @param ofDataset the limits for all parts of the data set together. */
function evaluateGuards(
  plan: PlanNumbers,
  limits: GuardLimits,
  ofDataset: GuardLimits,
  missing: 'keep' | 'report' | 'block',
): Guard[] {
  const { shape, matched } = plan;
  const { moved, garbled } = shape;
  const keys = most(limits.changed_keys, plan.linked);
  const lastRows = plan.lastRows ?? 0;
  // One row fewer does not make a file a cut one, however few there were.
  const least = Math.max(
    0,
    Math.min(Math.ceil((lastRows * limits.shrunken_file.percent) / 100), lastRows - 1),
  );
  const foreign = most(limits.foreign_dataset, matched);
  const size = { ...NO_ROWS, count: plan.rows };
  return [
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
      // What an operator has approved for the data set stays approved; only more of it is news.
      plan.foreign.known > foreign ? plan.foreign.known + foreign : foreign,
    ),
    ...(plan.repeated ? [over('after_revert', plan.repeated, limits.after_revert.rows)] : []),
    over('errors', plan.errors, most(limits.errors, plan.rows)),
  ];
}

/**
 * Users that lose or get access: by this run alone among the users of its own scope, and by all runs of the week among
 * those of the whole data set, whatever the parts that its files are.
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

/** Values that end at one length, in the middle of a word, were cut by whatever wrote the file. */
function cutGuards({ shape, rows }: PlanNumbers, limits: GuardLimits): Guard[] {
  const limit = most(limits.garbled_text, rows);
  return shape.columns.flatMap(({ field, cut }) =>
    cut.count > limit ? [over('garbled_text', cut, limit, { hint: OTHER_HINTS.cut_text, field })] : [],
  );
}

/** New users are matched to no user, but they differ in either name, where the file has both. */
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

/** A guard whose limit a profile has set says so: an operator looks for it in the settings otherwise. */
function addProfileHint(profile: string, own: GuardOverrides, guard: Guard): Guard {
  const isOwn = limitNames(guard).some((name) => own[name] !== undefined);
  return isOwn ? { ...guard, hint: `${guard.hint} The limit is that of the profile ${profile}.` } : guard;
}

/** What the limits of a guard are called in a profile. */
function limitNames({ name, field, hint }: Guard): (keyof GuardLimits)[] {
  if (name === 'changed_field') return [LOGINS.has(field ?? '') ? 'changed_logins' : name];
  if (name === 'old_file') return [hint === OTHER_HINTS.same_file ? 'same_file' : name];
  if (name === 'deactivations' || name === 'reactivations')
    return hint === OTHER_HINTS[`${name}_week`] ? [name, 'week'] : [name];
  return isLimitName(name) ? [name] : [];
}

/** Guards whose `rows` a small data set lowers to its own, or to one less. */
const LOWERED = [
  ['deactivations', 0],
  ['moved_values', 0],
  ['changed_keys', 0],
  ['changed_field', 1],
  ['changed_logins', 1],
  ['emptied_field', 1],
] as const;

/**
 * The limits for a data set of some users: of eight people five are a crowd, so the fixed numbers of small ones are lower.
 * The limits of a profile are for its own data set, and hold as they are.
 * @param users that the file names or that its data set manages.
 */
function limitsFor(users: number, settings: GuardLimits, profile: GuardOverrides = {}): GuardLimits {
  const limits = withOverrides(settings, profile);
  const { small_dataset: small } = limits;
  if (users >= small.users) return limits;
  for (const [name, less] of LOWERED) limits[name].rows = Math.min(limits[name].rows, small.rows - less);
  return withOverrides(limits, profile);
}

/** The limits with those of a profile in their place. */
function withOverrides(limits: GuardLimits, overrides: GuardOverrides): GuardLimits {
  const merged = structuredClone(limits);
  for (const [name, limit] of Object.entries<object>(merged))
    Object.assign(limit, Reflect.get(overrides, name));
  return merged;
}
