import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { SideNamesDto } from '../audit/audit.view.js';
import { FIELD_VALUE, NULLABLE_ID, NULLABLE_TIME } from '../platform/openapi/docs.js';
import { PageOf } from '../platform/http/page.js';
import { MAX_FILE_BYTES } from './file/file-store.js';
import { guardProperties, type GuardOverrides, MAX_EXAMPLES } from './runs/guard-limits.js';
import { ImportOptions } from './runs/import-options.js';
import { type Counts, ROW_OUTCOMES } from './runs/import-row.js';
import { RUN_STATES } from './runs/run-states.js';

const NULLABLE_INTEGER = { type: 'integer', nullable: true } as const;
const NULLABLE_NAME = { type: String, nullable: true, maxLength: 64 } as const;
const COUNTS = Object.fromEntries(
  ROW_OUTCOMES.map((outcome) => [outcome, { type: 'integer', minimum: 0 }] as const),
);

/** At most one a field, and a user has fewer fields. */
const MAX_ROW_ERRORS = 100;
/** All errors of the first 50 rows, and the reason of a refusal. */
const MAX_PROBLEMS = 50 * MAX_ROW_ERRORS + 1;

class ImportFileDto {
  @ApiProperty({ maxLength: 255, example: 'users.csv' }) name!: string;
  @ApiProperty({ type: 'integer', maximum: MAX_FILE_BYTES, description: 'Bytes.', example: 18231 })
  size!: number;
  @ApiProperty({ maxLength: 64, pattern: '^[0-9a-f]{64}$', description: 'SHA-256 in hexadecimal.' })
  sha256!: string;
}

/** Written out once more for a value that may be null: OpenAPI 3.0 has no reference that may be. */
const ACTOR = {
  kind: { type: 'string' as const, enum: ['key', 'user', 'system'] },
  id: { type: 'string' as const, format: 'uuid', nullable: true },
};

class ImportActorDto {
  @ApiProperty({ enum: ['key', 'user', 'system'] }) kind!: string;
  @ApiProperty(NULLABLE_ID) id!: string | null;
}

class ImportProgressDto {
  @ApiProperty({ enum: RUN_STATES }) phase!: string;
  @ApiProperty({
    type: 'integer',
    description:
      'The share of the rows that the work is done for, over all phases: a row is planned, then applied.',
  })
  rows_done!: number;
  @ApiProperty({ ...NULLABLE_INTEGER, description: 'null until the file has been read to its end.' })
  rows_total!: number | null;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100, description: 'Of the whole run.' })
  percent!: number;
  @ApiProperty({ ...NULLABLE_INTEGER, description: 'To the end of the run.' }) eta_seconds!: number | null;
}

class ImportMissingDto {
  @ApiProperty({ type: 'integer' }) reported!: number;
  @ApiProperty({ type: 'integer' }) blocked!: number;
}

class ImportGuardExampleDto {
  @ApiProperty({ ...NULLABLE_INTEGER, example: 17, description: 'null for a user that the file lacks.' })
  line!: number | null;
  @ApiProperty({ maxLength: 255, example: 'HR-10042' }) external_id!: string;
  @ApiProperty(FIELD_VALUE) old!: unknown;
  @ApiProperty({ ...FIELD_VALUE, example: '+44 20 7946 0321' }) new!: unknown;
}

class ImportGuardDto {
  @ApiProperty({ maxLength: 64, example: 'changed_field' }) name!: string;
  @ApiProperty({
    ...NULLABLE_NAME,
    example: 'phone',
    description: 'The field that it is about; null where it is about the whole plan.',
  })
  field!: string | null;
  @ApiProperty({ type: 'integer', example: 91 }) value!: number;
  @ApiProperty({
    type: 'integer',
    example: 80,
    description: 'The greatest value that passes; of `shrunken_file` the least one.',
  })
  limit!: number;
  @ApiProperty() hit!: boolean;
  @ApiProperty({
    type: [ImportGuardExampleDto],
    maxItems: MAX_EXAMPLES,
    description: 'The first rows that it has found, of a hit. Long values are cut.',
  })
  examples!: ImportGuardExampleDto[];
  @ApiProperty({
    maxLength: 400,
    example: 'Many users get another value in one column: it was exchanged, sorted or filled by mistake.',
    description: 'What a hit usually means.',
  })
  hint!: string;
}

