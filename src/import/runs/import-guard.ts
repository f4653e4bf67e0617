import { ApiProperty } from '@nestjs/swagger';
import { SideNamesDto } from '../../audit/audit.view.js';
import { FIELD_VALUE, NULLABLE_INTEGER } from '../../platform/openapi/shared-schemas.js';

export const MAX_EXAMPLES = 5;

/** Presets of guard limits: half of the default limits, the default limits, or twice the default limits. */
export const PRESETS = ['strict', 'normal', 'relaxed'] as const;
export type Preset = (typeof PRESETS)[number];

/** Preset and limits in a profile. They override the settings. */
export type GuardOverrides = { preset?: Preset } & {
  [guard: string]: Readonly<Record<string, number>> | Preset;
};

/** Example row of a guard, for operators. Values are truncated, and secrets are left out. */
class ImportGuardExampleDto extends SideNamesDto {
  @ApiProperty({
    ...NULLABLE_INTEGER,
    example: 17,
    description: 'Line in the file. Null for a missing user.',
  })
  line!: number | null;
  @ApiProperty({ maxLength: 255, example: 'HR-10042' }) external_id!: string;
  @ApiProperty({ maxLength: 255, example: 'Jane Doe' }) name!: string;
  @ApiProperty(FIELD_VALUE) old!: unknown;
  @ApiProperty({ ...FIELD_VALUE, example: '+44 20 7946 0321' }) new!: unknown;
}

/** Number of a plan that a guard has compared with its limit. If `hit` is true, the run waits for approval. */
export class ImportGuardDto {
  @ApiProperty({ maxLength: 64, example: 'changed_field' }) name!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 100,
    example: 'phone',
    description: 'Field that the guard checks. Null if the guard checks the whole plan.',
  })
  field!: string | null;
  @ApiProperty({ type: 'integer', example: 91 }) value!: number;
  @ApiProperty({ type: 'integer', example: 80, description: 'Highest `value` that passes.' }) limit!: number;
  @ApiProperty() hit!: boolean;
  @ApiProperty({
    type: [ImportGuardExampleDto],
    maxItems: MAX_EXAMPLES,
    description: 'First affected rows, if the guard hit. Long values are truncated.',
  })
  examples!: ImportGuardExampleDto[];
  @ApiProperty({
    maxLength: 3000,
    example:
      'The values in this column moved by one row. Sort the source by ExternalId with all its columns, and export it again.',
    description:
      'What the hit usually means, and what to do. Empty if another guard that hit explains this one.',
  })
  hint!: string;
}

/** Members of a guard. Guards are plain objects, not instances of the DTO. */
export interface Guard extends Pick<ImportGuardDto, keyof ImportGuardDto> {
  /** Common property of the found rows. It may contain values, so only some callers see it before the hint. */
  detail?: string;
}
export type GuardExample = ImportGuardExampleDto;
