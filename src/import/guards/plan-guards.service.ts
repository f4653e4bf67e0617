import { Injectable } from '@nestjs/common';
import type { GuardLimits } from '../runs/guard-limits.js';
import type { Counts, Guard, ImportRun } from '../runs/import-run.js';
import type { Found } from './guard-examples.js';
import { GuardHistory, type Past, changedUsers } from './guard-history.js';
import { GuardSettings } from './guard-settings.js';
import { guardsOf } from './guards.js';
import type { PlanTally } from '../plan/plan-tally.js';

/** What a plan amounts to, once all its rows are judged. */
export interface Planned {
  counts: Counts;
  /** Users that the file lacks. */
  missing: number;
  /** Active users of other parts of the data set that the file does not name. */
  elsewhere: number;
  tally: PlanTally;
}

const NONE: Found = { count: 0, examples: [] };

/** The guards of a plan, from its numbers and its shape and from what the earlier runs of the data set did. */
@Injectable()
export class PlanGuards {
  private readonly limits: GuardLimits;

  constructor(
    private readonly history: GuardHistory,
    settings: GuardSettings,
  ) {
    this.limits = settings.limits;
  }

  async of(run: ImportRun, past: Past, { counts, missing, elsewhere, tally }: Planned): Promise<Guard[]> {
    const { missing: mode } = run.options;
    const missingBlocked = mode === 'block' ? missing : 0;
    const { last } = past;
    const written = changedUsers({ counts, missing: { reported: 0, blocked: missingBlocked } });
    const examples = async (
      outcomes: Parameters<GuardHistory['first']>[1],
      field: string,
      count: number,
    ): Promise<Found> => ({
      count,
      examples: count === 0 ? [] : await this.history.first(run.id, outcomes, field),
    });
    const plan = {
      rows: tally.rows,
      errors: await this.errors(run, last, counts.error),
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
      foreign: { count: tally.foreign, examples: tally.foreignRows.list, known: knownForeign(last) },
      lastRows: last?.rowsTotal ?? null,
      sameFile: past.isOldFile ? written : 0,
      undone: await this.undone(past.lastChanging, tally, written - counts.created),
      repeated: await this.repeated(past, tally),
    };
    return guardsOf(plan, this.limits, mode, run.profile);
  }

  /** Errors are compared with those of the last run only where they are many. */
  private async errors(run: ImportRun, last: ImportRun | undefined, count: number): Promise<Found> {
    return count === 0 ? NONE : this.history.newErrors(run, last);
  }

  /** A plan that changes fewer than half as many users as the last run cannot undo most of it. */
  private async undone(
    last: ImportRun | undefined,
    { changes }: PlanTally,
    changed: number,
  ): Promise<(Found & { of: number }) | null> {
    if (!last || !changes || changed * 2 <= changedUsers(last)) return null;
    return this.history.undone(last, changes);
  }

  private async repeated({ reverts }: Past, { changes }: PlanTally): Promise<Found | null> {
    if (reverts.length === 0 || !changes) return null;
    const found = { count: 0, examples: [...NONE.examples] };
    for (const revert of changes.isEmpty ? [] : reverts) {
      const { count, examples } = await this.history.undone(revert, changes);
      found.count += count;
      found.examples.push(...examples);
    }
    return found;
  }
}

/** Users of other data sets in the last completed run, which an operator has approved if they were many. */
const knownForeign = (last: ImportRun | undefined): number =>
  last?.guards.find(({ name }) => name === 'foreign_dataset')?.value ?? 0;
