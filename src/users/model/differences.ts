import { CHANGEABLE, type User } from './user.js';

/** One field's difference, as an audit row keeps it. A secret is named without its values. */
export interface FieldChange {
  field: string;
  old?: unknown;
  new?: unknown;
}

/** The fields in which two states of a user differ; from nothing, the fields that are set. */
export function differences(before: User | undefined, after: User): FieldChange[] {
  return CHANGEABLE.filter((field) => !same(before?.[field] ?? empty(after[field]), after[field])).map(
    (field) =>
      field === 'password_hash'
        ? { field: 'password' }
        : { field, old: before?.[field] ?? null, new: after[field] },
  );
}

/** Field values are scalars, lists and objects of lists; the order of an object's keys says nothing. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  return JSON.stringify(ordered(a)) === JSON.stringify(ordered(b));
}

function ordered(value: object): unknown {
  if (Array.isArray(value)) return value;
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}

function empty(value: unknown): unknown {
  if (typeof value === 'string') return '';
  if (typeof value === 'boolean') return false;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? {} : null;
}
