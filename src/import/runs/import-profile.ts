import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsDefined, IsObject, IsString, Matches, MaxLength } from 'class-validator';
import { fieldsOf } from '../../platform/common/fields.js';
import { NoControlCharacters, Rule, LimitSize } from '../../platform/input/field-rules.js';
import { countCharacters } from '../../platform/common/text.js';
import type { GuardOverrides } from './import-guard.js';
import { ImportOptions, type RunOptions } from './import-options.js';

/** Maximum number of columns of a file or a profile. */
export const MAX_COLUMNS = 200;
/** Maximum length of a template, in characters. */
export const MAX_TEMPLATE = 500;
export const MAX_TRANSLATIONS = 200;
export const MAX_VALUE_LENGTH = 255;
const MAX_LINES = 100;
/** Target of source columns that are not imported. */
export const IGNORED = 'ignore';

const DATE_FORMAT = /^(YYYY|MM?|DD?)([-./ ]?)(YYYY|MM?|DD?)\2(YYYY|MM?|DD?)$/;

/** Returns true for a format with year, month and day, such as `D.M.YYYY`. Without a separator, it has eight digits. */
export function isDateFormat(value: unknown): boolean {
  const [format = '', first = '', separator = '', ...others] =
    DATE_FORMAT.exec(String(value).toUpperCase()) ?? [];
  const kinds = new Set([first, ...others].map((part) => part.charAt(0)));
  return kinds.size === 3 && (separator !== '' || format.length === 8);
}

const toMapSchema = (maxLength: number, maxProperties = MAX_COLUMNS) =>
  ({ type: 'object', additionalProperties: { type: 'string', maxLength }, maxProperties }) as const;
const isLineCount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_LINES;
const LineCount = (description: string) =>
  applyDecorators(
    ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: MAX_LINES, description }),
    Rule('invalid_value', `must be an integer from 0 to ${MAX_LINES}`, isLineCount),
  );

/** Declares a text such as the name of a source column. */
const ShortText = (description: string) =>
  applyDecorators(
    ApiPropertyOptional({ type: String, maxLength: MAX_VALUE_LENGTH, description }),
    IsString(),
    MaxLength(MAX_VALUE_LENGTH),
    NoControlCharacters(),
  );

/** Fields of a profile, which describes how the files of one source are read (interface §6). */
export class ProfileFields extends ImportOptions {
  @ApiProperty({
    ...toMapSchema(64),
    example: {
      'Employee No': 'ExternalId',
      Login: 'Username',
      Mail: 'Email',
      State: 'Status',
      Salary: 'ignore',
    },
    description:
      'Maps the headers of source columns to import columns or `ignore`. If several source columns map to Status, `Blocked` takes precedence.',
  })
  @LimitSize({ members: MAX_COLUMNS, text: MAX_VALUE_LENGTH })
  @IsDefined()
  @IsObject()
  columns!: Readonly<Record<string, string>>;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: toMapSchema(MAX_VALUE_LENGTH, MAX_TRANSLATIONS),
    maxProperties: MAX_COLUMNS,
    example: { State: { employed: 'Active', '*': 'Blocked' } },
    description:
      'Translates the values of a source column or an import column. Case is ignored. `*` stands for any other value, and an ' +
      'empty key for a blank cell. Values that are not listed stay unchanged.',
  })
  @LimitSize({ members: MAX_TRANSLATIONS, text: MAX_VALUE_LENGTH })
  @IsObject()
  values?: Readonly<Record<string, Readonly<Record<string, string>>>>;

  @ApiPropertyOptional({
    ...toMapSchema(MAX_TEMPLATE),
    example: { KnownAs: '{Nickname|First name}', Authname: '{Mail:lower}' },
    description:
      'Maps each import column to a constant or to a template of source columns. `{Mail}` inserts a column, ' +
      '`{Nickname|First name}` inserts the first column that is not blank, and `{Surname:ascii:lower}` applies functions: ' +
      '`lower`, `upper`, `title`, `ascii`, `german`, `trim`, `digits`, `pad:N`, `before:X`, `after:X`, and `unique` at the ' +
      'end of a template for Username. `{Mail} || {No}@example.org` uses the first alternative that is not blank. ' +
      '`\\` escapes the next character.',
  })
  @LimitSize({ members: MAX_COLUMNS, text: MAX_TEMPLATE })
  @IsObject()
  set?: Readonly<Record<string, string>>;

  @ApiPropertyOptional({
    type: String,
    maxLength: 1,
    description: 'Character that is removed from the start of every cell.',
  })
  @Rule(
    'invalid_value',
    'must be one character',
    (value) => typeof value === 'string' && countCharacters(value) === 1,
  )
  @IsString()
  @NoControlCharacters()
  strip_prefix?: string;

  @ShortText('Source column of the first day on which the user is active. A blank cell sets no limit.')
  active_from?: string;

  @ShortText('Source column of the last day on which the user is active. A blank cell sets no limit.')
  active_until?: string;

  @ApiPropertyOptional({
    type: String,
    maxLength: 10,
    example: 'DD.MM.YYYY',
    description:
      'Format of `active_from` and `active_until`: YYYY, MM or M, and DD or D, in any order, separated by `-` `.` `/` or a space. Default: YYYY-MM-DD.',
  })
  @Rule(
    'invalid_value',
    'must consist of YYYY (a year of four digits), MM or M, and DD or D, as in DD.MM.YYYY',
    isDateFormat,
  )
  @MaxLength(10)
  @IsString()
  date_format?: string;

  @ShortText('Source column by which Manager identifies a manager, if it is not ExternalId.')
  manager_key?: string;

  @LineCount('Number of lines to skip before the header.')
  skip_lines?: number;

  @LineCount('Number of lines to skip after the last row.')
  skip_last_lines?: number;

  @ShortText(
    'Files in the drop folder use this profile if their names match this pattern. `*` matches any characters, and `?` matches one character.',
  )
  @Matches(/^[^/\\]+$/, { message: 'must be a file name, where * matches any characters and ? matches one' })
  pattern?: string;

  /** `ProfileInput` adds the schema, which lists the guards. */
  @IsObject()
  guards?: GuardOverrides;
}

/** A profile after validation, with only the fields that were sent. */
export type ImportProfile = Pick<ProfileFields, 'columns'> & Partial<ProfileFields>;

export interface NamedProfile extends ImportProfile {
  name: string;
  /** Id of a saved profile. */
  id?: string;
}

export interface ImportRequest {
  options: RunOptions;
  profile: NamedProfile | null;
}

export function optionsOf(profile: ImportProfile): Partial<ImportOptions> {
  const names = fieldsOf(ImportOptions);
  return Object.fromEntries(Object.entries(profile).filter(([name]) => names.has(name)));
}
