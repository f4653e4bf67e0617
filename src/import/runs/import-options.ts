import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsIn } from 'class-validator';
import {
  BooleanParam,
  ChoiceParam,
  IntegerParam,
  PatternParam,
  type QuerySchema,
} from '../../platform/input/query-rules.js';
import { findEncoding } from '../../platform/common/encoding.js';
import { isWithin } from '../../platform/common/text.js';
import { Normalise, Rule } from '../../platform/input/rules.js';
import { MANAGED_BY_SCIM } from '../../users/model/formats.js';

export const MODES = ['upsert', 'create_only', 'update_only'] as const;
export const MISSING = ['keep', 'report', 'block'] as const;
export const RETURNING = ['reactivate', 'report'] as const;
const DELIMITERS: Readonly<Record<string, string>> = { ',': ',', ';': ';', '|': '|', '\t': '\t', tab: '\t' };

/** As long as a form field may be. */
const MAX_ROLES_TEXT = 4096;

const DelimiterParam = () =>
  applyDecorators(
    ApiPropertyOptional({
      type: String,
      maxLength: 3,
      // No enum: generators make names of its values, and these have no letters.
      pattern: `^(${Object.keys(DELIMITERS)
        .map((delimiter) => delimiter.replace('|', '\\|').replace('\t', '\\t'))
        .join('|')})$`,
      description: '`,` `;` `|` or `tab`; found from the header when it is not set.',
    }),
    Normalise((raw) => (typeof raw === 'string' ? (DELIMITERS[raw] ?? raw) : raw)),
    IsIn(Object.values(DELIMITERS), { message: 'must be one of , ; | tab' }),
  );

const MAX_ENCODING = 32;

const EncodingParam = () =>
  applyDecorators(
    ApiPropertyOptional({
      type: String,
      maxLength: MAX_ENCODING,
      description: 'Such as windows-1252; UTF-8, or UTF-16 with a byte order mark, when it is not set.',
    }),
    Rule('invalid_value', 'must be the name of an encoding such as windows-1252', isEncoding),
  );

const isEncoding = (label: unknown): boolean =>
  typeof label === 'string' && label.length <= MAX_ENCODING && findEncoding(label) !== undefined;

const listed = (text: string): string[] =>
  text
    .split(/[;|,]/)
    .map((role) => role.trim())
    .filter((role) => role !== '');

const RolesParam = (schema: QuerySchema) => {
  const rule = { message: 'must name 1 to 32 roles' };
  return applyDecorators(
    ApiPropertyOptional({ type: String, maxLength: MAX_ROLES_TEXT, ...schema }),
    Normalise((raw) => (typeof raw === 'string' && isWithin(raw, MAX_ROLES_TEXT) ? listed(raw) : raw)),
    ArrayMinSize(1, rule),
    ArrayMaxSize(32, rule),
  );
};

/** The name of a data set, or of a part of one. */
export const DatasetParam = (schema: QuerySchema = {}) =>
  PatternParam(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 . _ -', {
    maxLength: 64,
    ...schema,
  });

/** The name of a data set that an import may have: not that of the users of identity providers. */
const OwnDatasetParam = (schema: QuerySchema) =>
  PatternParam(
    new RegExp(`^(?!${MANAGED_BY_SCIM}$)[A-Za-z0-9._-]{1,64}$`),
    `must be 1 to 64 of A-Z a-z 0-9 . _ -, and not ${MANAGED_BY_SCIM}`,
    { maxLength: 64, ...schema },
  );

/** Options of an import (interface §6): the same for upload, command line and schedule, with their defaults. */
export class ImportOptions {
  @BooleanParam({ default: false, description: 'Plan only: nothing is written.' })
  dry_run: boolean = false;

  @ChoiceParam(MODES, { default: 'upsert' })
  mode: (typeof MODES)[number] = 'upsert';

  @ChoiceParam(MISSING, {
    default: 'keep',
    description: 'Active users of the data set that the file lacks: left alone, listed, or blocked.',
  })
  missing: (typeof MISSING)[number] = 'keep';

  @ChoiceParam(RETURNING, {
    default: 'reactivate',
    description:
      'What happens to users who were blocked because the file of the data set lacked them, when it lists them again.',
  })
  returning: (typeof RETURNING)[number] = 'reactivate';

  @OwnDatasetParam({
    default: 'default',
    description:
      'Name of the source: 1 to 64 of A-Z a-z 0-9 . _ -, and not scim, which names identity providers.',
  })
  dataset: string = 'default';

  @DatasetParam({
    description:
      'This file is one of several of the data set: users are missing, and newer files replace older ones, within the part.',
  })
  part?: string;

  @ChoiceParam(['clear', 'keep'], { default: 'clear', description: 'What an empty cell does to its field.' })
  blank_cells: 'clear' | 'keep' = 'clear';

  @ChoiceParam(['none', 'email', 'username'], {
    default: 'none',
    description: 'Take over a user without external id that has the same e-mail address or username.',
  })
  adopt: 'none' | 'email' | 'username' = 'none';

  @RolesParam({ description: 'Roles of new users whose row names none, separated by `;` or `|`.' })
  default_roles?: string[];

  @DelimiterParam()
  delimiter?: string;

  @EncodingParam()
  encoding?: string;

  @BooleanParam({ default: false })
  ignore_unknown_columns: boolean = false;

  @BooleanParam({
    default: false,
    description: "Allow rows that grant Webmaster, or change a Webmaster's status or roles.",
  })
  allow_privileged: boolean = false;

  @IntegerParam(1, { description: 'The file is refused when it has another number of rows.' })
  expected_rows?: number;
}

/** The name of a profile. Clients take `.` and `..` out of a path before they send it. */
export const PROFILE_NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;

/** What a caller asks for: the profile of the file, and options that go before those of the profile. */
export class RequestedOptions extends ImportOptions {
  @PatternParam(PROFILE_NAME, 'must be 1 to 64 of A-Z a-z 0-9 . _ -, and not . or ..', {
    maxLength: 64,
    description: 'How the file is read: a profile of `GET /import_profiles`.',
  })
  profile?: string;
}
