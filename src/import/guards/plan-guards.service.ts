import { Injectable } from '@nestjs/common';
import { limitsOf, type Guard } from '../runs/guard-limits.js';
import { type Counts, MIN_LINE, type StagedOutcome, type StagedRow, isApplied } from '../runs/import-row.js';
import { type ImportRun, userScopeOf } from '../runs/import-run.js';
import { COMPLETED } from '../runs/run-states.js';
import { type Found, FoundRows, NO_ROWS } from './column-shape.js';
import { Env } from '../../platform/config/env.js';
import { guardsOf } from './guards.js';
import type { PlanTally } from './plan-tally.js';
import { addSeconds } from '../../platform/common/time.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { IntList, TextNumbers } from '../../users/set-rules/number-collections.js';
import type { PlannedChanges } from '../plan/compact-collections.js';

const CHANGING: readonly StagedOutcome[] = ['created', 'updated', 'blocked', 'reactivated', 'missing'];
const BOOKKEEPING: ReadonlySet<string> = new Set(['managed_by', 'managed_part', 'blocked_by']);
const WEEK_SECONDS = 7 * 24 * 3600;
const RUNS = 30;
const REVERTS = 20;

const PAGE_OF_EXAMPLES = 10;

interface Planned {
  counts: Counts;
  missing: number;
  elsewhere: number;
  tally: PlanTally;
}

/**
 * Earlier runs with which the guards compare a new run. `reverts` covers the whole data set, the other properties only
 * the part of the new run.
 */
export interface Past {
  last: ImportRun | undefined;
  lastChanging: ImportRun | undefined;
  /** Reverts that were not reverted themselves. */
  reverts: readonly ImportRun[];
}

