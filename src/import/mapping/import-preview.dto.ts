import { ApiProperty } from '@nestjs/swagger';
import { FIELD_VALUE } from '../../platform/openapi/shared-schemas.js';
import { buildLimitSchemas } from '../guards/guard-limits.js';
import { type GuardOverrides } from '../runs/import-guard.js';
import { MAX_COLUMNS } from '../file/columns.js';
import { ROW_OUTCOMES, RowErrorDto } from '../runs/import-row.js';

export const PREVIEW_ROWS = 100;
const MAX_PROBLEMS = PREVIEW_ROWS * 100 + 3 * MAX_COLUMNS;
const NULLABLE = { type: String, nullable: true } as const;

export class PreviewColumnDto {
  @ApiProperty({ maxLength: 524_288, example: 'E-Mail', description: 'Column header, as in the file.' })
  source!: string;
  @ApiProperty({
    ...NULLABLE,
    maxLength: 64,
    example: 'Email',
    description: 'Import column that the source column fills. Null if there is none.',
  })
  column!: string | null;
  @ApiProperty({
    enum: ['column', 'template', 'ignored', 'unknown'],
    description: 'How the source column is used. `template`: a template of the profile uses this column.',
  })
  use!: 'column' | 'template' | 'ignored' | 'unknown';
  @ApiProperty({
    ...NULLABLE,
    maxLength: 64,
    example: null,
    description: 'Suggestion for an unknown column: an import column or `ignore`. Null if there is none.',
  })
  suggestion!: string | null;
}

class PreviewRowDto {
  @ApiProperty({ type: 'integer', example: 2 }) line!: number;
  @ApiProperty({ enum: ROW_OUTCOMES, description: 'Expected outcome if only this row were imported.' })
  outcome!: string;
  @ApiProperty({
    type: 'object',
    additionalProperties: FIELD_VALUE,
    maxProperties: 200,
    example: { external_id: 'HR-20001', username: 'ada.king' },
    description:
      'Fields of the user in the format of the API. `manager` contains an external id. Fields without a column in the file are left out.',
  })
  fields!: Record<string, unknown>;
}

/** An error of a row or of the whole file. */
export class PreviewProblemDto extends RowErrorDto {
  @ApiProperty({ type: 'integer', nullable: true, example: 2 }) line!: number | null;
  @ApiProperty({ description: 'True if an import would reject the file because of this error.' })
  refuses!: boolean;
}

class PreviewFileDto {
  @ApiProperty({ maxLength: 255, example: 'users.csv' }) name!: string;
  @ApiProperty({ type: 'integer', description: 'Size in bytes.', example: 18231 }) size!: number;
}

export class ImportPreviewDto {
  @ApiProperty({ type: PreviewFileDto }) file!: PreviewFileDto;
  @ApiProperty({ ...NULLABLE, maxLength: 64, example: null }) profile!: string | null;
  @ApiProperty({ ...NULLABLE, maxLength: 32, example: 'utf-8' }) encoding!: string | null;
  @ApiProperty({ ...NULLABLE, maxLength: 1, example: ',' }) delimiter!: string | null;
  @ApiProperty({
    type: 'object',
    nullable: true,
    properties: buildLimitSchemas(),
    description: 'Guard limits that the profile sets. Null if there are none.',
  })
  guard_limits!: GuardOverrides | null;
  @ApiProperty({ type: [PreviewColumnDto], maxItems: MAX_COLUMNS }) columns!: PreviewColumnDto[];
  @ApiProperty({ type: [PreviewRowDto], maxItems: PREVIEW_ROWS }) rows!: PreviewRowDto[];
  @ApiProperty({
    type: [PreviewProblemDto],
    maxItems: MAX_PROBLEMS,
    description: 'Errors of the whole file and of the previewed rows.',
  })
  problems!: PreviewProblemDto[];
}
