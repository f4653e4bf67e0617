import type { PipeTransform } from '@nestjs/common';
import { type ValidationArguments, getMetadataStorage } from 'class-validator';
import type { ValidationMetadata } from 'class-validator/types/metadata/ValidationMetadata.js';
import { FIELD_CODES, type FieldCode, type FieldError, MAX_ERRORS } from '../common/errors.js';
import { type InputClass, fieldsOf } from '../common/fields.js';
import type { JsonObject } from '../common/json.js';
import { characters, isWithin } from '../common/text.js';
import { type Form, type Size, fitted, formOf, sizeOf } from './field-rules.js';

/** An input as it was sent, its value with normalised fields, and every field that breaks a rule, one error a field. */
export interface Checked<T> {
  raw: JsonObject;
  value: T;
  errors: FieldError[];
}

/**
 * The pipe of a request body: `@Body(new InputPipe(NewUserInput)) input: Checked<NewUserInput>`. It does not refuse the
 * errors: whether the record exists is checked before them (interface §1).
 */
export class InputPipe<T extends object> implements PipeTransform<JsonObject, Checked<T>> {
  constructor(private readonly type: InputClass<T>) {}

  transform(body: JsonObject): Checked<T> {
    return readInput(this.type, body);
  }
}

/** How a decorator of class-validator appears in an error answer. */
interface Standard {
  code: FieldCode;
  message: (limit: unknown) => string;
  /** Replaces the test of class-validator, where the interface counts in another way. */
  test?: (value: unknown, limit: unknown) => boolean;
}

const type = (name: string): Standard => ({ code: 'invalid_type', message: () => `must be ${name}` });
const count = (value: unknown): number => (typeof value === 'string' ? characters(value) : 0);

/** class-validator does not count variation selectors; the interface and the databases count all code points. */
const STANDARD: Readonly<Record<string, Standard>> = {
  isDefined: { code: 'required', message: () => 'is required' },
  isNotEmpty: { code: 'blank', message: () => 'may not be empty' },
  isString: type('a string'),
  isBoolean: type('a boolean'),
  isArray: type('an array'),
  isObject: type('an object'),
  isInt: { code: 'invalid_value', message: () => 'must be an integer' },
  min: { code: 'invalid_value', message: (min) => `must be at least ${String(min)}` },
  max: { code: 'invalid_value', message: (max) => `must be at most ${String(max)}` },
  isIn: { code: 'invalid_value', message: (values) => `must be one of ${[values].flat().join(', ')}` },
  matches: { code: 'invalid_format', message: (pattern) => `must match ${String(pattern)}` },
  maxLength: {
    code: 'too_long',
    message: (max) => `may have at most ${String(max)} characters`,
    test: (value, max) => typeof value === 'string' && isWithin(value, Number(max)),
  },
  minLength: {
    code: 'too_short',
    message: (min) => `must have at least ${String(min)} characters`,
    test: (value, min) => count(value) >= Number(min),
  },
  arrayMinSize: { code: 'too_short', message: (min) => `must hold at least ${String(min)} values` },
  arrayMaxSize: { code: 'too_long', message: (max) => `may hold at most ${String(max)} values` },
  arrayUnique: { code: 'invalid_value', message: () => 'may not name a value twice' },
};

interface Check {
  code: FieldCode;
  passes: (value: unknown) => boolean;
  message: (value: unknown) => string;
}

interface Field {
  form: Form | undefined;
  /** A larger value is never normalised. */
  size: Size;
  /** In the order in which they are reported. */
  checks: readonly Check[];
  /** The check of a field that was not sent, and of one that is cleared. */
  required: Check | undefined;
  notEmpty: Check | undefined;
}

/**
 * Reads what a client sent as an instance of an input class. A field that was not sent stays undefined, one that was sent
 * empty is null. Nothing is coerced; an unknown key is an error. A value is never walked: it may hold members named
 * `constructor` or `then` that a generic transformer would trip over.
 *
 * Its cost is bounded by the class, whatever is sent: a value that exceeds its limits by far is cut and not normalised, and
 * no more than `MAX_ERRORS` errors are collected, though always those of all fields.
 */
export function readInput<T extends object>(type: InputClass<T>, raw: JsonObject): Checked<T> {
  const fields = compiledFields.get(type) ?? compile(type);
  const sent: JsonObject = {};
  const errors: FieldError[] = [];
  for (const [name, field] of fields) {
    const value = Object.hasOwn(raw, name) ? (sent[name] = formed(field, raw[name])) : undefined;
    const broken = brokenCheck(field, value);
    if (broken) errors.push({ field: name, code: broken.code, message: broken.message(value) });
  }
  const unknown = unknownKeys(raw, fields, Math.max(0, MAX_ERRORS - errors.length));
  return { raw, value: Object.assign(new type(), sent), errors: [...unknown, ...errors] };
}