/** Collects the numbers of a plan and of the earlier runs of its data set, and evaluates the guards. */
@Injectable()
export class PlanGuards {
  private readonly limits = limitsOf(this.env);

  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly rows: ImportRowsRepository,
    private readonly env: Env,
  ) {}

  async past(run: ImportRun): Promise<Past> {
    const earlier = await this.runs.listInScope(userScopeOf(run), COMPLETED, RUNS);
    const others = earlier.filter(({ id }) => id !== run.id);
    return {
      last: others[0],
      lastChanging: others.find((other) => changedUsers(other) > 0),
      reverts: await this.runs.listReverts(run.dataset, REVERTS),
    };
  }

  async evaluate(
    run: ImportRun,
    past: Past,
    { counts, missing, elsewhere, tally }: Planned,
  ): Promise<Guard[]> {
    const { id, dataset, file_sha256: sha256 } = run;
    const { missing: mode } = run.options;
    const missingBlocked = mode === 'block' ? missing : 0;
    const { last, lastChanging, reverts } = past;
    const { changes } = tally;
    const changesAccess = counts.blocked + counts.reactivated + missingBlocked > 0;
    const written = changedUsers({ counts, missing_blocked: missingBlocked });
    // The queries for `week` and `sameFile` read all earlier runs, so run them only for plans that they can affect.
    const isOther = written > 0 && last !== undefined && last.file_sha256 !== sha256;
    // A plan that changes at most half as many users as the last run with changes is not compared with it.
    const mayUndo = lastChanging && changes && (written - counts.created) * 2 > changedUsers(lastChanging);
    const blocking: StagedOutcome[] = missingBlocked > 0 ? ['blocked', 'missing'] : ['blocked'];
    const plan = {
      rows: tally.rows,
      errors: counts.error === 0 ? NO_ROWS : await this.newErrors(run, last),
      activeInScope: tally.activeMatched + missing,
      linked: tally.matched + missing,
      matched: tally.matched,
      deactivations: await this.addExamples(counts.blocked + missingBlocked, id, blocking, 'status'),
      reactivations: await this.addExamples(counts.reactivated, id, ['reactivated'], 'status'),
      // Count back from the creation of the run, so that planning it again counts the same earlier runs.
      week: changesAccess
        ? await this.runs.countAccessChangesSince(dataset, addSeconds(run.created, -WEEK_SECONDS), id)
        : { deactivations: 0, reactivations: 0 },
      elsewhere,
      newKeys: await this.addExamples(tally.newKeys, id, ['created'], 'external_id'),
      lostKeys: missing + tally.clashes,
      shape: tally.shape,
      foreign: Object.assign({}, tally.foreign, { known: knownForeign(last) }),
      lastRows: last?.rows_total ?? null,
      sameFile: isOther && (await this.runs.hasFile(userScopeOf(run), sha256, COMPLETED)) ? written : 0,
      undone: mayUndo ? await this.undone(lastChanging, changes) : null,
      repeated: reverts.length > 0 && changes ? await this.repeated(reverts, changes) : null,
    };
    return guardsOf(plan, this.limits, mode, run.profile);
  }

  private async repeated(reverts: readonly ImportRun[], changes: PlannedChanges): Promise<Found> {
    const found = { count: 0, examples: [...NO_ROWS.examples] };
    for (const revert of changes.isEmpty ? [] : reverts) {
      const { count, examples } = await this.undone(revert, changes);
      found.count += count;
      found.examples.push(...examples);
    }
    return found;
  }

  /**
   * Finds users to whom the plan gives back a value that an earlier run replaced. `of` is the number of users whom the
   * earlier run changed.
   */
  private async undone(earlier: ImportRun, changes: PlannedChanges): Promise<Found & { of: number }> {
    const found = new FoundRows();
    let of = 0;
    for (const outcome of CHANGING) {
      for await (const row of this.rows.readAll(earlier.id, outcome)) {
        const { user_uuid: user, external_id } = row;
        if (user === null || !isApplied(row, earlier.applied_batches) || !changes.isSampled(user)) continue;
        of++;
        const back = changedBack(row, (field, value) => changes.findLine(user, field, value));
        if (back) found.add(() => ({ external_id, ...back }));
      }
    }
    return Object.assign({}, found, { of });
  }

  private async newErrors(run: ImportRun, last: ImportRun | undefined): Promise<Found> {
    const known = new TextNumbers();
    const left = new IntList();
    if (last) {
      for await (const row of this.rows.readAll(last.id, 'error')) {
        const number = known.assignNumber(faultOf(row));
        left.set(number, left.at(number) + 1);
      }
    }
    const found = new FoundRows();
    for await (const row of this.rows.readAll(run.id, 'error')) {
      const number = known.findNumber(faultOf(row));
      if (number > 0 && left.at(number) > 0) {
        left.set(number, left.at(number) - 1);
        continue;
      }
      const { line, external_id, errors } = row;
      found.add(() => ({ line, external_id, old: null, new: errors.map(textOf).join('; ') }));
    }
    return found;
  }

  /** Adds the first rows that change a field as examples to a number of rows. */
  private async addExamples(
    count: number,
    runId: string,
    outcomes: readonly StagedOutcome[],
    field: string,
  ): Promise<Found> {
    if (count === 0) return NO_ROWS;
    const found = new FoundRows();
    for (const outcome of outcomes) {
      for (const row of await this.rows.findRows(runId, outcome, MIN_LINE, PAGE_OF_EXAMPLES)) {
        const change = row.changes.list.find((one) => one.field === field);
        const { line, external_id } = row;
        if (change)
          found.add(() => ({ line, external_id, old: change.old ?? null, new: change.new ?? null }));
      }
    }
    return { count, examples: found.examples };
  }
}

/** Returns the number of foreign users in the last completed run. */
const knownForeign = (last: ImportRun | undefined): number =>
  last?.guards.find(({ name }) => name === 'foreign_dataset')?.value ?? 0;

function changedUsers({ counts, missing_blocked }: Pick<ImportRun, 'counts' | 'missing_blocked'>): number {
  const { created = 0, updated = 0, blocked = 0, reactivated = 0 } = counts ?? {};
  return created + updated + blocked + reactivated + missing_blocked;
}

/**
 * Returns the change with which the plan undoes a change of an earlier row, or undefined without such a change.
 * Blocking a user undoes the creation of the user.
 */
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

/** Returns the same key for failed rows with the same ExternalId and the same errors. */
const faultOf = ({ external_id, errors }: StagedRow): string =>
  `${external_id}\0${errors.map(textOf).join('\0')}`;
