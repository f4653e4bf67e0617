import type { Actor } from '../../access/actor.js';
import { Changes, type FieldChange } from '../../platform/common/field-changes.js';
import { unescapeFormula } from '../../platform/common/csv.js';
import { readInput } from '../../platform/input/read-input.js';
import { truncate } from '../../platform/common/text.js';
import { SELF_BLOCK } from '../../users/rules/failure.js';
import {
  type UserPatch,
  isSelfBlock,
  createEmptyUser,
  checkPrivilege,
  validateChange,
} from '../../users/rules/user-rules.js';
import { diffUsers, type User } from '../../users/model/user.js';
import type { UserSettings } from '../../users/rules/user-settings.js';
import { NewUserInput, UserInput } from '../../users/rules/user.input.js';
import type { UserScope } from '../../users/search/user-scope.js';
import { COLUMNS } from '../file/columns.js';
import type { FileRow, RowKeys } from '../file/file-row.js';
import type { DamagedCell } from '../file/record-parser.js';
import type { Header } from '../file/run-files.js';
import type { ImportOptions } from '../runs/import-options.js';
import {
  type RowOutcome,
  type RowError,
  type StagedRow,
  EMPTY_ROW,
  MAX_VALUE,
  createUserRow,
  formatName,
} from '../runs/import-row.js';
import { hasUnlikeName } from './name-likeness.js';
import { isBrokenForm } from './text-damage.js';

export interface RowContext {
  options: ImportOptions;
  scope: UserScope;
  settings: UserSettings;
  initiator: Actor;
  before: User | undefined;
  /** Deleted user with the ExternalId of the row, unless a revert of this data set deleted the user. */
  deleted?: User | undefined;
  uuid: string;
  /** UUID of the manager. Null if the row removes the manager, undefined if it does not change the manager. */
  manager: string | null | undefined;
  /** True if an operator confirmed that the user whom the row adopts is the same person. */
  isConfirmed?: boolean;
  /** True if another row of the file takes over the user of this row (`adopt_rows`). */
  isTakenOver?: boolean | undefined;
}

/**
 * A planned row, with its user before and after the change. `before` is undefined for a new user. `after` is undefined
 * if the row fails or is skipped.
 */
export interface PlannedRow {
  row: StagedRow;
  before: User | undefined;
  after: User | undefined;
}

const WRONG_ENCODING = {
  code: 'broken_character',
  message: 'is the value of the user in a wrong encoding; export the file again as UTF-8',
};
/** Warning for a user who stays blocked, because this data set did not block the user. */
const BLOCKED_ELSEWHERE: RowError = {
  field: 'status',
  code: 'blocked_elsewhere',
  message:
    'stays Blocked, because no import of this data set blocked the user. If the user should be active, reactivate the user manually',
};
/** Warning for a user whom the row would reactivate, but who stays blocked because of the options. */
const RETURNED: RowError = {
  field: 'status',
  code: 'returned',
  message: 'stays Blocked, because the options returning and mode of this import do not reactivate users',
};
/** Addition to the message of an invalid status. Most sources use words of their own. */
const STATUS_HINT = '; correct the cell, or translate this word in the values of the profile';
const TAKEN_OVER: RowError = {
  field: 'external_id',
  code: 'duplicate',
  message: 'belongs to a user whom another row of this file takes over; remove one of the two rows',
};
const EPOCH = '1970-01-01 00:00:00.000';

