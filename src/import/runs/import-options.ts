import { ApiPropertyOptional } from '@nestjs/swagger';
import { TextDecoder } from 'node:util';
import { choices } from '../../http/docs.js';
import { Normalise } from '../../input/normalise.js';
import {
  BooleanParam,
  ChoiceParam,
  IntegerParam,
  MAX_INTEGER,
  PatternParam,
} from '../../input/query-rules.js';
import { Rule, all } from '../../input/rules.js';

export const MODES = ['upsert', 'create_only', 'update_only'] as const;
export const MISSING = ['keep', 'report', 'block'] as const;
const DELIMITERS: Readonly<Record<string, string>> = { ',': ',', ';': ';', '|': '|', '\t': '\t', tab: '\t' };

/** As long as a form field may be. */
const MAX_ROLES_TEXT = 4096;

const DelimiterParam = () =>
  all(
    Normalise((raw) => (typeof raw === 'string' ? (DELIMITERS[raw] ?? raw) : raw)),
    Rule('invalid_value', 'must be one of , ; | tab', (value) =>
      Object.values(DELIMITERS).includes(value as string),
    ),
  );

function isEncoding(label: unknown): boolean {
  try {
    return typeof label === 'string' && label.length <= 32 && new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

const RolesParam = () =>
  Normalise((raw) =>
    typeof raw === 'string'
      ? raw
          .split(/[;|,]/)
          .map((role) => role.trim())
          .filter((role) => role !== '')
      : raw,
  );

/** Options of an import (interface §6): the same at every door. What is not given has the value that stands here. */
export class ImportOptions {
  @ApiPropertyOptional({ type: Boolean, default: false, description: 'Plan only: nothing is written.' })
  @BooleanParam()
  dry_run: boolean = false;

  @ApiPropertyOptional({ ...choices(MODES), default: 'upsert' })
  @ChoiceParam(MODES)
  mode: (typeof MODES)[number] = 'upsert';

  @ApiPropertyOptional({
    ...choices(MISSING),
    default: 'keep',
    description: 'Active users of the data set that the file lacks: left alone, listed, or blocked.',
  })
  @ChoiceParam(MISSING)
  missing: (typeof MISSING)[number] = 'keep';

  @ApiPropertyOptional({
    type: String,
    maxLength: 64,
    pattern: '^[A-Za-z0-9._-]{1,64}$',
    default: 'default',
    description: 'Name of the source: 1 to 64 of A-Z a-z 0-9 . _ -',
  })
  @PatternParam(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 . _ -')
  dataset: string = 'default';

  @ApiPropertyOptional({
    ...choices(['clear', 'keep']),
    default: 'clear',
    description: 'What an empty cell does to its field.',
  })
  @ChoiceParam(['clear', 'keep'])
  blank_cells: 'clear' | 'keep' = 'clear';

  @ApiPropertyOptional({
    ...choices(['none', 'email', 'username']),
    default: 'none',
    description: 'Take over a user without external id that has the same e-mail address or username.',
  })
  @ChoiceParam(['none', 'email', 'username'])
  adopt: 'none' | 'email' | 'username' = 'none';

  @ApiPropertyOptional({
    type: String,
    maxLength: MAX_ROLES_TEXT,
    description: 'Roles of new users whose row names none, separated by `;` or `|`.',
  })
  @RolesParam()
  @Rule(
    'invalid_value',
    'must name 1 to 32 roles',
    (value) => Array.isArray(value) && value.length > 0 && value.length <= 32,
  )
  default_roles?: string[];

  @ApiPropertyOptional({
    type: String,
    maxLength: 3,
    description: '`,` `;` `|` or `tab`; found from the header when not given.',
  })
  @DelimiterParam()
  delimiter?: string;

  @ApiPropertyOptional({
    type: String,
    maxLength: 32,
    description: 'Such as windows-1252; UTF-8, or UTF-16 with a byte order mark, when not given.',
  })
  @Rule('invalid_value', 'must be the name of an encoding such as windows-1252', isEncoding)
  encoding?: string;

  @ApiPropertyOptional({ type: Boolean, default: false })
  @BooleanParam()
  ignore_unknown_columns: boolean = false;

  @ApiPropertyOptional({
    type: Boolean,
    default: false,
    description: "Allow rows that grant Webmaster, or change a Webmaster's status or roles.",
  })
  @BooleanParam()
  allow_privileged: boolean = false;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_INTEGER,
    description: 'The file is refused when it has another number of rows.',
  })
  @IntegerParam(1)
  expected_rows?: number;
}
