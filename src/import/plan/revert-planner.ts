import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/actor.js';
import { Changes, type FieldChange } from '../../platform/common/changes.js';
import { truncated } from '../../platform/common/text.js';
import { differences, type User } from '../../users/model/user.js';
import { blocksSelf, patched, privilegeFailure } from '../../users/rules/user-rules.js';
import { SELF_BLOCK } from '../../users/rules/failure.js';
import { UserDirectory } from '../../users/search/user-directory.service.js';
import { ImportRowsRepository } from '../runs/import-rows.repository.js';
import type { ImportRun } from '../runs/import-run.js';
import { BEFORE_ALL, type RowError, type StagedRow, isChange, stagedRow } from '../runs/import-row.js';
import { ROWS_AT_ONCE, type PlanBuilder } from './plan-builder.js';
import { type PlannedRow, outcomeOf, patchOf } from './row-rules.js';

/** Longest piece of a value that a conflict shows. */
const MAX_VALUE = 200;

/**
 * Plans the undoing of a run: values that it changed and that nobody has changed since are restored, users that it
 * created are blocked, and what was changed since is reported as a conflict. Its rows are numbered from 1.
 */
@Injectable()
export class RevertPlanner {
  constructor(
    private readonly rows: ImportRowsRepository,
    private readonly directory: UserDirectory,
  ) {}

  /** @param original the run to undo. @param total its rows that changed something. @param initiator of the revert. */
  async plan(original: ImportRun, total: number, builder: PlanBuilder, initiator: Actor): Promise<void> {
    let after = BEFORE_ALL;
    for (;;) {
      const page = await this.rows.page(original.id, after, ROWS_AT_ONCE);
      const applied = page.filter(
        (row) =>
          isChange(row) &&
          row.outcome !== 'unchanged' &&
          row.batch > 0 &&
          row.batch <= original.applied_batches,
      );
      const users = await this.directory.byUuids(applied.flatMap(({ user_uuid }) => user_uuid ?? []));
      const judged = applied.map((row, index) =>
        undo({ ...row, line: builder.tally.rows + index + 1 }, users.get(row.user_uuid ?? ''), initiator),
      );
      await builder.claim(judged, true);
      const percent = Math.min(
        99,
        Math.floor(((builder.tally.rows + judged.length) / Math.max(1, total)) * 100),
      );
      await builder.add(judged, new Set(), percent);
      const last = page.at(-1);
      if (!last) return;
      after = last.line;
    }
  }
}

/** Undone is what the writer would let the initiator do. */
function undo(row: StagedRow, user: User | undefined, initiator: Actor): PlannedRow {
  const planned = undone(row, user);
  const { before, after } = planned;
  const blocked = after && blocksSelf({ actor: initiator }, before, after) ? SELF_BLOCK : undefined;
  const refused = blocked ?? (after && privilegeFailure(initiator, before, after));
  return refused ? conflict(row, user, [refused]) : planned;
}

function undone(row: StagedRow, user: User | undefined): PlannedRow {
  if (!user)
    return conflict(row, undefined, [{ field: 'uuid', code: 'not_found', message: 'is no user any more' }]);
  if (row.outcome === 'created') return blockCreated(row, user);
  const now: Record<string, unknown> = { ...user };
  const untouched = row.changes.list.filter((change) => same(now[change.field], change.new));
  // What somebody has restored already is no conflict.
  const touched = row.changes.list.filter(
    (change) => !untouched.includes(change) && !same(now[change.field], change.old),
  );
  const errors = touched.map(changedSince);
  const after = patched(user, patchOf(untouched, 'old'));
  if (differences(user, after).length === 0)
    return errors.length > 0 ? conflict(row, user, errors) : staged(row, user, user, errors);
  return staged(row, user, after, errors);
}

function blockCreated(row: StagedRow, user: User): PlannedRow {
  return staged(row, user, patched(user, { status: 'Blocked', managed_by: null }), []);
}

function staged(row: StagedRow, before: User, after: User, errors: RowError[]): PlannedRow {
  const changes = Changes.of(differences(before, after));
  const restored = changes.isEmpty ? 'unchanged' : outcomeOf(before, after);
  // A row with a conflict counts as failed, and the rest of it is restored nonetheless.
  const outcome = errors.length > 0 ? 'error' : restored;
  const { line, external_id } = row;
  const { uuid: user_uuid, version } = before;
  return {
    row: stagedRow({ line, outcome, external_id, user_uuid, version, changes, errors }),
    before,
    after,
  };
}

function conflict(
  { line, external_id, user_uuid }: StagedRow,
  before: User | undefined,
  errors: RowError[],
): PlannedRow {
  return {
    row: stagedRow({ line, outcome: 'error', external_id, user_uuid, errors }),
    before,
    after: undefined,
  };
}

/** `value`: what the revert would have restored. */
function changedSince({ field, old }: FieldChange): RowError {
  const value = typeof old === 'string' ? old : JSON.stringify(old ?? '');
  const message = 'was changed by another request since, and stays';
  return { field, code: 'changed_since', message, value: truncated(value, MAX_VALUE) };
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}