/** Plans a row by the rules of the API and of imports. Ignores the other rows of the file. */
export function planRow(row: FileRow, context: RowContext): PlannedRow {
  const { options, scope, before } = context;
  const errors = findKeyErrors(row, context);
  if (errors.length > 0) return createPlannedRow(row, context, 'error', { errors });
  if (!before && context.deleted)
    return createPlannedRow(row, context, 'skipped', { errors: [toDeletedReason(row, context.deleted)] });
  if (before && options.mode === 'create_only') {
    const warnings = evaluateReturningUser(row.raw['status'], before, options);
    return createPlannedRow(row, context, 'skipped', { errors: warnings === 'reactivate' ? [] : warnings });
  }
  if (!before && options.mode === 'update_only') return createPlannedRow(row, context, 'skipped', {});
  const sent = { ...row.raw };
  if (!before && sent['roles'] === undefined && options.default_roles) sent['roles'] = options.default_roles;
  const conflict = before && !context.isConfirmed && findAdoptionConflict(row, before, options.adopt);
  if (conflict)
    return createPlannedRow(row, { ...context, before: undefined }, 'error', { errors: [conflict] });
  // The input never contains a password, because `columns.ts` defines no column for passwords.
  const { value, errors: broken } = readInput<UserInput>(before ? UserInput : NewUserInput, sent);
  const current = before ?? createEmptyUser(context.uuid, EPOCH);
  if (context.manager !== undefined) value.manager_uuid = context.manager;
  const managed = { managed_by: scope.dataset, managed_part: scope.part };
  const returned = before ? evaluateReturningUser(value.status, before, options) : [];
  const isOwnBlock =
    value.status === 'Blocked' && (before?.status !== 'Blocked' || before.blocked_by === scope.dataset);
  if (isOwnBlock) Object.assign(value, { blocked_by: scope.dataset });
  // A user without a data set would count as blocked as missing.
  if (!before || (isOwnBlock && before.managed_by === null)) Object.assign(value, managed);
  if (before?.status === 'Blocked') delete value.status;
  if (returned === 'reactivate') value.status = 'Active';
  const { errors: all, after } = validateChange(current, { value, errors: broken }, context.settings);
  const lost = findDamageErrors(row, context);
  const others = all.filter((error) => !lost.some(({ field }) => field === error.field));
  const errorsOfRow = [...lost, ...others.map((error) => toRowError(error, row))];
  if (errorsOfRow.length > 0) return createPlannedRow(row, context, 'error', { errors: errorsOfRow });

  const refused = findForbiddenChange(context.initiator, before, after);
  if (refused) return createPlannedRow(row, context, 'error', { errors: [refused] });
  const changes = diffUsers(before, after);
  if (!before)
    return createPlannedRow(row, context, 'created', { after, changes: Changes.fromList(changes) });
  const warnings = returned === 'reactivate' ? [] : returned;
  if (changes.length === 0) return createPlannedRow(row, context, 'unchanged', { after, errors: warnings });
  const owned = canManage(scope, after) ? { ...after, ...managed } : after;
  return createPlannedRow(row, context, outcomeOf(before, after), {
    after: owned,
    changes: Changes.fromList(diffUsers(before, owned)),
    errors: warnings,
  });
}

/**
 * Returns true if the data set of an import may manage a user. A user who stays blocked as missing has no data set, which
 * tells this block from a block by Status.
 */
export function canManage({ dataset }: UserScope, user: User): boolean {
  return user.managed_by === dataset || (user.managed_by === null && !isBlockedAsMissing(user));
}

/** Returns true if an import blocked the user because its file lacked the user. */
export function isBlockedAsMissing({ blocked_by, managed_by }: User): boolean {
  return blocked_by !== null && managed_by === null;
}

/**
 * Decides if a row reactivates its blocked user (interface §6, "Leavers and returners"). A file lifts only a block of its
 * own data set. Without a status, it lifts the block only if the user was blocked as missing.
 * @returns `reactivate`, or the warnings of the row if the user keeps the status.
 */
function evaluateReturningUser(
  status: unknown,
  before: User,
  { dataset, mode, returning }: ImportOptions,
): 'reactivate' | RowError[] {
  if (before.status === 'Active' || status === 'Blocked') return [];
  if (before.blocked_by !== dataset) return [BLOCKED_ELSEWHERE];
  const isStated = status !== undefined && status !== null;
  if (!isStated && !isBlockedAsMissing(before)) return [];
  return mode === 'create_only' || (returning === 'report' && !isStated) ? [RETURNED] : 'reactivate';
}

export function createUnchangedRow({ line, externalId: external_id }: RowKeys, user: User): PlannedRow {
  return { row: createUserRow(line, 'unchanged', user, { external_id }), before: user, after: user };
}

/** Returns an error if the actor is not allowed to make the change. */
export const findForbiddenChange = (actor: Actor, before: User | undefined, after: User) =>
  isSelfBlock({ actor }, before, after) ? SELF_BLOCK : checkPrivilege(actor, before, after);

export function outcomeOf(before: User, after: User): RowOutcome {
  if (before.status === after.status) return 'updated';
  return after.status === 'Blocked' ? 'blocked' : 'reactivated';
}

export function patchOf(changes: readonly FieldChange[], side: 'old' | 'new'): UserPatch {
  const other = side === 'new' ? 'old' : 'new';
  const fields = changes.map((change) => [
    change.field,
    toPatchValue(change.field, change[side], change[other]),
  ]);
  return Object.fromEntries(fields) as UserPatch;
}

/** Returns the value of a field in a patch. A patch merges objects, so removed members need empty values. */
function toPatchValue(field: string, value: unknown, otherValue: unknown): unknown {
  if (field !== 'authname' && field !== 'social_media') return value === '' ? null : value;
  const removed = Object.keys(otherValue ?? {}).map((member) => [member, field === 'authname' ? [] : '']);
  return { ...Object.fromEntries(removed), ...(value ?? {}) };
}

function findKeyErrors(row: FileRow, context: RowContext): RowError[] {
  if (row.externalId === '') {
    return [{ field: 'external_id', code: 'required', message: 'is required to match rows to users' }];
  }
  if (context.isTakenOver) return [TAKEN_OVER];
  return findDamageErrors(row, context).filter(({ field }) => field === 'external_id');
}

