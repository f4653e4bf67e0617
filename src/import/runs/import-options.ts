import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn } from 'class-validator';
import {
  BooleanParam,
  ChoiceParam,
  IntegerParam,
  PatternParam,
  type QuerySchema,
  UuidParam,
} from '../../platform/input/query-rules.js';
import { findEncoding } from '../../platform/common/encoding.js';
import { isWithin } from '../../platform/common/text.js';
import { Normalize, Rule } from '../../platform/input/field-rules.js';
import { MANAGED_BY_SCIM } from '../../users/model/formats.js';

export const MODES = ['upsert', 'create_only', 'update_only'] as const;
export const MISSING_MODES = ['keep', 'report', 'block'] as const;
export const RETURNING_MODES = ['reactivate', 'report'] as const;
const DELIMITERS: Readonly<Record<string, string>> = { ',': ',', ';': ';', '|': '|', '\t': '\t', tab: '\t' };

/** Maximum length of a list of roles, in characters. It equals the maximum length of a form field. */
const MAX_ROLES_TEXT = 4096;

const MAX_ENCODING = 32;

const isEncoding = (label: unknown): boolean =>
  typeof label === 'string' && label.length <= MAX_ENCODING && findEncoding(label) !== undefined;

const ROLES_RULE = { message: 'must contain 1 to 32 roles' };
const parseRoles = (text: string): string[] => text.split(/[;|,]/).flatMap((role) => role.trim() || []);

/** Pattern of a data set that imports may manage. */
export const DATASET = new RegExp(`^(?!${MANAGED_BY_SCIM}$)[A-Za-z0-9._-]{1,64}$`);
export const DATASET_RULE = `must be 1 to 64 characters of A-Z a-z 0-9 . _ -, and must not be ${MANAGED_BY_SCIM}`;

export const DatasetParam = (schema: QuerySchema = {}) =>
  PatternParam(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 characters of A-Z a-z 0-9 . _ -', {
    maxLength: 64,
    ...schema,
  });

/** Options of an import and their defaults, for uploads, the command line and the schedule (interface §6). */
export class ImportOptions {
  @BooleanParam({ default: false, description: 'Only create the plan. Call `apply` to carry it out.' })
  dry_run: boolean = false;

  @ChoiceParam(MODES, { default: 'upsert' })
  mode: (typeof MODES)[number] = 'upsert';

  @ChoiceParam(MISSING_MODES, {
    default: 'keep',
    description: 'Action for active users of the data set who are not in the file: keep, report or block.',
  })
  missing: (typeof MISSING_MODES)[number] = 'keep';

  @ChoiceParam(RETURNING_MODES, {
    default: 'reactivate',
    description:
      'Action for users who were blocked because they were missing from the file, and who are in the file again: reactivate or report.',
  })
  returning: (typeof RETURNING_MODES)[number] = 'reactivate';

  @PatternParam(DATASET, DATASET_RULE, {
    maxLength: 64,
    default: 'default',
    description:
      'Name of the data set, which contains the users of one source: 1 to 64 characters of A-Z a-z 0-9 . _ -. The name scim is reserved for identity providers.',
  })
  dataset: string = 'default';

  @DatasetParam({
    description:
      'Name of the part of the data set that the file contains. Only users of this part can be missing from the file, and only older plans of this part are replaced.',
  })
  part?: string;

  @ChoiceParam(['clear', 'keep'], { default: 'clear', description: 'Effect of an empty cell on the value.' })
  blank_cells: 'clear' | 'keep' = 'clear';

  @ChoiceParam(['none', 'email', 'username'], {
    default: 'none',
    description: 'Field that links a row to a user who has no external id yet. `none`: users are not linked.',
  })
  adopt: 'none' | 'email' | 'username' = 'none';

  @ApiPropertyOptional({
    type: String,
    maxLength: MAX_ROLES_TEXT,
    description: 'Roles for new users whose rows contain no roles, separated by `;` or `|`.',
  })
  @Normalize((raw) => (typeof raw === 'string' && isWithin(raw, MAX_ROLES_TEXT) ? parseRoles(raw) : raw))
  @IsArray(ROLES_RULE)
  @ArrayMaxSize(32, ROLES_RULE)
  @ArrayMinSize(1, ROLES_RULE)
  default_roles?: string[];

