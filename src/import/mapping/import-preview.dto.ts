import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { FIELD_VALUE } from '../../platform/openapi/docs.js';
import { type GuardOverrides, guardProperties } from '../runs/guard-limits.js';
import { ROW_OUTCOMES } from '../runs/import-row.js';

/** Rows that are read. */
export const PREVIEW_ROWS = 100;
const MAX_COLUMNS = 200;
/** All errors of the rows, and those of the header. */
const MAX_PROBLEMS = PREVIEW_ROWS * 100 + 3 * MAX_COLUMNS;
const NULLABLE = { type: String, nullable: true } as const;

export class PreviewColumnDto {
  @ApiProperty({ maxLength: 524_288, example: 'E-Mail', description: 'As the file spells it.' })
  source!: string;
  @ApiProperty({
    ...NULLABLE,
    maxLength: 64,
    example: 'Email',
    description: 'The column of ours that it fills.',
  })
  column!: string | null;
  @ApiProperty({
    enum: ['column', 'template', 'ignored', 'unknown'],
    description: '`template`: templates of the profile read it.',
  })
  use!: 'column' | 'template' | 'ignored' | 'unknown';
  @ApiProperty({
    ...NULLABLE,
    maxLength: 64,
    example: null,
    description: 'What an unknown one probably is, by its name and its cells: a column of ours, or `ignore`.',
  })
  suggestion!: string | null;
}

class PreviewRowDto {
  @ApiProperty({ type: 'integer', example: 2 }) line!: number;
  @ApiProperty({ enum: ROW_OUTCOMES, description: 'What an import would make of the row, if it were alone.' })
  outcome!: string;
  @ApiProperty({
    type: 'object',
    additionalProperties: FIELD_VALUE,
    maxProperties: 200,
    example: { external_id: 'HR-20001', username: 'ada.king' },
    description:
      'As the API takes them, and `manager`, an ExternalId. Fields that the file does not name are left out.',
  })
  fields!: Record<string, unknown>;
}

/** A fault of the file (without a line: of its header) or of a row. */
export class PreviewProblemDto {
  @ApiProperty({ type: 'integer', nullable: true, example: 2 }) line!: number | null;
  @ApiProperty({ maxLength: 100, example: 'email', description: 'Empty for the file as a whole.' })
  field!: string;
  @ApiProperty({ maxLength: 32, example: 'invalid_format' }) code!: string;
  @ApiProperty({ maxLength: 2000, example: 'must be an e-mail address' }) message!: string;
  @ApiPropertyOptional({ maxLength: 255, description: 'The content of the cell, truncated.' }) value?: string;
  @ApiPropertyOptional({ format: 'uuid', description: 'The other user of a conflict.' }) uuid?: string;
  @ApiProperty({ description: 'The whole file would be refused.' }) refuses!: boolean;
}

class PreviewFileDto {
  @ApiProperty({ maxLength: 255, example: 'users.csv' }) name!: string;
  @ApiProperty({ type: 'integer', description: 'Bytes.', example: 18231 }) size!: number;
}

/** What an import would make of the beginning of a file. */
export class ImportPreviewDto {
  @ApiProperty({ type: PreviewFileDto }) file!: PreviewFileDto;
  @ApiProperty({ ...NULLABLE, maxLength: 64, example: null }) profile!: string | null;
  @ApiProperty({ ...NULLABLE, maxLength: 32, example: 'utf-8' }) encoding!: string | null;
  @ApiProperty({ ...NULLABLE, maxLength: 1, example: ',' }) delimiter!: string | null;
  @ApiProperty({
    type: 'object',
    nullable: true,
    properties: guardProperties(),
    description: 'Limits of guards that the profile has set; null for none.',
  })
  guard_limits!: GuardOverrides | null;
  @ApiProperty({ type: [PreviewColumnDto], maxItems: MAX_COLUMNS }) columns!: PreviewColumnDto[];
  @ApiProperty({ type: [PreviewRowDto], maxItems: PREVIEW_ROWS }) rows!: PreviewRowDto[];
  @ApiProperty({ type: [PreviewProblemDto], maxItems: MAX_PROBLEMS, description: 'Everything at once.' })
  problems!: PreviewProblemDto[];
}
