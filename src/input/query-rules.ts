import type { FieldCode } from '../common/errors.js';
import { Normalise } from './normalise.js';
import { Rule, all } from './rules.js';
import { characters, isCleanText, normalise } from '../common/text.js';
import { type DbTime, isDbTime, toDbTime } from '../common/time.js';

/**
 * Rules of query parameters, which arrive as text or, when repeated, as a list of texts. A value that cannot be
 * read stays text and fails its rule: nothing is guessed. An empty value is an error, never "no filter".
 */
const code: FieldCode = 'invalid_value';

const read =
  (parse: (text: string) => string | number | boolean | undefined) =>
  (raw: unknown): unknown =>
    typeof raw === 'string' ? (parse(raw.trim()) ?? raw) : raw;

/** Every engine takes it as an offset; a greater number means the same: past every end. */
export const MAX_INTEGER = 1e15;

/** Decimal digits only: no sign, no fraction, no exponent. */
export const IntegerParam = (min: number) =>
  all(
    Normalise(read((text) => (/^\d+$/.test(text) ? Math.min(Number(text), MAX_INTEGER) : undefined))),
    Rule(code, `must be an integer of at least ${min}`, (value) => typeof value === 'number' && value >= min),
  );

/** Times that a parameter may be repeated: more than anybody lists, and few enough for one statement. */
export const MAX_REPEATS = 100;

export const BooleanParam = () =>
  all(
    Normalise(read((text) => (text === 'true' ? true : text === 'false' ? false : undefined))),
    Rule(code, 'must be true or false', (value) => typeof value === 'boolean'),
  );

export const ChoiceParam = (choices: readonly string[]) =>
  all(
    Normalise(read((text) => text)),
    Rule(code, `must be one of ${choices.join(', ')}`, (value) => choices.includes(value as string)),
  );

/** May be repeated. */
export const ChoicesParam = (choices: readonly string[]) =>
  all(
    Normalise((raw) => (typeof raw === 'string' ? [raw] : raw)),
    Rule(code, `must be one of ${choices.join(', ')}, at most ${MAX_REPEATS} times`, (value) => {
      const items = value as unknown[];
      return items.length <= MAX_REPEATS && items.every((item) => choices.includes(item as string));
    }),
  );

/** Texts, one or repeated; what they may be is decided where the settings are known. */
export const TextsParam = (max: number) =>
  all(
    Normalise((raw) => (typeof raw === 'string' ? [raw] : raw)),
    Rule(code, `must have 1 to ${max} characters, at most ${MAX_REPEATS} times`, (value) => {
      const items = value as unknown[];
      return (
        items.length <= MAX_REPEATS &&
        items.every((item) => typeof item === 'string' && item.trim() !== '' && characters(item) <= max)
      );
    }),
  );

/** One text, not empty, at most `max` characters. */
export const TextParam = (max: number) =>
  all(
    Normalise(read(normalise)),
    Rule(
      code,
      `must be given once, with 1 to ${max} characters and without control characters`,
      (value) => typeof value === 'string' && value !== '' && characters(value) <= max && isCleanText(value),
    ),
  );

export const PatternParam = (pattern: RegExp, rule: string) =>
  all(
    Normalise(read((text) => text)),
    Rule(code, rule, (value) => typeof value === 'string' && pattern.test(value)),
  );

const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** ISO 8601 with `Z` or an offset, or a date alone (midnight UTC). */
export const TimeParam = () =>
  all(
    Normalise(read(parseTime)),
    Rule(
      code,
      'must be a time such as 2026-01-31T12:00:00Z or a date such as 2026-01-31',
      (value) => typeof value === 'string' && isDbTime(value),
    ),
  );

/** @returns undefined for what is no time, or no day of the calendar. */
export function parseTime(text: string): DbTime | undefined {
  const millis = TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(millis) || !isDay(text.slice(0, 10)) ? undefined : toDbTime(new Date(millis));
}

/** `Date.parse` rolls days over: it takes 30 February for 2 March. */
function isDay(text: string): boolean {
  const midnight = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(text);
}
