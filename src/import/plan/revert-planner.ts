import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { Changes, type FieldChange } from '../../platform/common/field-changes.js';
import { truncate } from '../../platform/common/text.js';
import { diffUsers, type User } from '../../users/model/user.js';
import { isSelfBlock, applyPatch, checkPrivilege } from '../../users/rules/user-rules.js';
import { SELF_BLOCK } from '../../users/rules/failure.js';
import { readPages } from '../../platform/database/keyset-pages.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import type { ImportRun } from '../runs/import-run.js';
import { MIN_LINE, type RowError, type StagedRow, isApplied, lineOf, EMPTY_ROW } from '../runs/import-row.js';
import { ROWS_AT_ONCE, type PlanBuilder } from './plan-builder.js';
import { type PlannedRow, outcomeOf, patchOf } from './row-rules.js';

const MAX_VALUE = 200;
const USER_DELETED: RowError = { field: 'uuid', code: 'not_found', message: 'no longer exists' };

/**
 * Plans the revert of a run. Restores values that have not changed since the run, reports other values as conflicts,
 * and blocks users whom the run created. The rows of a revert are numbered from 1.
 */
@Injectable()
export class RevertPlanner {
  constructor(
    private readonly rows: ImportRowsRepository,
    private readonly directory: UserDirectory,
  ) {}

  /**
   * Plans the rows of a revert.
   * @param original the run to revert.
   * @param total number of rows of `original` with changes.
   * @param initiator actor of the revert.
   */
  async plan(original: ImportRun, total: number, builder: PlanBuilder, initiator: Actor): Promise<void> {
    const readRows = (after: number) => this.rows.listPage(original.id, after, ROWS_AT_ONCE);
    for await (const page of readPages(MIN_LINE, lineOf, readRows)) {
      const applied = page.filter(
        (row) => row.outcome !== 'unchanged' && isApplied(row, original.applied_batches),
      );
      const users = await this.directory.findByUuids(applied.flatMap(({ user_uuid }) => user_uuid ?? []));
      const planned = applied.map((row, index) =>
        planUndo({ ...row, line: builder.tally.rows + index + 1 }, users.get(row.user_uuid ?? ''), initiator),
      );
      await builder.addConstraints(planned, true);
      const done = (builder.tally.rows + planned.length) / Math.max(1, total);
      await builder.add(planned, new Set(), Math.min(99, Math.floor(100 * done)));
    }
  }
}

/**
 * Plans how the changes of a row are reverted. A change that the initiator is not allowed to make becomes a conflict.
 */
function planUndo(row: StagedRow, user: User | undefined, initiator: Actor): PlannedRow {
  const planned = planRestore(row, user);
  const { before, after } = planned;
  const blocked = after && isSelfBlock({ actor: initiator }, before, after) ? SELF_BLOCK : undefined;
  const refused = blocked ?? (after && checkPrivilege(initiator, before, after));
  return refused ? createConflictRow(row, user, [refused]) : planned;
}

function planRestore(row: StagedRow, user: User | undefined): PlannedRow {
  if (!user) return createConflictRow(row, undefined, [USER_DELETED]);
  if (row.outcome === 'created') {
    // Clears `blocked_by`, so that no import reactivates the user.
    const after = applyPatch(user, { status: 'Blocked', managed_by: null, blocked_by: null });
    return createRestoredRow(row, user, after, []);
  }
  const now: Record<string, unknown> = { ...user };
  const untouched = row.changes.list.filter((change) => isEqual(now[change.field], change.new));
  // A value that already equals the value before the original run is not a conflict.
  const touched = row.changes.list.filter(
    (change) => !untouched.includes(change) && !isEqual(now[change.field], change.old),
  );
  const errors = touched.map(toConflictError);
  const after = applyPatch(user, patchOf(untouched, 'old'));
  const restoresNone = diffUsers(user, after).length === 0;
  return restoresNone && errors.length > 0
    ? createConflictRow(row, user, errors)
    : createRestoredRow(row, user, after, errors);
}

function createRestoredRow(row: StagedRow, before: User, after: User, errors: RowError[]): PlannedRow {
  const changes = Changes.fromList(diffUsers(before, after));
  const restored = changes.isEmpty ? 'unchanged' : outcomeOf(before, after);
  // A row with a conflict counts as failed, but its values without a conflict are restored.
  const outcome = errors.length > 0 ? 'error' : restored;
  const { line, external_id } = row;
  const { uuid: user_uuid, version } = before;
  return {
    row: { ...EMPTY_ROW, line, outcome, external_id, user_uuid, version, changes, errors },
    before,
    after,
  };
}

function createConflictRow(
  { line, external_id, user_uuid }: StagedRow,
  before: User | undefined,
  errors: RowError[],
): PlannedRow {
  const row: StagedRow = { ...EMPTY_ROW, line, outcome: 'error', external_id, user_uuid, errors };
  return { row, before, after: undefined };
}

function toConflictError({ field, old }: FieldChange): RowError {
  const value = typeof old === 'string' ? old : JSON.stringify(old ?? '');
  const message = 'has changed since the import and is not reverted';
  return { field, code: 'changed_since', message, value: truncate(value, MAX_VALUE) };
}

function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}
