import { Injectable } from '@nestjs/common';
import { type GuardLimits, limitsOf, type Guard } from '../runs/guard-limits.js';
import {
  type Counts,
  BEFORE_ALL,
  type StagedOutcome,
  type StagedRow,
  isApplied,
} from '../runs/import-row.js';
import { type ImportRun, userScopeOf } from '../runs/import-run.js';
import { COMPLETED } from '../runs/run-states.js';
import { type Found, FoundRows, NO_ROWS } from './column-shape.js';
import { Env } from '../../platform/config/env.js';
import { guardsOf } from './guards.js';
import type { PlanTally } from './plan-tally.js';
import { secondsFrom } from '../../platform/common/time.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { type ChangeSet, IntList, TextNumbers } from '../plan/packed-numbers.js';

const CHANGING: readonly StagedOutcome[] = ['created', 'updated', 'blocked', 'reactivated', 'missing'];
/** Kept by the importer itself. */
const BOOKKEEPING: ReadonlySet<string> = new Set(['managed_by', 'managed_part', 'blocked_by']);
const WEEK_SECONDS = 7 * 24 * 3600;
/** Earlier runs that are looked at. */
const RUNS = 30;
const REVERTS = 20;

/** Rows that are read for the examples of a guard. */
const PAGE_OF_EXAMPLES = 10;

/** What a plan amounts to, once all its rows are planned. */
interface Planned {
  counts: Counts;
  /** Users that the file lacks. */
  missing: number;
  /** Active users of other parts of the data set that the file does not name. */
  elsewhere: number;
  tally: PlanTally;
}

/** What the earlier runs of a data set, or of its part, tell about a new one. */
export interface Past {
  /** The last completed run. */
  last: ImportRun | undefined;
  /** The last completed run that changed a user. */
  lastChanging: ImportRun | undefined;
  /** The file was imported before, and another one since. */
  isOldFile: boolean;
  /** Users that lost or got access by the unapproved runs of the seven days before. */
  week: { deactivations: number; reactivations: number };
  /** Reverts that are in force. */
  reverts: readonly ImportRun[];
}

