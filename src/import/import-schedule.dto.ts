import { ApiProperty, PickType } from '@nestjs/swagger';
import { PageOf } from '../platform/http/page.js';
import { NULLABLE_ID, NULLABLE_INTEGER, NULLABLE_TIME } from '../platform/openapi/shared-schemas.js';
import { ImportFileDto, ImportRunSummaryDto } from './imports.dto.js';
import { MAX_DATASETS } from './report/import-summary.service.js';
import { MAX_FILES } from './schedule/schedule.service.js';

const NULLABLE_TEXT = { type: String, nullable: true, maxLength: 4096 } as const;

class WaitingFileDto extends PickType(ImportFileDto, ['name']) {
  @ApiProperty({ ...NULLABLE_INTEGER, description: 'Size in bytes. Null if the file is rejected.' })
  size!: number | null;
  @ApiProperty({ ...NULLABLE_TIME, description: 'Last change. Null if the file is rejected.' })
  modified!: string | null;
  @ApiProperty({ maxLength: 500, example: 'a symbolic link', description: 'Why the file waits.' })
  reason!: string;
}

class ScheduledDatasetDto {
  @ApiProperty({ maxLength: 64, example: 'default' }) dataset!: string;
  @ApiProperty({ description: 'The last run in any state.' }) last_run!: ImportRunSummaryDto;
  @ApiProperty({ ...NULLABLE_TIME, description: 'Time of the last completed import. Null if there is none.' })
  last_completed!: string | null;
  @ApiProperty({ description: 'True if the data set or a part had no completed import in `overdue_hours`.' })
  overdue!: boolean;
}

export class ScheduleDto {
  @ApiProperty({ ...NULLABLE_TEXT, description: 'IMPORT_FOLDER. Null if there is no schedule.' })
  folder!: string | null;
  @ApiProperty({ maxLength: 255, example: '*.csv', description: 'IMPORT_PATTERN' }) pattern!: string;
  @ApiProperty({ maxLength: 1000, example: '0 2 * * *', description: 'IMPORT_CRON' }) cron!: string;
  @ApiProperty({ maxLength: 100, example: 'UTC', description: 'IMPORT_TIME_ZONE' }) time_zone!: string;
  @ApiProperty(NULLABLE_TIME) next_tick!: string | null;
  @ApiProperty(NULLABLE_TIME) last_tick!: string | null;
  @ApiProperty({ ...NULLABLE_INTEGER, description: 'IMPORT_OVERDUE_HOURS. Null if it is not set.' })
  overdue_hours!: number | null;
  @ApiProperty({ ...NULLABLE_TEXT, description: 'Why this instance cannot use the folder. Null if it can.' })
  fault!: string | null;
  @ApiProperty({ type: [WaitingFileDto], maxItems: MAX_FILES, description: 'The first files by name.' })
  files!: WaitingFileDto[];
  @ApiProperty({ type: [ScheduledDatasetDto], maxItems: MAX_DATASETS }) datasets!: ScheduledDatasetDto[];
}

class TakenFileDto extends PickType(ImportFileDto, ['name']) {
  @ApiProperty({ ...NULLABLE_ID, description: 'Id of the run. Null if the file was refused without a run.' })
  run!: string | null;
  @ApiProperty({ maxLength: 1000, description: 'Why there is no run. Empty if there is one.' })
  reason!: string;
}

export class TakenFilePageDto extends PageOf(TakenFileDto) {}
