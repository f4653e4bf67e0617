import { registerDecorator } from 'class-validator';
import type { FieldCode } from '../common/errors.js';
import { isObject } from '../common/json.js';
import { characters, isCleanText, isWithin, normalise, normaliseLine } from '../common/text.js';

type Test = (value: unknown, fields: object) => boolean;
/** What completes "<field> …"; made of the value where it names a part of it. */
type Message = string | ((value: unknown) => string);

/**
 * A rule of a field: `code` is its code in the error answer.
 * It is not asked about a field that was not sent, nor about one that is cleared.
 */
export function Rule(code: FieldCode, message: Message, test: Test): PropertyDecorator {
  return registered(
    code,
    message,
    (value, fields) => value === undefined || value === null || test(value, fields),
  );
}

function registered(code: FieldCode, message: Message, test: Test): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: code,
      target: target.constructor,
      propertyName: String(property),
      options: { message: typeof message === 'string' ? message : ({ value }) => message(value) },
      validator: { validate: (value, args) => test(value, args?.object ?? {}) },
    });
  };
}

/** As `Rule`, for text only: whatever has another type is refused by `OfType`, not here. */
export function TextRule(
  code: FieldCode,
  message: string,
  test: (text: string) => boolean,
): PropertyDecorator {
  return Rule(code, message, (value) => typeof value !== 'string' || test(value));
}

/** The field must be sent. */
export const Required = () => registered('required', 'is required', (value) => value !== undefined);

/** The field may not be cleared. */
export const NotBlank = () => registered('blank', 'may not be empty', (value) => value !== null);

/** A field that clients send back because they read it: known, and without effect. */
export const Ignored = () => registered('invalid_value', 'is ignored', () => true);

type Type = 'string' | 'boolean' | 'array' | 'object';
const ofType = (value: unknown, type: Type): boolean => {
  if (type === 'array') return Array.isArray(value);
  return type === 'object' ? isObject(value) : typeof value === type;
};

/** Values are never coerced: `"5"` is no number and `1` no boolean. */
export const OfType = (type: Type) =>
  Rule('invalid_type', `must be ${/^[ao]/.test(type) ? 'an' : 'a'} ${type}`, (value) => ofType(value, type));

export const MaxCharacters = (max: number) =>
  TextRule('too_long', `may have at most ${max} characters`, (text) => isWithin(text, max));

export const MinCharacters = (min: number) =>
  TextRule('too_short', `must have at least ${min} characters`, (text) => characters(text) >= min);

export const Clean = (options: { newlines?: boolean } = {}) =>
  TextRule('invalid_format', 'may not hold control characters or broken Unicode', (text) =>
    isCleanText(text, options),
  );

const clearable = (form: (text: string) => string) => (raw: unknown) =>
  typeof raw === 'string' && raw.isWellFormed() ? form(raw) || null : raw;

/** One line of text: NFC, trimmed, runs of spaces collapsed; empty text clears the field. */
export const line = clearable(normaliseLine);
/** Text as it is, NFC and trimmed; empty text clears the field. */
export const trimmed = clearable(normalise);

/** Several decorators as one. */
export function all(...decorators: PropertyDecorator[]): PropertyDecorator {
  return (target, property) => {
    for (const decorate of decorators) decorate(target, property);
  };
}
