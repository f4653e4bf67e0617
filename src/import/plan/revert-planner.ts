import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import type { FieldChange } from '../../platform/common/field-changes.js';
import { truncate } from '../../platform/common/text.js';
import { toIso } from '../../platform/common/time.js';
import { EMPTY_USER, type User } from '../../users/model/user.js';
import { applyPatch } from '../../users/rules/user-rules.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import type { ImportRun } from '../runs/import-run.js';
import { MAX_VALUE, type RowError, type StagedRow, isApplied } from '../runs/import-row.js';
import { ROWS_AT_ONCE, type PlanBuilder } from './plan-builder.js';
import { type PlannedRow, patchOf } from './row-rules.js';
import {
  createChangedRow,
  createDeletedRow,
  createRestoredRow,
  createUnwrittenRow,
  rejectForbiddenRow,
} from './user-rows.js';

/**
 * Plans the revert of a run. Restores values that have not changed since the run, and reports other values as conflicts.
 * Restores the users that the run deleted. Deletes the unused users that the run created, and blocks the other created
 * users. The rows of a revert are numbered from 1. A change that the initiator is not allowed to make becomes a conflict.
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
    for await (const page of this.rows.readPages(original.id, ROWS_AT_ONCE)) {
      const applied = page.filter((row) => isApplied(row, original.applied_batches));
      const uuids = applied.flatMap(({ user_uuid }) => user_uuid ?? []);
      const users = await this.directory.findByUuids(uuids);
      const deleted = await this.directory.findRestorable(uuids.filter((uuid) => !users.has(uuid)));
      const planned = applied.map((stored, index) => {
        const uuid = stored.user_uuid ?? '';
        const row = { ...stored, line: builder.tally.rows + index + 1 };
        const restored = planRestore(row, original, users.get(uuid), deleted.get(uuid));
        return rejectForbiddenRow(restored, initiator);
      });
      await builder.addUserRows(planned, total);
    }
  }
}

/** @param deleted the deleted user of the row, as after the restore. */
function planRestore(
  row: StagedRow,
  original: ImportRun,
  user: User | undefined,
  deleted: User | undefined,
): PlannedRow {
  const { line } = row;
  const isAddition = row.outcome === 'created' || row.outcome === 'restored';
  if (row.outcome === 'deleted' && user) return createChangedRow(line, user, user);
  // Each restore increases the version, so only the deletion by the original run left this version.
  if (row.outcome === 'deleted' && deleted?.version === row.version + 1)
    return createRestoredRow(line, deleted);
  if (!user) return createUnwrittenRow(row, user, isAddition ? [] : [createGoneConflict(deleted)]);
  if (isAddition) {
    const use = findUseSince(row, user, original);
    if (!use) return createDeletedRow(line, user);
    // Clears `blocked_by`, so that no import reactivates the user.
    const after = applyPatch(user, { status: 'Blocked', managed_by: null, blocked_by: null });
    return createChangedRow(line, user, after, [use]);
  }
  const now: Record<string, unknown> = { ...user };
  const untouched = row.changes.list.filter((change) => isEqual(now[change.field], change.new));
  // A value that already equals the value before the original run is not a conflict.
  const touched = row.changes.list.filter(
    (change) => !untouched.includes(change) && !isEqual(now[change.field], change.old),
  );
  const errors = touched.map(toConflictError);
  const after = applyPatch(user, patchOf(untouched, 'old'));
  return createChangedRow(line, user, after, errors);
}

/** Returns the conflict of a user who was changed or has signed in since a run added the user, if any. */
function findUseSince(row: StagedRow, user: User, { created }: ImportRun): RowError | undefined {
  const { last_access: access, version, updated } = user;
  const isNew = row.outcome === 'created';
  const hasSignedIn = access !== null && (isNew || access >= created);
  if (!hasSignedIn && version === (isNew ? EMPTY_USER.version : row.version)) return undefined;
  const use = hasSignedIn
    ? `has signed in (last on ${toIso(access)})`
    : `was changed (last on ${toIso(updated)})`;
  const message = `The user ${use} since the import, and is blocked instead of deleted. If the user is not needed, delete the user`;
  return { field: '', code: 'changed_since', message };
}

function createGoneConflict(deleted: User | undefined): RowError {
  const message = deleted
    ? 'The user was deleted since the run, so this row is not reverted. Restore the user on the page Deleted users, and undo other changes manually'
    : 'The user was removed for good and cannot be restored. If the user is still needed, create a new user';
  return { field: '', code: 'changed_since', message };
}

function toConflictError({ field, old }: FieldChange): RowError {
  const value = typeof old === 'string' ? old : JSON.stringify(old ?? '');
  const message =
    'has changed since the import and is not reverted. Set the earlier value manually if it is right';
  return { field, code: 'changed_since', message, value: truncate(value, MAX_VALUE) };
}

function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}
