import type { FieldChange } from '../../platform/common/field-changes.js';
import { isObject } from '../../platform/common/json.js';
import type { StagedRow } from '../runs/import-row.js';

/** Fields that the importer itself sets, or that have no column. */
const BOOKKEEPING = new Set(['managed_by', 'managed_part', 'blocked_by', 'external_id', 'password']);
/** Columns with guards of their own, which the general column guards skip. */
export const GUARDED_ELSEWHERE: ReadonlySet<string> = new Set(['status', 'roles']);
export const LOGINS: readonly string[] = ['username', 'email', 'authname'];
export const NAMES: readonly string[] = ['firstname', 'surname', 'middle_name', 'known_as'];

/** Returns the changed columns of an existing user in the file. Each social network is a separate column. */
export function listChangedColumns(row: StagedRow): readonly FieldChange[] {
  return row.outcome === 'created' || row.outcome === 'missing' ? [] : listColumns(row);
}

/** Returns the changed columns of a user, or the filled columns of a new user. */
export function listColumns({ changes }: StagedRow): readonly FieldChange[] {
  return changes.list.flatMap((change) => {
    if (BOOKKEEPING.has(change.field)) return [];
    if (change.field !== 'social_media') return [change];
    const [old, now] = [membersOf(change.old), membersOf(change.new)];
    return [...new Set([...Object.keys(old), ...Object.keys(now)])]
      .filter((member) => old[member] !== now[member])
      .map((member) => ({ field: `social_media.${member}`, old: old[member] ?? '', new: now[member] ?? '' }));
  });
}

const membersOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

export function isFilled(value: unknown): boolean {
  if (value === '' || value === null || value === undefined) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** Returns true if a change replaces a value by another value, without a change from or to an empty value. */
export const isReplaced = ({ old, new: now }: FieldChange): boolean =>
  typeof now !== 'boolean' && isFilled(old) && isFilled(now);

export const toText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? '');

/** Returns the texts of a login. An authname has a list of texts for each provider. */
export const listTexts = (value: unknown): unknown[] =>
  isObject(value) ? Object.values(value).flat() : [value];

export const isStringArray = (value: unknown): value is string[] => Array.isArray(value);