class RowErrorDto {
  @ApiProperty({ maxLength: 100, example: 'email' }) field!: string;
  @ApiProperty({ maxLength: 32, example: 'invalid_format' }) code!: string;
  @ApiProperty({ maxLength: 2000, example: 'must be an e-mail address' }) message!: string;
  @ApiPropertyOptional({
    maxLength: 255,
    example: 'jane.doe',
    description: 'The content of the cell, truncated.',
  })
  value?: string;
  @ApiPropertyOptional({ format: 'uuid', description: 'The other user of a conflict.' }) uuid?: string;
}

class ImportProblemDto extends RowErrorDto {
  @ApiProperty({ type: 'integer', nullable: true, example: 17 }) line!: number | null;
}

class FieldChangeDto extends SideNamesDto {
  @ApiProperty({ maxLength: 100, example: 'phone' }) field!: string;
  @ApiProperty(FIELD_VALUE) old!: unknown;
  @ApiProperty(FIELD_VALUE) new!: unknown;
}

class ImportOptionsDto extends OmitType(ImportOptions, ['default_roles']) {
  @ApiPropertyOptional({ type: 'array', items: { type: 'string', maxLength: 64 }, maxItems: 32 })
  default_roles?: string[];
}

/** A run as a caller sees it; `import.view.ts` makes it. */
export class ImportRunDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ enum: RUN_STATES }) state!: string;
  @ApiProperty() dry_run!: boolean;
  @ApiProperty({ type: ImportOptionsDto }) options!: ImportOptionsDto;
  @ApiProperty({
    ...NULLABLE_NAME,
    example: 'moodle',
    description: 'The profile that the file was read by; null for none.',
  })
  profile!: string | null;
  @ApiProperty({
    type: 'object',
    nullable: true,
    properties: guardProperties(),
    description:
      'Limits of guards that this profile has set; null for none. `guards` has the limits in force.',
  })
  guard_limits!: GuardOverrides | null;
  @ApiProperty({ ...NULLABLE_ID, description: 'The run that this one undoes.' })
  reverts!: string | null;
  @ApiProperty({
    ...NULLABLE_ID,
    description: 'The run that has undone this one, or is about to; null for none.',
  })
  reverted_by!: string | null;
  @ApiProperty({ type: ImportFileDto }) file!: ImportFileDto;
  @ApiProperty({ type: ImportActorDto }) actor!: ImportActorDto;
  @ApiProperty({
    type: 'object',
    nullable: true,
    properties: ACTOR,
    required: ['kind', 'id'],
    description: 'Who approved it, or applied its plan; null while nobody has.',
  })
  approved_by!: ImportActorDto | null;
  @ApiProperty({ format: 'date-time' }) created!: string;
  @ApiProperty(NULLABLE_TIME) started!: string | null;
  @ApiProperty(NULLABLE_TIME) finished!: string | null;
  @ApiProperty({ type: ImportProgressDto }) progress!: ImportProgressDto;
  @ApiProperty({
    type: 'object',
    properties: COUNTS,
    required: [...ROW_OUTCOMES],
    description: 'Rows by outcome; in a plan, what would happen. They add up to the rows of the file.',
  })
  counts!: Counts;
  @ApiProperty({ type: ImportMissingDto }) missing!: ImportMissingDto;
  @ApiProperty({ type: [ImportGuardDto], maxItems: 200 }) guards!: ImportGuardDto[];
  @ApiProperty({
    type: [ImportProblemDto],
    maxItems: MAX_PROBLEMS,
    description: 'Why the file was refused, or the first 50 rows with an error or a warning.',
  })
  problems!: ImportProblemDto[];
}

export class ImportRunPageDto extends PageOf(ImportRunDto) {}

export class ImportRowDto {
  @ApiProperty({ type: 'integer', nullable: true, description: 'null for a user that the file lacks.' })
  line!: number | null;
  @ApiProperty({ enum: [...ROW_OUTCOMES, 'missing'] }) outcome!: string;
  @ApiProperty({ maxLength: 255, example: 'HR-10042' }) external_id!: string;
  @ApiProperty(NULLABLE_ID) uuid!: string | null;
  @ApiProperty({
    maxLength: 511,
    example: 'Jane Doe',
    description:
      'First name (or what the user is known as) and surname, or else the username: of the user today (for a key with `users:read`), and as the row says of one ' +
      'who is not there yet. Empty where nothing is known.',
  })
  name!: string;
  @ApiProperty({ type: [RowErrorDto], maxItems: MAX_ROW_ERRORS }) errors!: RowErrorDto[];
  @ApiProperty({ type: [FieldChangeDto], maxItems: 100 }) changes!: FieldChangeDto[];
}

export class ImportRowPageDto extends PageOf(ImportRowDto) {}