function formed({ form, size }: Field, raw: unknown): unknown {
  const value = fitted(raw, size);
  return form && value === raw ? form(value) : value;
}

function unknownKeys(raw: JsonObject, fields: ReadonlyMap<string, Field>, most: number): FieldError[] {
  const unknown = Object.keys(raw).filter((name) => !fields.has(name));
  return unknown.slice(0, most).map((name) => toUnknownField(name));
}

const toUnknownField = (name: string): FieldError => ({
  field: name.slice(0, 100),
  code: 'unknown_field',
  message: 'is not a field',
});

function brokenCheck({ checks, required, notEmpty }: Field, value: unknown): Check | undefined {
  if (value === undefined) return required;
  if (value === null) return notEmpty;
  return checks.find((check) => !check.passes(value));
}

const compiledFields = new WeakMap<object, ReadonlyMap<string, Field>>();

/**
 * The rules of an input class by field, read from class-validator once: its own `validateSync` gathers them anew for each
 * value, which takes four times as long as the rules themselves, and an import reads a hundred thousand values.
 */
function compile(type: InputClass<object>): ReadonlyMap<string, Field> {
  const checks = checksOf(type);
  const limits = limitsOf(type);
  const sample = new type();
  const fields = new Map<string, Field>();
  for (const name of fieldsOf(type)) {
    const own = checks.get(name) ?? [];
    fields.set(name, {
      form: formOf(sample, name),
      size: sizeOf(sample, name, limits.get(name)),
      checks: own.filter(({ code }) => code !== 'required'),
      required: own.find(({ code }) => code === 'required'),
      notEmpty: own.find(({ code }) => code === 'blank'),
    });
  }
  compiledFields.set(type, fields);
  return fields;
}

/** What class-validator keeps of a decorator: without options it has no message, and `Allow` has no constraints. */
type Registered = Pick<ValidationMetadata, 'propertyName' | 'constraintCls' | 'each'> & {
  constraints?: unknown[];
  message?: ValidationMetadata['message'];
};

/** The limits of each field that class-validator's decorators name. */
function limitsOf(type: InputClass<object>): ReadonlyMap<string, Partial<Size>> {
  const storage = getMetadataStorage();
  const limits = new Map<string, Partial<Size>>();
  const rules: readonly Registered[] = storage.getTargetValidationMetadatas(type, '', false, false);
  for (const { propertyName, constraintCls, constraints: [limit] = [] } of rules) {
    for (const { name } of storage.getTargetValidatorConstraints(constraintCls)) {
      const own = limits.get(propertyName) ?? {};
      if (name === 'maxLength') limits.set(propertyName, { ...own, text: Number(limit) });
      if (name === 'arrayMaxSize') limits.set(propertyName, { ...own, items: Number(limit) });
    }
  }
  return limits;
}

/** The checks of each field in the order of `FIELD_CODES`: a value's type is reported before its length. */
function checksOf(type: InputClass<object>): ReadonlyMap<string, Check[]> {
  const storage = getMetadataStorage();
  const checks = new Map<string, Check[]>();
  const rules: readonly Registered[] = storage.getTargetValidationMetadatas(type, '', false, false);
  for (const rule of rules) {
    const { constraints = [] } = rule;
    for (const { name, instance } of storage.getTargetValidatorConstraints(rule.constraintCls)) {
      const standard = STANDARD[name];
      const code = standard?.code ?? FIELD_CODES.find((own) => own === name);
      if (!code) throw new Error(`${type.name}.${rule.propertyName} has the rule ${name}, which has no code`);
      const args = (value?: unknown): ValidationArguments => ({
        value,
        constraints,
        targetName: type.name,
        object: {},
        property: rule.propertyName,
      });
      const fixed = args();
      const test = standard?.test
        ? (value: unknown) => standard.test?.(value, constraints[0]) === true
        : (value: unknown) => instance.validate(value, fixed) === true;
      const message = (value: unknown): string => {
        if (typeof rule.message === 'string') return rule.message;
        if (rule.message) return rule.message(args(value));
        return standard?.message(constraints[0]) ?? instance.defaultMessage?.(args(value)) ?? '';
      };
      const passes = rule.each ? (value: unknown) => Array.isArray(value) && value.every(test) : test;
      // The later of two rules with one code is the more specific one, and comes first.
      checks.set(rule.propertyName, [{ code, passes, message }, ...(checks.get(rule.propertyName) ?? [])]);
    }
  }
  const rank = ({ code }: Check): number => FIELD_CODES.indexOf(code);
  for (const [name, own] of checks)
    checks.set(
      name,
      own.toSorted((a, b) => rank(a) - rank(b)),
    );
  return checks;
}
