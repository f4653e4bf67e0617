import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { User } from '../../users/model/user.js';
import { type Changes, NO_CHANGES } from '../../platform/common/field-changes.js';

/** Outcomes of a row. Their counts add up to the rows of the run. The rows of files have no `deleted` and `restored`. */
export const ROW_OUTCOMES = [
  'created',
  'updated',
  'unchanged',
  'blocked',
  'reactivated',
  'deleted',
  'restored',
  'skipped',
  'error',
] as const;
export type RowOutcome = (typeof ROW_OUTCOMES)[number];

export type Counts = Record<RowOutcome, number>;

export const NO_COUNTS = Object.fromEntries(ROW_OUTCOMES.map((outcome) => [outcome, 0])) as Readonly<Counts>;

/** Returns the number of rows whose users change. Does not count missing users. */
export function countChangedRows(counts: Counts): number {
  const changed = Object.values({ ...counts, unchanged: 0, skipped: 0, error: 0 });
  return changed.reduce((sum, rows) => sum + rows, 0);
}

/** A failed row that made other rows fail. */
export class Cause {
  @ApiProperty({
    type: 'integer',
    example: 12,
    description: 'Line of the failed row that made other rows fail.',
  })
  line!: number;
  @ApiProperty({ type: 'integer', description: 'Number of other rows that failed only because of this row.' })
  failures!: number;
}

/** Maximum length of a value in an error or an example, in characters. */
export const MAX_VALUE = 200;

/** Maximum number of causes of a run. */
export const MAX_CAUSES = 20;

export class ConflictingUserDto {
  @ApiProperty({ maxLength: 255, example: 'jane.doe' }) username!: string;
  @ApiProperty({ maxLength: 511, example: 'Jane Doe' }) name!: string;
}

/** An error or a warning of a row. `value` is the truncated invalid cell. It never contains a secret. */
export class RowErrorDto {
  @ApiProperty({
    maxLength: 100,
    example: 'email',
    description: 'Field with the error. Empty if the error affects the whole row or file.',
  })
  field!: string;
  @ApiProperty({ maxLength: 32, example: 'invalid_format' }) code!: string;
  @ApiProperty({ maxLength: 2000, example: 'must be an e-mail address' }) message!: string;
  @ApiPropertyOptional({
    maxLength: 255,
    example: 'jane.doe',
    description: 'Content of the cell. Long content is truncated.',
  })
  value?: string;
  @ApiPropertyOptional({ format: 'uuid', description: 'Id of the conflicting user, if any.' }) uuid?: string;
  @ApiPropertyOptional({
    description: 'The conflicting user, if the user exists and the caller has `users:read`.',
  })
  user?: ConflictingUserDto;
  @ApiPropertyOptional({
    type: 'integer',
    example: 12,
    description: 'Line of the failed row that this error depends on, such as the row of the manager.',
  })
  depends_on_line?: number;
}

/** Members of an error. Errors are plain objects, not instances of the DTO. */
export type RowError = Pick<RowErrorDto, keyof RowErrorDto>;

/** Outcomes of the staged rows that clients see. Missing users are staged too, with the outcome `missing`. */
export const STAGED_OUTCOMES = [...ROW_OUTCOMES, 'missing'] as const;
/** A row with the outcome `manager_cleared` only tells a revert that the run deleted the manager of a user. */
export type StagedOutcome = (typeof STAGED_OUTCOMES)[number] | 'manager_cleared';

/** A line number that is lower than the line of any row. Missing users have negative lines. */
export const MIN_LINE = -(2 ** 31);

/** A row of a plan with its planned or final outcome. */
export interface StagedRow {
  /**
   * Line as a spreadsheet shows it (header = 1), a negative number for a missing user, or a number after all rows for the
   * outcome `manager_cleared`.
   */
  line: number;
  outcome: StagedOutcome;
  external_id: string;
  user_uuid: string | null;
  /** Version of the user when the row was planned, or 0 for a new user. */
  version: number;
  /** Number of the batch that applies the row, or 0 for no batch. */
  batch: number;
  changes: Changes;
  /** ExternalId of the manager of a new or changed user, if the same file creates the manager. Otherwise null. */
  manager: string | null;
  /** Errors of a failed row, or warnings of any other row. The code of the first warning is one of `WARNINGS`. */
  errors: RowError[];
}

/** Codes of warnings. A row that did not fail is listed as a problem only if it has one of these codes. */
export const WARNINGS = ['blocked_elsewhere', 'returned', 'deleted_elsewhere'] as const;

export const EMPTY_ROW: Omit<StagedRow, 'line' | 'outcome'> = {
  external_id: '',
  user_uuid: null,
  version: 0,
  batch: 0,
  changes: NO_CHANGES,
  manager: null,
  errors: [],
};

/** Returns the row of an existing user. @param details changes, errors, or another external id. */
export const createUserRow = (
  line: number,
  outcome: StagedOutcome,
  { external_id, uuid: user_uuid, version }: Pick<User, 'external_id' | 'uuid' | 'version'>,
  details: Partial<StagedRow>,
): StagedRow => ({ ...EMPTY_ROW, line, outcome, external_id, user_uuid, version, ...details });

/**
 * Returns true if a batch must write the row. Skipped rows are never written. Failed rows and missing users are written
 * only if they have changes.
 */
export const isWritten = ({ outcome, changes }: Pick<StagedRow, 'outcome' | 'changes'>): boolean =>
  outcome === 'missing' || outcome === 'error' ? !changes.isEmpty : outcome !== 'skipped';

/** Returns true if one of the applied batches has changed the user of the row. */
export const isApplied = (row: StagedRow, appliedBatches: number): boolean =>
  row.outcome !== 'unchanged' && isWritten(row) && row.batch > 0 && row.batch <= appliedBatches;

/** Fields of a user from which the display name is built. */
export type NamedUser = Pick<User, 'username' | 'firstname' | 'surname' | 'known_as'>;

/**
 * Returns the name to show for a row: of its user, or of the user that the row creates.
 * @param cells fields in the cells of a failed row.
 */
export const displayNameOf = (
  { changes, version }: StagedRow,
  user?: NamedUser,
  cells: object = {},
): string => formatName(user ?? (version === 0 ? { ...cells, ...changes.values } : {}));

export function formatName(fields: object): string {
  const values: Readonly<Record<string, unknown>> = { ...fields };
  const getText = (field: string): string => {
    const value = values[field];
    return typeof value === 'string' ? value : '';
  };
  const name = `${getText('known_as') || getText('firstname')} ${getText('surname')}`;
  return name.trim() || getText('username');
}

export const lineOf = ({ line }: StagedRow): number => line;

export const blocksUser = ({ changes }: Pick<StagedRow, 'changes'>): boolean =>
  changes.list.some(
    ({ field, old, new: value }) => field === 'status' && old === 'Active' && value === 'Blocked',
  );

/** Returns true if a row creates a user with the status Blocked. */
export const createsBlocked = ({ outcome, changes }: StagedRow): boolean =>
  outcome === 'created' &&
  changes.list.some(({ field, new: value }) => field === 'status' && value === 'Blocked');

/** Turns a row into a failed row without changes. Removes the UUID of a new user, who will not be created. */
export function toFailedRow(row: StagedRow, errors: RowError[]): StagedRow {
  const outcome = row.outcome === 'missing' ? 'missing' : 'error';
  const user_uuid = row.version === 0 ? null : row.user_uuid;
  return { ...row, outcome, user_uuid, batch: 0, changes: NO_CHANGES, manager: null, errors };
}
