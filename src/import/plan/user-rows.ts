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

/** Returns a row that changes no user. Without errors, the row is unchanged. */
export function createUnwrittenRow(
  { line, external_id, user_uuid }: Pick<StagedRow, 'line' | 'external_id' | 'user_uuid'>,
  before: User | undefined,
  errors: RowError[],
): PlannedRow {
  const outcome = errors.length > 0 ? 'error' : 'unchanged';
  return { row: { ...EMPTY_ROW, line, outcome, external_id, user_uuid, errors }, before, after: undefined };
}

/** Codes of refusals that are not conflicts, because the caller may not make the change. */
const REFUSALS = ['privileged_user', 'self_block', 'insufficient_scope'];

/**
 * Converts the errors of a row of a revert to conflicts, except refusals. The code of a conflict is always `changed_since`
 * (interface §7), so the message contains the reason.
 */
export function toRevertConflicts({ changes }: StagedRow, errors: readonly RowError[]): RowError[] {
  const manager = changes.values['manager_uuid'] as string | null | undefined;
  return errors.map((error) => {
    const { code, field, uuid } = error;
    if (code === 'changed_since' || REFUSALS.includes(code)) return error;
    const other = uuid ?? (field === 'manager_uuid' ? manager : undefined);
    const cause = code === 'precondition_failed' ? 'The user has changed since the plan' : error.message;
    const named =
      uuid === undefined ? `cannot be user ${other} again, who ${cause}` : `belongs to user ${uuid}`;
    const message = `${other ? named : cause}, so this row is not reverted. Resolve the conflict, then undo the change manually`;
    return { ...error, code: 'changed_since', message, ...(other && { uuid: other }) };
  });
}

/** Returns the planned row, or a failed row if the actor is not allowed to make its change. */
export function rejectForbiddenRow(planned: PlannedRow, actor: Actor): PlannedRow {
  const { row, before, after } = planned;
  const refused = after
    ? findForbiddenChange(actor, before, after)
    : row.outcome === 'deleted' && before && findForbiddenDeletion(actor, before);
  return refused ? createUnwrittenRow(row, before, [refused]) : planned;
}

const findForbiddenDeletion = (actor: Actor, user: User) =>
  isResponsibleFor(actor, user.uuid) ? SELF_DELETION : checkPrivilege(actor, user, undefined);
