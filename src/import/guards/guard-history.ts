import { Injectable } from '@nestjs/common';
import { secondsFrom } from '../../platform/common/time.js';
import { type ImportRun, type RunState, userScopeOf } from '../runs/import-run.js';
import { type StagedOutcome, type StagedRow, isChange } from '../runs/import-row.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import type { ChangeSet } from '../plan/change-set.js';
import { IntList, TextNumbers } from '../plan/compact-storage.js';
import { type Found, Examples } from './guard-examples.js';

const COMPLETED: readonly RunState[] = ['completed', 'completed_with_errors'];
const CHANGING: readonly StagedOutcome[] = ['created', 'updated', 'blocked', 'reactivated', 'missing'];
/** Kept by the importer itself. */
const BOOKKEEPING: ReadonlySet<string> = new Set(['managed_by', 'managed_part', 'blocked_by']);
const WEEK_SECONDS = 7 * 24 * 3600;
/** Earlier runs that are looked at. */
const RUNS = 30;
const REVERTS = 20;
const PAGE = 500;
/** Less than every line: missing users have negative ones. */
const BEFORE_ALL = -(2 ** 31);

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

/** Users that a run changed or changes. */
export function changedUsers({ counts, missing }: Pick<ImportRun, 'counts' | 'missing'>): number {
  const { created = 0, updated = 0, blocked = 0, reactivated = 0 } = counts ?? {};
  return created + updated + blocked + reactivated + missing.blocked;
}

/** Reads what the guards of a run need to know of the earlier runs of its data set. */
@Injectable()
export class GuardHistory {
  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly rows: ImportRowsRepository,
  ) {}

  async of(run: ImportRun): Promise<Past> {
    const { dataset, file } = run;
    const scope = userScopeOf(run);
    const earlier = (await this.runs.inScope(scope, COMPLETED, RUNS)).filter(({ id }) => id !== run.id);
    const [last] = earlier;
    const isOther = last !== undefined && last.file.sha256 !== file.sha256;
    // From the time of the run, not of this attempt: a second plan counts the same runs.
    const crowd = await this.runs.crowdSince(dataset, secondsFrom(run.created, -WEEK_SECONDS), run.id);
    return {
      last,
      lastChanging: earlier.find((other) => changedUsers(other) > 0),
      isOldFile: isOther && (await this.runs.hasFile(scope, file.sha256, COMPLETED)),
      week: { deactivations: crowd.blocked, reactivations: crowd.reactivated },
      reverts: await this.runs.revertsIn(dataset, REVERTS),
    };
  }

  /** Of the users that an earlier run changed, those for whom a plan has the value again that the run took away. */
  async undone(earlier: ImportRun, changes: ChangeSet): Promise<Found & { of: number }> {
    const examples = new Examples();
    const sum = { of: 0, count: 0 };
    for (const outcome of CHANGING) {
      for await (const row of this.each(earlier, outcome)) {
        const { userUuid: user, externalId } = row;
        if (user === null || !isApplied(row, earlier) || !changes.remembers(user)) continue;
        sum.of++;
        const back = changedBack(row, (field, value) => changes.lineOf(user, field, value));
        if (!back) continue;
        sum.count++;
        examples.add(() => ({ externalId, ...back }));
      }
    }
    return { ...sum, examples: examples.list };
  }

  /** Rows that fail, but for those that failed in the same way in the last completed run. */
  async newErrors(run: ImportRun, last: ImportRun | undefined): Promise<Found> {
    const known = new TextNumbers();
    const left = new IntList();
    if (last) {
      for await (const row of this.each(last, 'error')) {
        const number = known.number(faultOf(row));
        left.set(number, left.at(number) + 1);
      }
    }
    const examples = new Examples();
    let count = 0;
    for await (const row of this.each(run, 'error')) {
      const number = known.find(faultOf(row));
      if (number > 0 && left.at(number) > 0) {
        left.set(number, left.at(number) - 1);
        continue;
      }
      count++;
      const { line, externalId, errors } = row;
      examples.add(() => ({ line, externalId, old: null, new: errors.map(textOf).join('; ') }));
    }
    return { count, examples: examples.list };
  }

  /** The first rows of some outcomes, as examples of one field. */
  async first(runId: string, outcomes: readonly StagedOutcome[], field: string): Promise<Found['examples']> {
    const examples = new Examples();
    for (const outcome of outcomes) {
      for (const row of await this.rows.ofOutcome(runId, outcome, BEFORE_ALL, PAGE_OF_EXAMPLES)) {
        const change = row.changes.list.find((one) => one.field === field);
        const { line, externalId } = row;
        if (change)
          examples.add(() => ({ line, externalId, old: change.old ?? null, new: change.new ?? null }));
      }
    }
    return examples.list;
  }

  private async *each(run: ImportRun, outcome: StagedOutcome): AsyncGenerator<StagedRow> {
    let after = BEFORE_ALL;
    for (;;) {
      const rows = await this.rows.ofOutcome(run.id, outcome, after, PAGE);
      yield* rows;
      const last = rows.at(-1);
      if (!last) return;
      after = last.line;
    }
  }
}

const PAGE_OF_EXAMPLES = 10;

const isApplied = (row: StagedRow, { appliedBatches }: ImportRun): boolean =>
  isChange(row) && row.batch > 0 && row.batch <= appliedBatches;

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
const faultOf = ({ externalId, errors }: StagedRow): string =>
  `${externalId}\0${errors.map(textOf).join('\0')}`;