  @ApiPropertyOptional({
    type: String,
    maxLength: 3,
    // Use a pattern instead of an enum. Client generators turn enum values into names, which is impossible for
    // characters such as `;`.
    pattern: '^(,|;|\\||\\t|tab)$',
    description: 'Column delimiter: `,` `;` `|` or `tab`. By default, it is detected from the header.',
  })
  @Normalize((raw) => (typeof raw === 'string' ? (DELIMITERS[raw] ?? raw) : raw))
  @IsIn(Object.values(DELIMITERS), { message: 'must be one of , ; | tab' })
  delimiter?: string;

  @ApiPropertyOptional({
    type: String,
    maxLength: MAX_ENCODING,
    description: 'Encoding, such as windows-1252. Default: UTF-8, or UTF-16 with a byte order mark.',
  })
  @Rule('invalid_value', 'must be the name of an encoding such as windows-1252', isEncoding)
  encoding?: string;

  @BooleanParam({ default: false })
  ignore_unknown_columns: boolean = false;

  @BooleanParam({
    default: false,
    description: "Allow rows that grant Webmaster, or change a Webmaster's status, roles or identifiers.",
  })
  allow_privileged: boolean = false;

  @IntegerParam(1, { description: 'Expected number of rows. A file with a different number is rejected.' })
  expected_rows?: number;
}

/** Maximum number of lines in `adopt_rows`. */
const MAX_ADOPTED_ROWS = 500;
const LINES = /^\d{1,7}(,\d{1,7})*$/;
const parseLines = (text: string): number[] | string =>
  LINES.test(text) ? text.split(',').map(Number) : text;
const isLineList = (value: unknown): boolean => Array.isArray(value) && value.length <= MAX_ADOPTED_ROWS;

/** Options of one run, which a profile cannot set. */
export class RunOptions extends ImportOptions {
  @UuidParam({
    description:
      'Id of a finished run whose failed rows the file contains. The new run takes the profile and the options of that run, ' +
      'unless they are sent, and never counts users as missing.',
  })
  corrects?: string;

  @ApiPropertyOptional({
    type: String,
    maxLength: MAX_ROLES_TEXT,
    pattern: LINES.source,
    description:
      'Lines, separated by commas, whose conflicting user is the same person. Each of these rows takes over the user who has ' +
      'its username or e-mail address. In a `failed.csv`, lines are the numbers in the column `_line`.',
  })
  @Normalize((raw) => (typeof raw === 'string' ? parseLines(raw.replaceAll(' ', '')) : raw))
  @Rule('invalid_value', `must be 1 to ${MAX_ADOPTED_ROWS} line numbers, separated by commas`, isLineList)
  adopt_rows?: number[];
}

/** Pattern of a profile name. `.` and `..` are invalid, because clients remove them from the path of a URL. */
export const PROFILE_NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;

/** Options of a request: the name of a profile, and options that override it. */
export class RequestedOptions extends RunOptions {
  @PatternParam(PROFILE_NAME, 'must be 1 to 64 characters of A-Z a-z 0-9 . _ -, and must not be . or ..', {
    maxLength: 64,
    description: 'Name of the profile that describes the file. `GET /import_profiles` lists the profiles.',
  })
  profile?: string;
}

/** Options that require a person who supervises the run. A schedule or a profile with a pattern cannot set them. */
export const SUPERVISED = ['allow_privileged', 'dry_run', 'expected_rows'] as const;

/** Returns the names of the supervised options that differ from their defaults. */
export function listSupervisedOptions(options: Partial<ImportOptions>): string[] {
  const defaults = new ImportOptions();
  return SUPERVISED.filter((name) => options[name] !== undefined && options[name] !== defaults[name]);
}

/**
 * Returns true if a file name matches a pattern, ignoring case. `*` matches any characters, and `?` matches one
 * character. The time is at most proportional to the product of both lengths.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const given = Array.from(name.toLowerCase());
  /** Lengths of the beginnings of the name that the part of the pattern read so far matches. */
  let ends = [0];
  for (const wanted of pattern.toLowerCase()) {
    if (wanted === '*') {
      const [first = Infinity] = ends;
      ends = [...given.keys(), given.length].filter((end) => end >= first);
    } else {
      const matched = ends.filter((end) => end < given.length && (wanted === '?' || wanted === given[end]));
      ends = matched.map((end) => end + 1);
    }
  }
  return ends.includes(given.length);
}
