import type { FieldChange } from '../../platform/common/field-changes.js';
import { getOrCreate } from '../../platform/common/maps.js';
import type { StagedRow } from '../runs/import-row.js';
import { FoundRows } from './found-rows.js';
import type { Plan } from './plan.js';

/** Limits of a guard by name. Each number is the highest number that passes. */
export type Limits = Readonly<Record<string, number>>;

/** Number that a guard has counted, with its limit. The guard hits if the number is over the limit. */
export interface Finding {
  field?: string | null;
  found: Pick<FoundRows, 'count' | 'examples'>;
  /** Overrides the limit that is computed from `rows` and `percent`. */
  limit?: number | undefined;
  /** Common property of the found rows. It precedes the hint of the guard. */
  detail?: string;
}

/** Counts the staged rows of one plan for one guard. */
export interface GuardCounter {
  /**
   * Counts a row that has not failed, or a missing user.
   * @param changes changed columns of an existing user in the file. Each social network is a separate column.
   */
  add?(row: StagedRow, changes: readonly FieldChange[]): void;
  finish(): readonly Finding[] | Promise<readonly Finding[]>;
}

/** The set of users, rows or values to which the percentage limit of a guard refers. */
export interface Population {
  /** Text for the documents. */
  text: string;
  count: (plan: Plan, field: string) => number;
}
export const ALL_ROWS: Population = { text: 'the rows', count: ({ rows }) => rows };
export const MATCHED_ROWS: Population = { text: 'the matched rows', count: ({ users }) => users.count };
export const SCOPE: Population = { text: 'the scope', count: ({ scope }) => scope.users };
export const USERS_WITH_VALUE: Population = {
  text: 'the users who had a value',
  count: ({ users }, field) => users.columns.get(field)?.filled ?? 0,
};

/** A guard of imports (interface §6). The settings, profiles and documents derive from these definitions. */
export interface GuardDefinition<L extends Limits = Limits> {
  name: string;
  /** Text for the documents: the counted rows. */
  counts: string;
  population: Population;
  /** Default limits. `rows` and `percent` form one limit, and the greater of the two applies. */
  limits: L;
  /** True if the counts of the last 30 days are added up ("Little by little"). */
  isSummed?: true;
  /** Guards that need no sentence of their own if this guard has hit, or `all`. */
  explains: readonly string[] | 'all';
  /** Usual reason why the guard hits, and what to do. */
  hint: string;
  start(plan: Plan, limits: L): GuardCounter;
}

export const defineGuard = <L extends Limits>(guard: GuardDefinition<L>): GuardDefinition<L> => guard;

export const computeLimit = ({ rows = 0, percent = 0 }: Limits, total: number): number =>
  Math.floor(Math.max(rows, (total * percent) / 100));

/**
 * Creates a counter of rows.
 * @param find returns the change to show as an example, or undefined to skip the row.
 * @param limit limit of the counter, if it is not the limit of `rows` and `percent`.
 */
export function countRows(
  find: (row: StagedRow, changes: readonly FieldChange[]) => Omit<FieldChange, 'field'> | undefined,
  limit?: number,
): GuardCounter {
  const found = new FoundRows();
  return {
    add(row, changes) {
      const change = find(row, changes);
      if (change) found.add(row, change);
    },
    finish: () => [{ found, limit }],
  };
}

/**
 * Creates a counter with a separate number for each field.
 * @param listFields returns the fields for which a change counts.
 * @param getLimit returns the limit of a field, or undefined for the limit of `rows` and `percent`.
 */
export function countByField(
  listFields: (change: FieldChange, changes: readonly FieldChange[]) => readonly string[],
  getLimit: (field: string) => number | undefined = () => undefined,
): Required<GuardCounter> & { byField: ReadonlyMap<string, FoundRows> } {
  const byField = new Map<string, FoundRows>();
  return {
    byField,
    add(row, changes) {
      for (const change of changes)
        for (const field of listFields(change, changes))
          getOrCreate(byField, field, () => new FoundRows()).add(row, change);
    },
    finish: () => Array.from(byField, ([field, found]) => ({ field, found, limit: getLimit(field) })),
  };
}
