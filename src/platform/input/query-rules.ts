import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, Matches, MaxLength, type ValidationOptions } from 'class-validator';
import { countCharacters, isCleanText, normalizeText, toChoice } from '../common/text.js';
import { type DbTime, isDbTime, toDbTime } from '../common/time.js';
import { UUID } from '../common/uuid.js';
import { Normalize, Rule, LimitSize } from './field-rules.js';

/**
 * Additional OpenAPI schema of a query parameter. Each decorator in this file declares the schema, the parsing and the
 * rules of a parameter. A value that cannot be parsed stays text and fails its rule. An empty value is an error.
 */
export interface QuerySchema {
  default?: unknown;
  description?: string;
  example?: unknown;
  format?: string;
  maxLength?: number;
}

const createParser =
  (parse: (text: string) => string | number | boolean | undefined) =>
  (raw: unknown): unknown =>
    typeof raw === 'string' ? (parse(raw.trim()) ?? raw) : emptyIfNull(raw);
/** Replaces null, which JSON can contain, by an empty text, because a parameter is never cleared. */
const emptyIfNull = (raw: unknown): unknown => (raw === null ? '' : raw);
const trimText = createParser((text) => text);

/**
 * Maximum value of an integer parameter. Every engine accepts this value as an offset. A larger number is replaced by
 * this value.
 */
const MAX_INTEGER = 1e15;

const NumberParam = (pattern: RegExp, message: string, min: number, max: number, schema: QuerySchema) =>
  applyDecorators(
    ApiPropertyOptional({ type: 'integer', minimum: min, maximum: max, ...schema }),
    Normalize(createParser((text) => (pattern.test(text) ? Math.min(Number(text), MAX_INTEGER) : undefined))),
    Rule('invalid_value', message, (value) => isIntegerWithin(value, min, max)),
  );

const isIntegerWithin = (value: unknown, min: number, max: number): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;

export const RangeParam = (min: number, max: number, schema: QuerySchema = {}) =>
  NumberParam(/^-?\d{1,9}$/, `must be an integer from ${min} to ${max}`, min, max, schema);

export const IntegerParam = (min: number, schema: QuerySchema = {}) =>
  NumberParam(/^\d+$/, `must be an integer of at least ${min}`, min, MAX_INTEGER, schema);

/** Maximum repetitions of a parameter, so that all values fit into one SQL statement. */
const MAX_REPEATS = 100;
const hasAllowedSize = (list: unknown): boolean =>
  Array.isArray(list) && list.length > 0 && list.length <= MAX_REPEATS;

export const BooleanParam = (schema: QuerySchema = {}) =>
  applyDecorators(
    ApiPropertyOptional({ type: Boolean, ...schema }),
    Normalize(createParser((text) => (text === 'true' ? true : text === 'false' ? false : undefined))),
    IsBoolean({ message: 'must be true or false' }),
  );

/**
 * OpenAPI extension with the allowed values of a query parameter, because Nest drops the `enum` of a parameter in a
 * class.
 */
export const CHOICES = 'x-choices';

export const ChoiceParam = (choices: readonly string[], schema: QuerySchema = {}) =>
  applyDecorators(
    ApiPropertyOptional({ enum: [...choices], ...{ [CHOICES]: [...choices] }, ...schema }),
    Normalize(trimText),
    IsIn(choices, { message: `must be one of ${choices.join(', ')}` }),
  );

/** Declares a parameter that may be repeated. @param items schema of a value. @param rules rules for each value. */
const ListParam = (
  items: { enum?: string[]; format?: string; maxLength?: number },
  message: string,
  schema: QuerySchema,
  rules: (options: ValidationOptions) => PropertyDecorator[],
  parse = (text: unknown): unknown => text,
) => {
  const rule = { message: `${message}, repeated at most ${MAX_REPEATS} times` };
  return applyDecorators(
    ApiPropertyOptional({
      ...{ type: 'array', items: { type: 'string', ...items }, maxItems: MAX_REPEATS },
      ...schema,
    }),
    Normalize((raw) => [emptyIfNull(raw)].flat().map(parse)),
    Rule('invalid_value', rule.message, hasAllowedSize),
    ...rules({ ...rule, each: true }),
  );
};

/** Like `ChoiceParam`, but the parameter may be repeated, and case is ignored. */
export const ChoicesParam = (choices: readonly string[], schema: QuerySchema = {}) =>
  ListParam(
    { enum: [...choices] },
    `must be one of ${choices.join(', ')}`,
    schema,
    (each) => [IsIn(choices, each)],
    (text) => toChoice(choices, text),
  );

/** Declares a text parameter that may be repeated. If the allowed values depend on settings, the caller validates them. */
export const TextsParam = (max: number, schema: QuerySchema = {}) =>
  ListParam({ maxLength: max }, `must have 1 to ${max} characters`, schema, (each) => [
    Matches(/\S/, each),
    MaxLength(max, each),
  ]);

/** Like `UuidParam`, but the parameter may be repeated. */
export const UuidsParam = (schema: QuerySchema = {}) =>
  ListParam({ format: 'uuid' }, 'must be a UUID', schema, (each) => [Matches(UUID, each)]);

export const TextParam = (max: number, schema: QuerySchema = {}) =>
  applyDecorators(
    ApiPropertyOptional({ type: String, maxLength: max, ...schema }),
    LimitSize({ text: max }),
    Normalize(createParser(normalizeText)),
    Rule(
      'invalid_value',
      `must be one text of 1 to ${max} characters without control characters`,
      (value) =>
        typeof value === 'string' && value !== '' && countCharacters(value) <= max && isCleanText(value),
    ),
  );

export const PatternParam = (pattern: RegExp, message: string, schema: QuerySchema = {}) =>
  applyDecorators(
    ApiPropertyOptional({
      type: String,
      ...(pattern.flags === '' && { pattern: pattern.source }),
      ...schema,
    }),
    Normalize(trimText),
    Matches(pattern, { message }),
  );

export const UuidParam = (schema: QuerySchema = {}, message = 'must be a UUID') =>
  PatternParam(UUID, message, { format: 'uuid', ...schema });

const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Declares a time in ISO 8601 with `Z` or an offset, or a date (midnight UTC). */
export const TimeParam = (schema: QuerySchema = {}) =>
  applyDecorators(
    ApiPropertyOptional({ type: String, format: 'date-time', ...schema }),
    Normalize(createParser(parseTime)),
    Rule(
      'invalid_value',
      'must be a time such as 2026-01-31T12:00:00Z or a date such as 2026-01-31',
      (value) => typeof value === 'string' && isDbTime(value),
    ),
  );

/** Parses an ISO 8601 time or date. @returns undefined for invalid text, or for a day that does not exist. */
export function parseTime(text: string): DbTime | undefined {
  const millis = TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(millis) || !isCalendarDay(text.slice(0, 10)) ? undefined : toDbTime(new Date(millis));
}

/** Returns false for a day that does not exist. `Date.parse` alone accepts 30 February as 2 March. */
function isCalendarDay(text: string): boolean {
  const midnight = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(text);
}
