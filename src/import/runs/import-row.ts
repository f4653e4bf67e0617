import { type Changes, NO_CHANGES } from '../../platform/common/field-changes.js';

/** Outcomes of a row. Their counts add up to the number of rows of the file. */
export const ROW_OUTCOMES = [
  'created',
  'updated',
  'unchanged',
  'blocked',
  'reactivated',
  'skipped',
  'error',
] as const;
export type RowOutcome = (typeof ROW_OUTCOMES)[number];

export type Counts = Record<RowOutcome, number>;

export const NO_COUNTS = Object.fromEntries(ROW_OUTCOMES.map((outcome) => [outcome, 0])) as Readonly<Counts>;

/** An error or a warning of a row (see `StagedRow`). `value` is the truncated invalid cell and never a secret. */
export interface RowError {
  field: string;
  code: string;
  message: string;
  value?: string;
  /** UUID of the other user in a conflict. */
  uuid?: string;
}

/** Outcome of a staged row. Missing users are staged too, with the outcome `missing`. */
export type StagedOutcome = RowOutcome | 'missing';

/** A number that is lower than every line. Missing users have negative lines. */
export const MIN_LINE = -(2 ** 31);

/** A row of a plan with its planned or final outcome. */
export interface StagedRow {
  /** Line as a spreadsheet shows it (header = 1), or a negative number for a missing user. */
  line: number;
  outcome: StagedOutcome;
  external_id: string;
  user_uuid: string | null;
  /** Version of the user at the time of the planning, or 0 for a new user. */
  version: number;
  /** Number of the batch that applies the row, or 0 for no batch. */
  batch: number;
  changes: Changes;
  /**
   * Reasons why the row failed. In a row with another outcome, they are warnings that begin with a code of `WARNINGS`,
   * and the row is applied. An unchanged row with warnings is stored.
   */
  errors: RowError[];
}

/** Codes of warnings. In applied rows, only these codes are searched for the report. */
export const WARNINGS = ['blocked_elsewhere', 'returned'] as const;

/** Default values of a staged row. */
export const EMPTY_ROW: Omit<StagedRow, 'line' | 'outcome'> = {
  external_id: '',
  user_uuid: null,
  version: 0,
  batch: 0,
  changes: NO_CHANGES,
  errors: [],
};

/** Returns true if a batch writes the row. Failed rows and missing users are written only if they have changes. */
export const isWritten = ({ outcome, changes }: Pick<StagedRow, 'outcome' | 'changes'>): boolean =>
  outcome === 'missing' || outcome === 'error' ? !changes.isEmpty : outcome !== 'skipped';

/** Returns true if the applied batches include the row. */
export const isApplied = (row: StagedRow, appliedBatches: number): boolean =>
  isWritten(row) && row.batch > 0 && row.batch <= appliedBatches;

export const lineOf = ({ line }: StagedRow): number => line;

/** Returns true if a row blocks an active user. */
export const blocksUser = ({ changes }: Pick<StagedRow, 'changes'>): boolean =>
  changes.list.some(
    ({ field, old, new: value }) => field === 'status' && old === 'Active' && value === 'Blocked',
  );

/** Returns a failed row without changes, and without the UUID of a user whom only this row would have created. */
export function toFailedRow(row: StagedRow, errors: RowError[]): StagedRow {
  const outcome = row.outcome === 'missing' ? 'missing' : 'error';
  const user_uuid = row.version === 0 ? null : row.user_uuid;
  return { ...row, outcome, user_uuid, batch: 0, changes: NO_CHANGES, errors };
}
