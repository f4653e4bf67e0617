import {
  type ValidationArguments,
  type ValidatorConstraintInterface,
  getMetadataStorage,
} from 'class-validator';
import { FIELD_CODES, type FieldError } from '../common/errors.js';
import { type InputClass, fieldsOf } from '../common/fields.js';
import type { JsonObject } from '../common/json.js';
import { toInstance } from './normalise.js';

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
  const sent = Object.entries(raw);
  const unknown = sent
    .filter(([key]) => !known.has(key))
    .map(([field]): FieldError => ({
      field: field.slice(0, 100),
      code: 'unknown_field',
      message: 'is not a field',
    }));
  const value = toInstance(type, unknown.length > 0 ? sent.filter(([key]) => known.has(key)) : sent);
  return { value, errors: [...unknown, ...brokenRules(type, value)] };
}

/** A rule as `common/rules.ts` registers it. */
interface FieldRule {
  code: string;
  message: string | ((args: ValidationArguments) => string);
  constraint: ValidatorConstraintInterface;
}

interface FieldRules {
  /** No other rule minds a field that was not sent. */
  required: boolean;
  rules: readonly FieldRule[];
}

const fieldRules = new WeakMap<object, ReadonlyMap<string, FieldRules>>();

/**
 * The rules of an input class by field, asked of class-validator once: its own `validateSync` gathers them anew for each
 * value, which takes four times as long as the rules themselves, and an import reads a hundred thousand values.
 */
function rulesOf(type: InputClass<object>): ReadonlyMap<string, FieldRules> {
  const known = fieldRules.get(type);
  if (known) return known;
  const storage = getMetadataStorage();
  const fields = new Map<string, FieldRules>();
  for (const rule of storage.getTargetValidationMetadatas(type, '', false, false)) {
    const constraints = storage.getTargetValidatorConstraints(rule.constraintCls);
    const own = constraints.map(({ name, instance }) => ({
      code: name,
      message: rule.message,
      constraint: instance,
    }));
    const rules = [...(fields.get(rule.propertyName)?.rules ?? []), ...own];
    fields.set(rule.propertyName, { required: rules.some(({ code }) => code === 'required'), rules });
  }
  fieldRules.set(type, fields);
  return fields;
}

/** Of each field the first broken rule in the order of `FIELD_CODES`: the type of a value is told before its length. */
function brokenRules(type: InputClass<object>, object: object): FieldError[] {
  const errors: FieldError[] = [];
  for (const [field, { required, rules }] of rulesOf(type)) {
    const value = (object as JsonObject)[field];
    if (value === undefined && !required) continue;
    const args = { targetName: type.name, property: field, object, value, constraints: [] };
    const broken = rules.filter(({ constraint }) => constraint.validate(value, args) !== true);
    if (broken.length === 0) continue;
    const code = FIELD_CODES.find((candidate) => broken.some((rule) => rule.code === candidate));
    if (!code) continue;
    const message = broken.findLast((rule) => rule.code === code)?.message ?? '';
    errors.push({ field, code, message: typeof message === 'string' ? message : message(args) });
  }
  return errors;
}
