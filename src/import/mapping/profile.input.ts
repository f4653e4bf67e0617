import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsDefined, IsObject, IsString, Matches, MaxLength } from 'class-validator';
import { Clean, Rule, Sized } from '../../platform/input/field-rules.js';
import { characters } from '../../platform/common/text.js';
import { ImportOptions } from '../runs/import-options.js';
import { type GuardOverrides, guardProperties } from '../runs/guard-limits.js';
import { MAX_TEMPLATE } from './template.js';

/** As many as a file may have columns. */
export const MAX_COLUMNS = 200;
/** Words of one column. */
export const MAX_WORDS = 200;
export const MAX_WORD = 255;
const MAX_LINES = 100;

const texts = (maxLength: number) => ({ type: 'string', maxLength }) as const;
const isLineCount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_LINES;
const LineCount = () => Rule('invalid_value', `must be an integer from 0 to ${MAX_LINES}`, isLineCount);

/** How the files of one source are read, as a client or a file of the command line says it. */
export class ProfileInput extends ImportOptions {
  @ApiProperty({
    type: 'object',
    additionalProperties: texts(64),
    maxProperties: MAX_COLUMNS,
    example: {
      'Employee No': 'ExternalId',
      Login: 'Username',
      Mail: 'Email',
      State: 'Status',
      Salary: 'ignore',
    },
    description:
      'Header of the source → our column, or `ignore`. Nothing else is read. Several may be Status: `Blocked` wins.',
  })
  @Sized({ members: MAX_COLUMNS, text: MAX_WORD })
  @IsDefined()
  @IsObject()
  columns!: Record<string, string>;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: texts(MAX_WORD), maxProperties: MAX_WORDS },
    maxProperties: MAX_COLUMNS,
    example: { State: { employed: 'Active', '*': 'Blocked' } },
    description:
      'By header of the source, or by our column: word → what it means, in any case. `*` is any other word, and an empty ' +
      'one a blank cell. Words that are not listed stay as they are.',
  })
  @Sized({ members: MAX_WORDS, text: MAX_WORD })
  @IsObject()
  values?: Record<string, Record<string, string>>;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: texts(MAX_TEMPLATE),
    maxProperties: MAX_COLUMNS,
    example: { KnownAs: '{Nickname|First name}', Authname: '{Mail:lower}' },
    description:
      'Our column → a constant, or a template over the columns of the source: `{Mail}`; `{Nickname|First name}`, the first ' +
      'that is not blank; `{Surname:ascii:lower}` with the functions `lower`, `ascii`, `trim`. `\\` takes the meaning of ' +
      'the next character.',
  })
  @Sized({ members: MAX_COLUMNS, text: MAX_TEMPLATE })
  @IsObject()
  set?: Record<string, string>;

  @ApiPropertyOptional({
    type: String,
    maxLength: 1,
    description: 'A character that is taken off the front of every cell.',
  })
  @Rule(
    'invalid_value',
    'must be one character',
    (value) => typeof value === 'string' && characters(value) === 1,
  )
  @IsString()
  @Clean()
  strip_prefix?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_LINES,
    description: 'Lines above the header.',
  })
  @LineCount()
  skip_lines?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_LINES,
    description: 'Lines below the last row.',
  })
  @LineCount()
  skip_last_lines?: number;

  @ApiPropertyOptional({
    type: String,
    maxLength: MAX_WORD,
    description: 'Names of files in the drop folder that it is for; `*` matches any characters and `?` one.',
  })
  @IsString()
  @MaxLength(MAX_WORD)
  @Clean()
  @Matches(/^[^/\\]+$/, { message: 'must be a file name, in which * matches any characters and ? one' })
  pattern?: string;

  @ApiPropertyOptional({
    type: 'object',
    properties: guardProperties(),
    example: { deactivations: { rows: 20 }, changed_field: { percent: 40 } },
    description:
      'Limits of guards that go before the settings, by guard; those that are left out stay. `changed_logins` is ' +
      '`changed_field` of username, e-mail, authname and roles, and `same_file` is `old_file` of a file with the same bytes.',
  })
  @IsObject()
  guards?: GuardOverrides;
}
