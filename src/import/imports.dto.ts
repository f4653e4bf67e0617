import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { ImportOptions } from './import.options.js';
import { ROW_OUTCOMES, RUN_STATES } from './run/import.run.js';

const NULLABLE_TIME = { type: String, format: 'date-time', nullable: true } as const;
const COUNTS = Object.fromEntries(
  ROW_OUTCOMES.map((outcome) => [outcome, { type: 'integer', minimum: 0 }] as const),
);

class ImportFileDto {
  @ApiProperty({ example: 'users.csv' }) name!: string;
  @ApiProperty({ type: 'integer', description: 'Bytes.', example: 18231 }) size!: number;
  @ApiProperty({ description: 'SHA-256 in hexadecimal.' }) sha256!: string;
}

class ImportActorDto {
  @ApiProperty({ enum: ['key', 'user', 'system'] }) kind!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) id!: string | null;
}

class ImportProgressDto {
  @ApiProperty({ enum: RUN_STATES }) phase!: string;
  @ApiProperty({ type: 'integer' }) rows_done!: number;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'null until the file has been read to its end.',
  })
  rows_total!: number | null;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100, description: 'Of the present phase.' })
  percent!: number;
  @ApiProperty({ type: 'integer', nullable: true }) eta_seconds!: number | null;
}

class ImportMissingDto {
  @ApiProperty({ type: 'integer' }) reported!: number;
  @ApiProperty({ type: 'integer' }) blocked!: number;
}

class ImportGuardDto {
  @ApiProperty({ example: 'deactivations' }) name!: string;
  @ApiProperty({ example: 12 }) value!: number;
  @ApiProperty({ example: 5 }) limit!: number;
  @ApiProperty() hit!: boolean;
}

class RowErrorDto {
  @ApiProperty({ example: 'email' }) field!: string;
  @ApiProperty({ example: 'invalid_format' }) code!: string;
  @ApiProperty({ example: 'must be an e-mail address' }) message!: string;
  @ApiPropertyOptional({ example: 'jane.doe', description: 'What stands in the cell, cut.' }) value?: string;
  @ApiPropertyOptional({ format: 'uuid', description: 'The other user of a conflict.' }) uuid?: string;
}

class ImportProblemDto extends RowErrorDto {
  @ApiProperty({ type: 'integer', nullable: true, example: 17 }) line!: number | null;
}

class FieldChangeDto {
  @ApiProperty({ example: 'phone' }) field!: string;
  @ApiProperty({ oneOf: [{}], description: 'Any JSON value.', example: '' }) old!: unknown;
  @ApiProperty({ oneOf: [{}], description: 'Any JSON value.', example: '+44 20 7946 0958' }) new!: unknown;
}

class ImportOptionsDto extends OmitType(ImportOptions, ['default_roles']) {
  @ApiPropertyOptional({ type: [String] }) default_roles?: string[];
}

/** The answer for a run, for the OpenAPI file; `import.view.ts` makes it. */
export class ImportRunDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ enum: RUN_STATES }) state!: string;
  @ApiProperty() dry_run!: boolean;
  @ApiProperty({ type: ImportOptionsDto }) options!: ImportOptionsDto;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, description: 'The run that this one undoes.' })
  reverts!: string | null;
  @ApiProperty({ type: ImportFileDto }) file!: ImportFileDto;
  @ApiProperty({ type: ImportActorDto }) actor!: ImportActorDto;
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
  counts!: Record<string, number>;
  @ApiProperty({ type: ImportMissingDto }) missing!: ImportMissingDto;
  @ApiProperty({ type: [ImportGuardDto] }) guards!: ImportGuardDto[];
  @ApiProperty({
    type: [ImportProblemDto],
    description: 'Why the file was refused, or the first 50 rows with an error.',
  })
  problems!: ImportProblemDto[];
}

export class ImportRunPageDto {
  @ApiProperty({ type: 'integer', minimum: 0 }) Count!: number;
  @ApiProperty({ type: [ImportRunDto] }) Results!: ImportRunDto[];
}

class ImportRowDto {
  @ApiProperty({ type: 'integer', nullable: true, description: 'null for a user that the file lacks.' })
  line!: number | null;
  @ApiProperty({ enum: [...ROW_OUTCOMES, 'missing'] }) outcome!: string;
  @ApiProperty({ example: 'HR-10042' }) external_id!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) uuid!: string | null;
  @ApiProperty({ type: [RowErrorDto] }) errors!: RowErrorDto[];
  @ApiProperty({ type: [FieldChangeDto] }) changes!: FieldChangeDto[];
}

export class ImportRowPageDto {
  @ApiProperty({ type: 'integer', minimum: 0 }) Count!: number;
  @ApiProperty({ type: [ImportRowDto] }) Results!: ImportRowDto[];
}
