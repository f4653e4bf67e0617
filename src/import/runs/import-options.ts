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
import { Normalise, Rule } from '../../platform/input/field-rules.js';
import { MANAGED_BY_SCIM } from '../../users/model/formats.js';
import { fieldsOf } from '../../platform/common/fields.js';
import type { GuardOverrides } from './guard-limits.js';

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

/** The options of a request: the profile of the file, and options that go before those of the profile. */
export class RequestedOptions extends ImportOptions {
  @PatternParam(PROFILE_NAME, 'must be 1 to 64 of A-Z a-z 0-9 . _ -, and not . or ..', {
    maxLength: 64,
    description: 'How the file is read: a profile of `GET /import_profiles`.',
  })
  profile?: string;
}

/** Of a source column that is dropped when it is read. */
export const IGNORE = 'ignore';

/** How the files of one source are read, as it was checked when it was saved (interface §6). */
export interface ImportProfile extends Partial<ImportOptions> {
  /** Source header → our column, or `ignore`. Several may fill Status, of which `Blocked` wins. */
  columns: Readonly<Record<string, string>>;
  /** By source header or by our column: the words of the source and what they mean. */
  values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Our column → a constant, or a template over the columns of the source. */
  set?: Readonly<Record<string, string>>;
  /** One character that is taken off the front of every cell. */
  strip_prefix?: string;
  /** Lines of text above the header, and below the last row. */
  skip_lines?: number;
  skip_last_lines?: number;
  /** Names of files in the drop folder that it is for; `*` matches any characters and `?` one. */
  pattern?: string;
  /** Limits of guards that go before the settings. */
  guards?: GuardOverrides;
}

/** A profile as a run keeps it: the plan must not change with the profile that it was made of. */
export interface NamedProfile extends ImportProfile {
  name: string;
}

/** How a file is imported. */
export interface Requested {
  options: ImportOptions;
  profile: NamedProfile | null;
}

/** Options of runs that a person watches: neither a schedule nor a profile with a pattern may set them. */
export const ATTENDED = ['allow_privileged', 'dry_run', 'expected_rows'] as const;

/** Returns the options of `ATTENDED` that differ from their defaults. */
export function attendedIn(options: Partial<ImportOptions>): string[] {
  const defaults = new ImportOptions();
  return ATTENDED.filter((name) => options[name] !== undefined && options[name] !== defaults[name]);
}

/** The options of an import that a profile sets. */
export function optionsOf(profile: ImportProfile): Partial<ImportOptions> {
  const names = fieldsOf(ImportOptions);
  return Object.fromEntries(Object.entries(profile).filter(([name]) => names.has(name)));
}

/**
 * Whether a file name matches a pattern in which `*` is any number of characters and `?` one, in any case. In time
 * proportional to the product of their lengths, whatever they are.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const wanted = Array.from(pattern.toLowerCase());
  const given = Array.from(name.toLowerCase());
  let at = 0;
  let star = -1;
  /** How far the last star reaches. */
  let reach = 0;
  for (let index = 0; index < given.length;) {
    if (wanted[at] === '*') {
      star = at++;
      reach = index;
    } else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === given[index])) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++reach;
    } else return false;
  }
  while (wanted[at] === '*') at++;
  return at === wanted.length;
}