/** The guards of a plan, from its numbers and its shape and from what the earlier runs of the data set did. */
@Injectable()
export class PlanGuards {
  private readonly limits: GuardLimits;

  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly rows: ImportRowsRepository,
    env: Env,
  ) {
    this.limits = limitsOf(env);
  }

  /** Reads what the guards of a run need to know of the earlier runs of its data set. */
  async past(run: ImportRun): Promise<Past> {
    const { dataset, file_sha256: sha256 } = run;
    const scope = userScopeOf(run);
    const earlier = (await this.runs.inScope(scope, COMPLETED, RUNS)).filter(({ id }) => id !== run.id);
    const [last] = earlier;
    const isOther = last !== undefined && last.file_sha256 !== sha256;
    // From the time of the run, not of this attempt: a second plan counts the same runs.
    const crowd = await this.runs.crowdSince(dataset, secondsFrom(run.created, -WEEK_SECONDS), run.id);
    return {
      last,
      lastChanging: earlier.find((other) => changedUsers(other) > 0),
      isOldFile: isOther && (await this.runs.hasFile(scope, sha256, COMPLETED)),
      week: { deactivations: crowd.blocked, reactivations: crowd.reactivated },
      reverts: await this.runs.revertsIn(dataset, REVERTS),
    };
  }

  /** Evaluates the guards of a plan. */
  async evaluate(
    run: ImportRun,
    past: Past,
    { counts, missing, elsewhere, tally }: Planned,
  ): Promise<Guard[]> {
    const { missing: mode } = run.options;
    const missingBlocked = mode === 'block' ? missing : 0;
    const { last, reverts } = past;
    const written = changedUsers({ counts, missing_blocked: missingBlocked });
    const examples = async (
      outcomes: readonly StagedOutcome[],
      field: string,
      count: number,
    ): Promise<Found> => ({
      count,
      examples: count === 0 ? [] : await this.firstExamples(run.id, outcomes, field),
    });
    const plan = {
      rows: tally.rows,
      errors: counts.error === 0 ? NO_ROWS : await this.newErrors(run, last),
      activeInScope: tally.activeMatched + missing,
      linked: tally.matched + missing,
      matched: tally.matched,
      deactivations: await examples(
        missingBlocked > 0 ? ['blocked', 'missing'] : ['blocked'],
        'status',
        counts.blocked + missingBlocked,
      ),
      reactivations: await examples(['reactivated'], 'status', counts.reactivated),
      week: past.week,
      elsewhere,
      newKeys: await examples(['created'], 'external_id', tally.newKeys),
      lostKeys: missing + tally.clashes,
      shape: tally.shape,
      foreign: Object.assign({}, tally.foreign, { known: knownForeign(last) }),
      lastRows: last?.rows_total ?? null,
      sameFile: past.isOldFile ? written : 0,
      undone: await this.undoneOfLast(past.lastChanging, tally, written - counts.created),
      repeated: reverts.length > 0 && tally.changes ? await this.repeated(reverts, tally.changes) : null,
    };
    return guardsOf(plan, this.limits, mode, run.profile);
  }

  /** A plan that changes fewer than half as many users as the last run cannot undo most of it. */
  private async undoneOfLast(
    last: ImportRun | undefined,
    { changes }: PlanTally,
    changed: number,
  ): Promise<(Found & { of: number }) | null> {
    if (!last || !changes || changed * 2 <= changedUsers(last)) return null;
    return this.undone(last, changes);
  }

  private async repeated(reverts: readonly ImportRun[], changes: ChangeSet): Promise<Found> {
    const found = { count: 0, examples: [...NO_ROWS.examples] };
    for (const revert of changes.isEmpty ? [] : reverts) {
      const { count, examples } = await this.undone(revert, changes);
      found.count += count;
      found.examples.push(...examples);
    }
    return found;
  }

  /** Of the users that an earlier run changed, those for whom a plan has the value again that the run took away. */
  private async undone(earlier: ImportRun, changes: ChangeSet): Promise<Found & { of: number }> {
    const found = new FoundRows();
    let of = 0;
    for (const outcome of CHANGING) {
      for await (const row of this.rows.each(earlier.id, outcome)) {
        const { user_uuid: user, external_id } = row;
        if (user === null || !isApplied(row, earlier.applied_batches) || !changes.remembers(user)) continue;
        of++;
        const back = changedBack(row, (field, value) => changes.lineOf(user, field, value));
        if (back) found.add(() => ({ external_id, ...back }));
      }
    }
    return Object.assign({}, found, { of });
  }

  /** Rows that fail, but for those that failed in the same way in the last completed run. */
  private async newErrors(run: ImportRun, last: ImportRun | undefined): Promise<Found> {
    const known = new TextNumbers();
    const left = new IntList();
    if (last) {
      for await (const row of this.rows.each(last.id, 'error')) {
        const number = known.number(faultOf(row));
        left.set(number, left.at(number) + 1);
      }
    }
    const found = new FoundRows();
    for await (const row of this.rows.each(run.id, 'error')) {
      const number = known.find(faultOf(row));
      if (number > 0 && left.at(number) > 0) {
        left.set(number, left.at(number) - 1);
        continue;
      }
      const { line, external_id, errors } = row;
      found.add(() => ({ line, external_id, old: null, new: errors.map(textOf).join('; ') }));
    }
    return found;
  }

  /** The first rows of some outcomes, as examples of one field. */
  private async firstExamples(
    runId: string,
    outcomes: readonly StagedOutcome[],
    field: string,
  ): Promise<Found['examples']> {
    const found = new FoundRows();
    for (const outcome of outcomes) {
      for (const row of await this.rows.ofOutcome(runId, outcome, BEFORE_ALL, PAGE_OF_EXAMPLES)) {
        const change = row.changes.list.find((one) => one.field === field);
        const { line, external_id } = row;
        if (change)
          found.add(() => ({ line, external_id, old: change.old ?? null, new: change.new ?? null }));
      }
    }
    return found.examples;
  }
}

/** Users of other data sets in the last completed run, which an operator has approved if they were many. */
const knownForeign = (last: ImportRun | undefined): number =>
  last?.guards.find(({ name }) => name === 'foreign_dataset')?.value ?? 0;

/** Users that a run changed or changes. */
function changedUsers({
  counts,
  missing_blocked: missing,
}: Pick<ImportRun, 'counts' | 'missing_blocked'>): number {
  const { created = 0, updated = 0, blocked = 0, reactivated = 0 } = counts ?? {};
  return created + updated + blocked + reactivated + missing;
}

/** A row's change that a plan takes back; the blocking of a user takes back that it was created. */
function changedBack(
  { outcome, changes }: StagedRow,
  lineOf: (field: string, value: unknown) => number | undefined,
): { line: number; old: unknown; new: unknown } | undefined {
  const list = outcome === 'created' ? [{ field: 'status', old: 'Blocked', new: 'Active' }] : changes.list;
  for (const { field, old, new: value } of list) {
    const line = BOOKKEEPING.has(field) ? undefined : lineOf(field, old);
    if (line !== undefined) return { line, old: value ?? null, new: old ?? null };
  }
  return undefined;
}

const textOf = ({ field, code }: StagedRow['errors'][number]): string => `${field}: ${code}`;

/** What is the same where a row fails again in the same way. */
const faultOf = ({ external_id, errors }: StagedRow): string =>
  `${external_id}\0${errors.map(textOf).join('\0')}`;
