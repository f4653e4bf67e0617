import { ApiProperty, ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { MAX_DAYS } from '../../audit/audit-counts.service.js';
import { presentRun } from '../../import/import.view.js';
import { ImportRunDto } from '../../import/imports.dto.js';
import { MAX_DATASETS } from '../../import/report/import-summary.service.js';
import type { ImportRun } from '../../import/runs/import-run.js';
import { RangeParam } from '../../platform/input/query-rules.js';

/** Keys that are listed, of those that expire soon. */
export const MAX_EXPIRING = 100;

export class StatisticsQuery {
  @RangeParam(1, MAX_DAYS, { default: 30, description: 'Days that are listed; today is one of them.' })
  days: number = 30;

  @RangeParam(-12, 14, {
    default: 0,
    description:
      'Whole hours by which the days begin before midnight UTC: 1 for Berlin in winter, -5 for New York.',
  })
  utc_offset: number = 0;
}

const number = (description?: string, example = 0) =>
  ({ type: 'integer', minimum: 0, example, ...(description !== undefined && { description }) }) as const;

class UserNumbersDto {
  @ApiProperty(number(undefined, 980)) active!: number;
  @ApiProperty(number(undefined, 20)) blocked!: number;
}

class ImportRunSummaryDto extends PickType(ImportRunDto, [
  'id',
  'state',
  'dry_run',
  'reverts',
  'file',
  'created',
  'finished',
  'counts',
  'missing',
]) {}

class DatasetDto {
  @ApiProperty({ maxLength: 64, example: 'default' }) dataset!: string;
  @ApiProperty({ description: 'In whatever state it is; a plan or a revert too.' })
  last_run!: ImportRunSummaryDto;
  @ApiPropertyOptional({
    description: 'The last one that is `completed` or `completed_with_errors`; absent where none is left.',
  })
  last_completed?: ImportRunSummaryDto;
}

class ImportNumbersDto {
  @ApiPropertyOptional({
    description: 'With IMPORT_OVERDUE_HOURS: no import has been completed for that long.',
  })
  overdue?: boolean;
  @ApiProperty(number('Runs that a guard has stopped.')) needs_approval!: number;
  @ApiProperty(number('Plans of dry runs that can be applied.')) planned!: number;
  @ApiProperty(number('Runs that are worked on or wait for their turn.')) running!: number;
  @ApiProperty({ type: [DatasetDto], maxItems: MAX_DATASETS, description: 'By name: the first hundred.' })
  datasets!: DatasetDto[];
}

class ExpiringKeyDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ maxLength: 255, example: 'HR connector' }) name!: string;
  @ApiProperty({ format: 'date-time' }) expires!: string;
}

class KeyNumbersDto {
  @ApiProperty({
    type: [ExpiringKeyDto],
    maxItems: MAX_EXPIRING,
    description: 'Keys that expire within 30 days, the next one first: a hundred at most.',
  })
  expiring!: ExpiringKeyDto[];
  @ApiProperty(number('Keys whose fuse has blown within the hour.')) fuses_blown!: number;
}

class FailedLoginsDto {
  @ApiProperty({ ...number('A name and an address count once a minute.', 3), maximum: 10_000 })
  last_24_hours!: number;
  @ApiProperty({ example: true, description: 'False: there are at least as many.' }) exact!: boolean;
}

/** A day of the statistics; what is counted begins at 0. */
export class DayDto {
  @ApiProperty({ format: 'date', maxLength: 10, example: '2026-01-31' }) day: string = '';
  @ApiProperty({
    example: true,
    description:
      'False: there may be more. The retention has deleted events that were never counted, an upgrade has not counted them ' +
      'yet, or there were more than 10,000 of a kind in the last hour.',
  })
  complete: boolean = true;
  @ApiProperty(number('Users created.')) created = 0;
  @ApiProperty(number('Changes of users.', 12)) updated = 0;
  @ApiProperty(number()) blocked = 0;
  @ApiProperty(number()) reactivated = 0;
  @ApiProperty(number()) deleted = 0;
  @ApiProperty(number()) restored = 0;
  @ApiProperty(number(undefined, 7)) logins = 0;
  @ApiProperty(number('A name and an address count once a minute.')) failed_logins = 0;
  @ApiProperty(number('Also those with errors.', 1)) imports_completed = 0;
  @ApiProperty(number()) imports_failed = 0;
  @ApiProperty(number()) imports_rejected = 0;
  @ApiProperty(number()) imports_superseded = 0;
}

export class StatisticsDto {
  @ApiProperty({ format: 'date-time' }) time!: string;
  @ApiProperty() users!: UserNumbersDto;
  @ApiProperty() imports!: ImportNumbersDto;
  @ApiProperty() api_keys!: KeyNumbersDto;
  @ApiProperty() failed_logins!: FailedLoginsDto;
  @ApiProperty({ type: [DayDto], maxItems: MAX_DAYS, description: 'Oldest first; the last one is today.' })
  days!: DayDto[];
}

/** The answer for the last run of a data set. */
export function presentSummary(run: ImportRun): ImportRunSummaryDto {
  const { id, state, dry_run, reverts, file, created, finished, counts, missing } = presentRun(run, [], null);
  return { id, state, dry_run, reverts, file, created, finished, counts, missing };
}