/** Returns the errors of damaged cells. A cell with the current value of the user is not an error. */
function findDamageErrors(row: FileRow, context: RowContext): RowError[] {
  const { before, manager } = context;
  const isCurrentValue = ({ column, cell }: DamagedCell): boolean => {
    if (!before) return false;
    return column.kind === 'manager' ? manager === before.manager_uuid : column.toCell(before, '') === cell;
  };
  const damaged = row.damaged.filter((one) => !isCurrentValue(one)).map(({ error }) => error);
  return before ? [...damaged, ...findBrokenForms(row, before)] : damaged;
}

/** Returns the errors of cells that contain a value of the user in a wrong encoding. */
function findBrokenForms(row: FileRow, before: User): RowError[] {
  const broken = COLUMNS.filter(({ kind, field, toCell }) => {
    const cell = row.cells.get(field);
    return cell !== undefined && kind !== 'manager' && isBrokenForm(toCell(before, ''), cell.trim());
  });
  return broken.map(({ field }) => toRowError({ field, ...WRONG_ENCODING }, row));
}

/** Returns an error if the row would adopt a user with another name. */
function findAdoptionConflict(row: FileRow, before: User, field: string): RowError | undefined {
  const getName = (name: 'firstname' | 'surname'): string => row.cells.get(name) ?? '';
  const names = { firstname: getName('firstname'), surname: getName('surname') };
  if (before.external_id !== '' || !hasUnlikeName(before, names)) return undefined;
  const { uuid } = before;
  const message = `belongs to user ${uuid}, who has another name. If this is the same person, link the row to that user (option adopt_rows)`;
  return { ...toRowError({ field, code: 'unlinked_conflict', message }, row), uuid };
}

/** Returns the reason why the row of a deleted user is skipped. */
function toDeletedReason(row: FileRow, user: User): RowError {
  const message = `belongs to ${describeDeletedUser(user)}`;
  const reason = toRowError({ field: 'external_id', code: 'deleted_elsewhere', message }, row);
  return { ...reason, uuid: user.uuid };
}

const describeDeletedUser = (user: User): string =>
  `the deleted user ${user.username} (${formatName(user)}, ${user.uuid}). To restore the user, open Deleted users in the console or run rollcall users restore ${user.uuid}`;

/**
 * Adds the reason why a manager is unknown to an error.
 * @param line line of the manager, who is in the same file but is not imported, or 0.
 */
export function explainUnknownManager(error: RowError, line: number, deleted: User | undefined): RowError {
  if (error.code !== 'unknown_reference') return error;
  const row = line === 0 ? '' : `; the row of this manager (line ${line}) is not imported`;
  const user = deleted ? `; correct the file, which names ${describeDeletedUser(deleted)}` : '';
  return {
    ...error,
    message: error.message + row + user,
    ...(line !== 0 && { depends_on_line: line }),
    ...(deleted && { uuid: deleted.uuid }),
  };
}

function toRowError({ field, code, message }: Omit<RowError, 'value' | 'uuid'>, row: FileRow): RowError {
  const value = row.cells.get(field.split('.')[0] ?? field);
  const hint = field === 'status' ? STATUS_HINT : '';
  return {
    field,
    code,
    message: message + hint,
    ...(value !== undefined && { value: truncate(value, MAX_VALUE) }),
  };
}

function hasSameRoles(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((role) => b.includes(role));
}

function createPlannedRow(
  fileRow: FileRow,
  { before, uuid }: RowContext,
  outcome: RowOutcome,
  { after, ...details }: { after?: User; changes?: StagedRow['changes']; errors?: RowError[] },
): PlannedRow {
  const row = {
    ...EMPTY_ROW,
    line: fileRow.line,
    outcome,
    external_id: truncate(fileRow.externalId, 255),
    user_uuid: before?.uuid ?? (outcome === 'created' ? uuid : null),
    version: before?.version ?? 0,
    ...details,
  };
  return { row, before, after };
}

/**
 * Returns true if every cell of a row equals the exported cell of its user. Such a row skips the rules, which saves
 * time in large files.
 * @param manager UUID of the manager in the row, or null for no manager.
 */
export function isUnchangedRow(
  cells: readonly string[],
  header: Header,
  user: User,
  manager: string | null | undefined,
  blankCells: 'clear' | 'keep',
): boolean {
  return header.every((column, index) => {
    if (!column) return true;
    const cell = unescapeFormula(cells[index] ?? '');
    if (cell === '' && (column.ignoresBlank || blankCells === 'keep')) return true;
    if (column.kind === 'manager') return manager === user.manager_uuid;
    const stored = column.toCell(user, '');
    if (cell === stored || column.toStored?.(cell) === stored) return true;
    return column.kind === 'roles' && hasSameRoles(user.roles, cell.split(/[;|]/));
  });
}
