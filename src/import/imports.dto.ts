import { ApiProperty, ApiPropertyOptional, OmitType, PickType } from '@nestjs/swagger';
import { SideNamesDto } from '../audit/audit.view.js';
import {
  FIELD_VALUE,
  NULLABLE_ID,
  NULLABLE_INTEGER,
  NULLABLE_TIME,
  describeTexts,
} from '../platform/openapi/shared-schemas.js';
import { PageOf } from '../platform/http/page.js';
import type { JsonObject } from '../platform/common/json.js';
import { MAX_REASON } from '../platform/http/request-headers.js';
import { MAX_FILE_BYTES } from './file/file-store.js';
import { buildLimitSchemas } from './guards/guard-limits.js';
import { type GuardOverrides, ImportGuardDto } from './runs/import-guard.js';
import { RunOptions } from './runs/import-options.js';
import {
  Cause,
  type Counts,
  MAX_CAUSES,
  ROW_OUTCOMES,
  RowErrorDto,
  STAGED_OUTCOMES,
} from './runs/import-row.js';
import { RUN_STATES } from './runs/run-states.js';

const NULLABLE_OBJECT = { type: 'object', nullable: true, additionalProperties: true } as const;
const NULLABLE_NAME = { type: String, nullable: true, maxLength: 64 } as const;
const COUNTS = Object.fromEntries(
  ROW_OUTCOMES.map((outcome) => [outcome, { type: 'integer', minimum: 0 }] as const),
);

/** Upper limit for the errors of a row: one error per field, and a user has fewer fields. */
const MAX_ROW_ERRORS = 100;
/** Upper limit for the problems of a run: all errors of the first 50 rows, and the reason why the file was rejected. */
const MAX_PROBLEMS = 50 * MAX_ROW_ERRORS + 1;

export class ImportFileDto {
  @ApiProperty({ maxLength: 255, example: 'users.csv' }) name!: string;
  @ApiProperty({ type: 'integer', maximum: MAX_FILE_BYTES, description: 'Size in bytes.', example: 18231 })
  size!: number;
  @ApiProperty({ maxLength: 64, pattern: '^[0-9a-f]{64}$', description: 'SHA-256 in hexadecimal.' })
  sha256!: string;
}

/** Properties of ImportActorDto. A nullable actor lists them, because OpenAPI 3.0 has no nullable references. */
const ACTOR = {
  kind: { type: 'string' as const, enum: ['key', 'user', 'system'] },
  id: { type: 'string' as const, format: 'uuid', nullable: true },
  name: {
    type: 'string' as const,
    maxLength: 255,
    example: 'jane',
    description:
      'Current username or name of the API key. Empty if unknown, or if the caller lacks `users:read`.',
  },
};

class ImportActorDto {
  @ApiProperty(ACTOR.kind) kind!: string;
  @ApiProperty(ACTOR.id) id!: string | null;
  @ApiProperty(ACTOR.name) name!: string;
}

class ImportStarterDto extends ImportActorDto {
  @ApiProperty({
    maxLength: 64,
    example: 'unix:alice',
    description:
      'IP address of the request, or the operating-system user for a command on the server. ' +
      'Empty for the schedule.',
  })
  address!: string;
}

class ImportProgressDto {
  @ApiProperty({ enum: RUN_STATES }) phase!: string;
  @ApiProperty({
    type: 'integer',
    description: 'Number of processed rows. A planned row counts in part, and an applied row counts fully.',
  })
  rows_done!: number;
  @ApiProperty({ ...NULLABLE_INTEGER, description: 'Rows in the file. Null until the whole file is read.' })
  rows_total!: number | null;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100, description: 'Progress of the run in percent.' })
  percent!: number;
  @ApiProperty({ ...NULLABLE_INTEGER, description: 'Estimated seconds until the run ends. Null if unknown.' })
  eta_seconds!: number | null;
}

class ImportMissingDto {
  @ApiProperty({ type: 'integer' }) reported!: number;
  @ApiProperty({ type: 'integer' }) blocked!: number;
}

const ROW_NAME = {
  maxLength: 511,
  example: 'Jane Doe',
  description:
    'Display name: `known_as` (or the first name) and the surname, or the username if there is no name. Taken from the ' +
    'current user if the caller has `users:read`, or from the row if the user does not exist yet. Empty if unknown.',
};

class ImportProblemDto extends RowErrorDto {
  @ApiProperty({
    maxLength: 255,
    example: 'HR-10042',
    description: 'Empty if the error affects the whole file.',
  })
  external_id!: string;
  @ApiProperty(ROW_NAME) name!: string;
  @ApiProperty({ ...NULLABLE_INTEGER, example: 17 }) line!: number | null;
}

class FieldChangeDto extends SideNamesDto {
  @ApiProperty({ maxLength: 100, example: 'phone' }) field!: string;
  @ApiProperty(FIELD_VALUE) old!: unknown;
  @ApiProperty(FIELD_VALUE) new!: unknown;
}

class ImportOptionsDto extends OmitType(RunOptions, ['dataset', 'default_roles', 'adopt_rows']) {
  @ApiProperty({ maxLength: 64, example: 'hr', description: 'Empty for a bulk change.' }) dataset!: string;
  @ApiPropertyOptional(describeTexts(64, 32)) default_roles?: string[];
  @ApiPropertyOptional({ type: 'array', items: { type: 'integer' }, maxItems: 500 }) adopt_rows?: number[];
}

