import { type Changes, NO_CHANGES } from '../../platform/common/field-changes.js';

/** Fates of a row; they add up to the rows of the file. */
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

/** A fault of a row, or a warning (see `StagedRow`). `value` is the cell that broke the rule, cut; a secret is never one. */
export interface RowError {
  field: string;
  code: string;
  message: string;
  value?: string;
  /** The other user of a conflict. */
  uuid?: string;
}

/** Users that the data set manages and the file lacks are listed with its rows. */
export type StagedOutcome = RowOutcome | 'missing';

/** Less than every line: users that the file lacks have negative ones. */
export const BEFORE_ALL = -(2 ** 31);

/** A row of a plan: what happens, or has happened, to it. */
export interface StagedRow {
  /** As a spreadsheet shows it (header = 1); negative for a user that the file lacks. */
  line: number;
  outcome: StagedOutcome;
  external_id: string;
  user_uuid: string | null;
  /** Of the user that the plan was made for; 0 for a new one. */
  version: number;
  /** The batch that applies the row; 0 for none. */
  batch: number;
  changes: Changes;
  /**
   * Why the row failed. On a row with another outcome they are warnings, with a code of `WARNINGS` first: the row is
   * applied nonetheless. An unchanged row is kept where it has any.
   */
  errors: RowError[];
}

/** Codes of rows that are no errors. The report looks for these only. */
export const WARNINGS = ['blocked_elsewhere', 'returned'] as const;

/** Defaults of a staged row. */
export const EMPTY_ROW: Omit<StagedRow, 'line' | 'outcome'> = {
  external_id: '',
  user_uuid: null,
  version: 0,
  batch: 0,
  changes: NO_CHANGES,
  errors: [],
};

/** Rows that a batch writes: those that stand, failed ones of which a part stands, and missing users that are to be blocked. */
export const isChange = ({ outcome, changes }: Pick<StagedRow, 'outcome' | 'changes'>): boolean =>
  outcome === 'missing' || outcome === 'error' ? !changes.isEmpty : outcome !== 'skipped';

/** Whether a batch of a run has written a row. */
export const isApplied = (row: StagedRow, appliedBatches: number): boolean =>
  isChange(row) && row.batch > 0 && row.batch <= appliedBatches;

export const lineOf = ({ line }: StagedRow): number => line;

/** Whether a row takes access from an active user. */
export const blocksUser = ({ changes }: Pick<StagedRow, 'changes'>): boolean =>
  changes.list.some(
    ({ field, old, new: value }) => field === 'status' && old === 'Active' && value === 'Blocked',
  );

/** A row of which nothing is applied. It names no user that only it would have made. */
export function failedRow(row: StagedRow, errors: RowError[]): StagedRow {
  const outcome = row.outcome === 'missing' ? 'missing' : 'error';
  const user_uuid = row.version === 0 ? null : row.user_uuid;
  return { ...row, outcome, user_uuid, batch: 0, changes: NO_CHANGES, errors };
}
