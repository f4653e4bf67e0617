import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { MAX_DAYS } from '../../audit/audit-counts.service.js';
import { ImportRunSummaryDto } from '../../import/imports.dto.js';
import { MAX_DATASETS } from '../../import/report/import-summary.service.js';
import { RangeParam } from '../../platform/input/query-rules.js';

export const MAX_EXPIRING = 100;

export class StatisticsQuery {
  @RangeParam(1, MAX_DAYS, { default: 30, description: 'Number of days to list, including today.' })
  days: number = 30;

  @RangeParam(-12, 14, {
    default: 0,
    description:
      'Offset of the local time from UTC in whole hours, such as 1 for Berlin or -5 for New York in winter.',
  })
  utc_offset: number = 0;
}

const toCountSchema = (description?: string, example = 0) =>
  ({ type: 'integer', minimum: 0, example, ...(description !== undefined && { description }) }) as const;

class UserNumbersDto {
  @ApiProperty(toCountSchema(undefined, 980)) active!: number;
  @ApiProperty(toCountSchema(undefined, 20)) blocked!: number;
}

class DatasetDto {
  @ApiProperty({ maxLength: 64, example: 'default' }) dataset!: string;
  @ApiProperty({ description: 'The last run in any state. May be a dry run or a revert.' })
  last_run!: ImportRunSummaryDto;
  @ApiPropertyOptional({
    description: 'The last `completed` or `completed_with_errors` run. Absent if there is none.',
  })
  last_completed?: ImportRunSummaryDto;
}

class MissingPartDto {
  @ApiProperty({ maxLength: 64, example: 'default' }) dataset!: string;
  @ApiProperty({ maxLength: 64, example: 'berlin' }) part!: string;
  @ApiProperty({ format: 'date-time' }) last_completed!: string;
}

export const OVERDUE = {
  description:
    'True if no import completed within IMPORT_OVERDUE_HOURS, or a part of a data set is overdue. ' +
    'Absent without this setting.',
} as const;

class ImportNumbersDto {
  @ApiPropertyOptional(OVERDUE) overdue?: boolean;
  @ApiPropertyOptional({
    type: [MissingPartDto],
    maxItems: MAX_DATASETS,
    description:
      'Parts of data sets without a completed import within IMPORT_OVERDUE_HOURS, although another part has one. Absent if there are none.',
  })
  missing_parts?: MissingPartDto[];
  @ApiProperty(toCountSchema('Runs that wait for approval because a guard tripped.')) needs_approval!: number;
  @ApiProperty(toCountSchema('Dry runs whose plan can be applied.')) planned!: number;
  @ApiProperty(toCountSchema('Runs in progress or queued.')) running!: number;
  @ApiProperty({ type: [DatasetDto], maxItems: MAX_DATASETS, description: 'Data sets by name, at most 100.' })
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
    description: 'At most 100 keys that expire within 30 days, soonest first.',
  })
  expiring!: ExpiringKeyDto[];
  @ApiProperty(toCountSchema('Keys whose fuse has blown within the last hour.')) fuses_blown!: number;
}

class FailedLoginsDto {
  @ApiProperty({
    ...toCountSchema('Failed logins, counted at most once per minute for each name and address.', 3),
    maximum: 10_000,
  })
  last_24_hours!: number;
  @ApiProperty({ example: true, description: 'If false, the count is a lower bound.' }) exact!: boolean;
}

export class DayDto {
  @ApiProperty({ format: 'date', maxLength: 10, example: '2026-01-31' }) day: string = '';
  @ApiProperty({
    example: true,
    description:
      'If false, the counts are lower bounds: events were deleted before they were counted, an upgrade has not counted them ' +
      'yet, or the last hour has more than 10,000 events of a kind.',
  })
  complete: boolean = true;
  @ApiProperty(toCountSchema('Users created.')) created = 0;
  @ApiProperty(toCountSchema('Number of changes made to users.', 12)) updated = 0;
  @ApiProperty(toCountSchema()) blocked = 0;
  @ApiProperty(toCountSchema()) reactivated = 0;
  @ApiProperty(toCountSchema()) deleted = 0;
  @ApiProperty(toCountSchema()) restored = 0;
  @ApiProperty(toCountSchema(undefined, 7)) logins = 0;
  @ApiProperty(toCountSchema('Failed logins, counted at most once per minute for each name and address.'))
  failed_logins = 0;
  @ApiProperty(toCountSchema('Completed imports that changed users or had errors.', 1)) imports_completed = 0;
  @ApiProperty(toCountSchema()) imports_failed = 0;
  @ApiProperty(toCountSchema()) imports_rejected = 0;
  @ApiProperty(toCountSchema()) imports_superseded = 0;
}

export class StatisticsDto {
  @ApiProperty({ format: 'date-time' }) time!: string;
  @ApiProperty() users!: UserNumbersDto;
  @ApiProperty() imports!: ImportNumbersDto;
  @ApiProperty() api_keys!: KeyNumbersDto;
  @ApiProperty() failed_logins!: FailedLoginsDto;
  @ApiProperty({ type: [DayDto], maxItems: MAX_DAYS, description: 'Oldest first. The last day is today.' })
  days!: DayDto[];
}