export class ImportRunDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ enum: RUN_STATES }) state!: string;
  @ApiProperty() dry_run!: boolean;
  @ApiProperty({ type: ImportOptionsDto }) options!: ImportOptionsDto;
  @ApiProperty({
    ...NULLABLE_NAME,
    example: 'moodle',
    description: 'Name of the profile that was used to read the file. Null if no profile was used.',
  })
  profile!: string | null;
  @ApiProperty({
    type: 'object',
    nullable: true,
    properties: buildLimitSchemas(),
    description:
      'Guard limits that the profile sets. Null if there are none. `guards` contains the limits in effect.',
  })
  guard_limits!: GuardOverrides | null;
  @ApiProperty({ ...NULLABLE_ID, description: 'Id of the run that this run reverts. Null for an import.' })
  reverts!: string | null;
  @ApiProperty({
    ...NULLABLE_ID,
    description: 'Id of the run that has reverted or will revert this run. Null if there is none.',
  })
  reverted_by!: string | null;
  @ApiProperty({
    ...NULLABLE_ID,
    description: 'Id of the run whose failed rows this run corrects. Null for other runs.',
  })
  corrects!: string | null;
  @ApiProperty({ type: ImportFileDto, description: 'For a bulk change, an empty file named `bulk change`.' })
  file!: ImportFileDto;
  @ApiProperty({ ...NULLABLE_OBJECT, description: 'Conditions of a bulk change as sent, or null.' })
  where!: JsonObject | null;
  @ApiProperty({
    ...NULLABLE_OBJECT,
    example: { status: 'Blocked' },
    description: 'Changes as sent, for a bulk change and its revert. Null for a file.',
  })
  change!: JsonObject | null;
  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: MAX_REASON,
    description: 'Reason of a bulk change.',
  })
  reason!: string | null;
  @ApiProperty() actor!: ImportStarterDto;
  @ApiProperty({
    type: 'object',
    nullable: true,
    properties: ACTOR,
    required: Object.keys(ACTOR),
    description: 'Actor who approved the run or applied its plan. Null until then.',
  })
  approved_by!: ImportActorDto | null;
  @ApiProperty({ format: 'date-time' }) created!: string;
  @ApiProperty(NULLABLE_TIME) started!: string | null;
  @ApiProperty(NULLABLE_TIME) finished!: string | null;
  @ApiProperty({
    type: Number,
    minimum: 0,
    nullable: true,
    example: 2.5,
    description:
      'Seconds from `started` to `finished`, without the time in which the run waited for a decision. Null until the end.',
  })
  duration_seconds!: number | null;
  @ApiProperty({ type: ImportProgressDto }) progress!: ImportProgressDto;
  @ApiProperty({
    type: 'object',
    properties: COUNTS,
    required: [...ROW_OUTCOMES],
    description: 'Number of rows per outcome (in a plan: per expected outcome), including unchanged rows.',
  })
  counts!: Counts;
  @ApiProperty({
    type: 'integer',
    example: 2,
    description:
      'Number of new users in the plan whose status is Blocked. Applying the plan does not change this number.',
  })
  created_blocked!: number;
  @ApiProperty({ type: ImportMissingDto }) missing!: ImportMissingDto;
  @ApiProperty({
    description: 'True if the run has changed users. Otherwise its counts are a plan.',
  })
  applied!: boolean;
  @ApiProperty({ type: [ImportGuardDto], maxItems: 200 }) guards!: ImportGuardDto[];
  @ApiProperty({
    type: [Cause],
    maxItems: MAX_CAUSES,
    description: 'Failed rows that made other rows fail, such as rows of managers. Most failures first.',
  })
  causes!: Cause[];
  @ApiProperty({
    type: [ImportProblemDto],
    maxItems: MAX_PROBLEMS,
    description: 'Errors of the whole file, and errors and warnings of the first 50 affected rows.',
  })
  problems!: ImportProblemDto[];
}

const SUMMARY = [
  'id',
  'state',
  'dry_run',
  'reverts',
  'file',
  'created',
  'finished',
  'counts',
  'missing',
  'applied',
] as const;

export class ImportRunSummaryDto extends PickType(ImportRunDto, SUMMARY) {}

export class ImportRunPageDto extends PageOf(ImportRunDto) {}

export class ImportRowDto {
  @ApiProperty({ ...NULLABLE_INTEGER, description: 'Line in the file. Null for a missing user.' })
  line!: number | null;
  @ApiProperty({ enum: STAGED_OUTCOMES }) outcome!: string;
  @ApiProperty({ maxLength: 255, example: 'HR-10042' }) external_id!: string;
  @ApiProperty(NULLABLE_ID) uuid!: string | null;
  @ApiProperty(ROW_NAME) name!: string;
  @ApiProperty({ type: [RowErrorDto], maxItems: MAX_ROW_ERRORS }) errors!: RowErrorDto[];
  @ApiProperty({ type: [FieldChangeDto], maxItems: 100 }) changes!: FieldChangeDto[];
}

export class ImportRowPageDto extends PageOf(ImportRowDto) {}
