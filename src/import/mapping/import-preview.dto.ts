import { ApiProperty } from '@nestjs/swagger';
import { FIELD_VALUE, NULLABLE_INTEGER, describeTexts } from '../../platform/openapi/shared-schemas.js';
import { type ImportProfile, MAX_COLUMNS, MAX_TEMPLATE } from '../runs/import-profile.js';
import { ROW_OUTCOMES, RowErrorDto } from '../runs/import-row.js';

export const PREVIEW_ROWS = 100;
const MAX_PROBLEMS = PREVIEW_ROWS * 100 + 3 * MAX_COLUMNS;
/** Maximum length of a text that a preview shows, in characters. */
export const MAX_TEXT = 255;
export const MAX_WORDS = 50;
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
  @ApiProperty({ ...describeTexts(MAX_TEXT, 3), description: 'First cells that are not blank, up to 3.' })
  samples!: string[];
}

class PreviewEncodingDto {
  @ApiProperty({ maxLength: 32, example: 'windows-1252' }) encoding!: string;
  @ApiProperty({ ...describeTexts(MAX_TEXT, 2), description: 'Up to two cells, decoded with this encoding.' })
  cells!: string[];
}

export class PreviewTemplateDto {
  @ApiProperty({ maxLength: 64, example: 'Username' }) column!: string;
  @ApiProperty({ maxLength: MAX_TEMPLATE, example: '{Vorname:ascii:lower}.{Nachname:ascii:lower}' })
  template!: string;
  @ApiProperty({ ...describeTexts(MAX_TEXT, 5), description: 'Values of the first rows, up to 5.' })
  values!: string[];
  @ApiProperty({ type: 'integer', description: 'Number of rows that repeat the value of another row.' })
  duplicates!: number;
}

class PreviewWordDto {
  @ApiProperty({ maxLength: MAX_TEXT, example: 'A' }) word!: string;
  @ApiProperty({ type: 'integer', description: 'Number of rows with this word.' }) rows!: number;
  @ApiProperty({
    ...NULLABLE,
    maxLength: MAX_TEXT,
    example: 'Active',
    description:
      'Value that replaces the word. Without a profile, the probable meaning. Null if rows with the word fail.',
  })
  meaning!: string | null;
  @ApiProperty({
    ...NULLABLE,
    maxLength: MAX_TEXT,
    example: 'Active',
    description: 'Probable meaning of the word. Null if unknown.',
  })
  suggestion!: string | null;
}

export class PreviewWordsDto {
  @ApiProperty({ maxLength: 524_288, example: 'Status' }) source!: string;
  @ApiProperty({ maxLength: 64, example: 'Status' }) column!: string;
  @ApiProperty({ type: [PreviewWordDto], maxItems: MAX_WORDS }) words!: PreviewWordDto[];
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
  @ApiProperty({ ...NULLABLE_INTEGER, example: 2 }) line!: number | null;
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
  @ApiProperty({ type: [PreviewColumnDto], maxItems: MAX_COLUMNS }) columns!: PreviewColumnDto[];
  @ApiProperty({ type: [PreviewRowDto], maxItems: PREVIEW_ROWS }) rows!: PreviewRowDto[];
  @ApiProperty({
    type: [PreviewProblemDto],
    maxItems: MAX_PROBLEMS,
    description: 'Errors of the whole file and of the previewed rows.',
  })
  problems!: PreviewProblemDto[];
  @ApiProperty({
    type: [PreviewEncodingDto],
    maxItems: 8,
    description:
      'Encodings that read a file that is not UTF-8, the most plausible first. Set one with `encoding`. None is applied automatically.',
  })
  encodings!: PreviewEncodingDto[];
  @ApiProperty({ ...NULLABLE_INTEGER, description: 'Suggested `skip_lines`. Null for no change.' })
  skip_lines!: number | null;
  @ApiProperty({ ...NULLABLE_INTEGER, description: 'Suggested `skip_last_lines`. Null for no change.' })
  skip_last_lines!: number | null;
  @ApiProperty({
    type: [PreviewTemplateDto],
    maxItems: 15,
    description:
      'Templates, the best first, for each of ExternalId, Username and Email that has no source column. Also for ForeName and Surname if one column contains both.',
  })
  templates!: PreviewTemplateDto[];
  @ApiProperty({
    type: [PreviewWordsDto],
    maxItems: MAX_COLUMNS,
    description:
      'Words in the source columns of Status and Roles in the first 20,000 rows, at most 1 MiB, the most frequent first.',
  })
  words!: PreviewWordsDto[];
  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    description:
      'Profile for this file, as accepted by `PUT /import_profiles/{name}`. Null if the file cannot be read.',
  })
  suggested!: ImportProfile | null;
}
