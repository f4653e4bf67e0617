import { type Actor, isResponsibleFor } from '../../access/actor.js';
import { Changes } from '../../platform/common/field-changes.js';
import { diffUsers, listRemovedFields, type User } from '../../users/model/user.js';
import { SELF_DELETION } from '../../users/rules/failure.js';
import { checkPrivilege } from '../../users/rules/user-rules.js';
import { EMPTY_ROW, type RowError, type StagedRow, createUserRow } from '../runs/import-row.js';
import { type PlannedRow, findForbiddenChange, outcomeOf } from './row-rules.js';

/**
 * Returns the row of a user who changes, or an unchanged row. A row with errors counts as failed, but its changes are
 * applied.
 */
export function createChangedRow(
  line: number,
  before: User,
  after: User,
  errors: RowError[] = [],
): PlannedRow {
  const changes = Changes.fromList(diffUsers(before, after));
  const change = changes.isEmpty ? 'unchanged' : outcomeOf(before, after);
  const outcome = errors.length > 0 ? 'error' : change;
  return { row: createUserRow(line, outcome, before, { changes, errors }), before, after };
}

export function createDeletedRow(line: number, before: User): PlannedRow {
  const changes = Changes.fromList(listRemovedFields(before));
  return { row: createUserRow(line, 'deleted', before, { changes }), before, after: undefined };
}

/** @param after the user after the restore. */
export function createRestoredRow(line: number, after: User): PlannedRow {
  const changes = Changes.fromList(diffUsers(undefined, after));
  return { row: createUserRow(line, 'restored', after, { changes }), before: undefined, after };
}

/**
 * Returns the row of a user who has no manager after the run because of other rows.
 * @param deleted the deleted manager of the user, or null for a user who is restored without the manager.
 */
export function clearManager(row: StagedRow, deleted: string | null): StagedRow {
  const { list } = row.changes;
  const cleared = { field: 'manager_uuid', old: deleted, new: null };
  const others = list.filter(({ field }) => field !== cleared.field);
  if (deleted !== null && others.length < list.length) return row;
  return { ...row, changes: Changes.fromList(deleted === null ? others : [...list, cleared]) };
}

export function createFailedRow(
  { line, external_id, user_uuid }: Pick<StagedRow, 'line' | 'external_id' | 'user_uuid'>,
  before: User | undefined,
  errors: RowError[],
): PlannedRow {
  const row: StagedRow = { ...EMPTY_ROW, line, outcome: 'error', external_id, user_uuid, errors };
  return { row, before, after: undefined };
}

/** Returns the planned row, or a failed row if the actor is not allowed to make its change. */
export function rejectForbiddenRow(planned: PlannedRow, actor: Actor): PlannedRow {
  const { row, before, after } = planned;
  const refused = after
    ? findForbiddenChange(actor, before, after)
    : row.outcome === 'deleted' && before && findForbiddenDeletion(actor, before);
  return refused ? createFailedRow(row, before, [refused]) : planned;
}

const findForbiddenDeletion = (actor: Actor, user: User) =>
  isResponsibleFor(actor, user.uuid) ? SELF_DELETION : checkPrivilege(actor, user, undefined);
