import { type Actor, isSameActor } from '../../access/actor.js';
import { hasScope } from '../../access/policy.js';
import { Changes } from '../../platform/common/field-changes.js';
import { isObject } from '../../platform/common/json.js';
import type { Guard } from './import-guard.js';
import type { RowError, StagedRow } from './import-row.js';
import { type ImportRun, hasFile } from './import-run.js';
import type { Reason } from './run-states.js';

/** The values of a run that a caller sees: all values, the values that the caller sent, or none (interface §6). */
export type Visibility = 'all' | 'sent' | 'none';

/** Returns the values of a run that an actor sees. Without `users:read`, an actor sees only the file that it sent. */
export function getVisibility(
  actor: Actor,
  run: Pick<ImportRun, 'starter' | 'reverts' | 'bulk'>,
): Visibility {
  if (hasScope(actor, 'users:read')) return 'all';
  return hasFile(run) && isSameActor(run.starter, actor) ? 'sent' : 'none';
}

/** Removes the bulk change of a run that another actor sent, for an actor who may not read users. */
export function hideBulk(run: ImportRun, actor: Actor): ImportRun {
  const isSent = run.reverts === null && isSameActor(run.starter, actor);
  return isSent || hasScope(actor, 'users:read') ? run : { ...run, bulk: null };
}

/** Message that replaces a message with hidden values. */
const HIDDEN = 'has details that only a caller with the scope users:read can read';

/** Removes the hidden values of a row. Its line, outcome, codes and ids remain. */
export function hideInRow<T extends StagedRow>(row: T, visibility: Visibility): T {
  if (visibility === 'all') return row;
  // A missing user is not in the file.
  const isSent = visibility === 'sent' && row.line > 0;
  const changes = row.changes.list.map(({ field, old, new: value }) => {
    return { field, old: null, new: isSent ? omitStoredMembers(old, value) : null };
  });
  return {
    ...row,
    external_id: isSent ? row.external_id : '',
    changes: Changes.fromList(changes),
    errors: row.errors.map((error) => hideInError(error, isSent)),
  };
}

/** Returns the new value of a field. Removes the unchanged members of an object such as `authname`. */
function omitStoredMembers(old: unknown, value: unknown): unknown {
  if (!isObject(old) || !isObject(value)) return value;
  const isChanged = (name: string): boolean => JSON.stringify(value[name]) !== JSON.stringify(old[name]);
  return Object.fromEntries(Object.entries(value).filter(([name]) => isChanged(name)));
}

function hideInError(error: RowError, isSent: boolean): RowError {
  const { field, code, uuid, depends_on_line: line } = error;
  if (isSent && uuid === undefined) return error;
  return { field, code, message: HIDDEN, ...(line !== undefined && { depends_on_line: line }) };
}

/**
 * Adds the detail and the examples to the hint of a guard that has hit. For a caller who may not see the values, removes the values and
 * the names from the examples. Their lines remain.
 */
export function presentGuard({ detail, ...guard }: Guard, visibility: Visibility): Guard {
  if (visibility === 'all') return { ...guard, hint: guard.hint && addValues(guard, detail) };
  const hidden = { external_id: '', name: '', old: null, new: null };
  return { ...guard, examples: guard.examples.map(({ line }) => ({ line, ...hidden })) };
}

function addValues({ hint, examples }: Guard, detail: string | undefined): string {
  const sentence = detail === undefined ? hint : `${detail} ${hint}`;
  const people = examples.map(({ line, name, external_id: id }) =>
    [name || id, ...(line === null ? [] : [`(line ${line})`])].join(' ').trim(),
  );
  return people.length === 0 ? sentence : `${sentence} For example: ${people.join(', ')}.`;
}

/** Lists the reasons why a file was rejected. Their messages may quote the file. */
export function listReasons(reason: Reason | null, visibility: Visibility) {
  const all = reason === null ? [] : [reason, ...(reason.others ?? [])];
  const hidden = visibility === 'none' && { message: HIDDEN };
  const file = { external_id: '', name: '', field: '' };
  return all.map(({ line = null, code, message }) => ({ line, ...file, code, message, ...hidden }));
}
