import { type ValidationError, getMetadataStorage, validateSync } from 'class-validator';
import { FIELD_CODES, type FieldCode, type FieldError } from './errors.js';
import type { JsonObject } from './json.js';
import { toInstance } from './normalise.js';

export type InputClass<T extends object> = new () => T;

/** The value with its fields normalised, and every field that breaks a rule, one error a field. */
export interface Checked<T> {
  value: T;
  errors: FieldError[];
}

/**
 * The one pipe for input: what a client sent becomes an instance of an input class. A field that was not sent
 * stays undefined, one that was sent empty becomes null. Nothing is coerced; an unknown key is an error.
 * The decorators of `common/rules.ts` name each rule by its code of the catalogue.
 */
export function readInput<T extends object>(type: InputClass<T>, raw: JsonObject): Checked<T> {
  const known = fieldsOf(type);
  const unknown = Object.keys(raw)
    .filter((key) => !known.has(key))
    .map((field): FieldError => ({
      field: field.slice(0, 100),
      code: 'unknown_field',
      message: 'is not a field',
    }));
  const value = toInstance(
    type,
    Object.entries(raw).filter(([key]) => known.has(key)),
  );
  return { value, errors: [...unknown, ...validateSync(value).flatMap((error) => toFieldErrors(error))] };
}

const fieldNames = new WeakMap<object, ReadonlySet<string>>();

/** Names of the fields that an input class has rules for. */
export function fieldsOf(type: InputClass<object>): ReadonlySet<string> {
  let names = fieldNames.get(type);
  if (!names) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    names = new Set(rules.map((rule) => rule.propertyName));
    fieldNames.set(type, names);
  }
  return names;
}

/** The first broken rule in the order of `FIELD_CODES`: the type of a value is told before its length. */
function toFieldErrors(error: ValidationError, path = ''): FieldError[] {
  const field = `${path}${error.property}`;
  const constraints = error.constraints ?? {};
  const code = FIELD_CODES.find((candidate): candidate is FieldCode => candidate in constraints);
  const own = code ? [{ field, code, message: constraints[code] ?? '' }] : [];
  return [...own, ...(error.children ?? []).flatMap((child) => toFieldErrors(child, `${field}.`))];
}
