import type { PipeTransform } from '@nestjs/common';
import { type ValidationArguments, getMetadataStorage } from 'class-validator';
import type { ValidationMetadata } from 'class-validator/types/metadata/ValidationMetadata.js';
import { FIELD_CODES, type FieldCode, type FieldError, MAX_ERRORS } from '../common/errors.js';
import { type InputClass, fieldsOf } from '../common/fields.js';
import type { JsonObject } from '../common/json.js';
import { isWithin } from '../common/text.js';
import {
  type Normalizer,
  type SizeLimits,
  truncateToSize,
  findNormalizer,
  getSizeLimits,
} from './field-rules.js';

export interface CheckedInput<T> {
  raw: JsonObject;
  value: T;
  errors: FieldError[];
}

/**
 * Reads a request body: `@Body(new InputPipe(NewUserInput)) input: CheckedInput<NewUserInput>`. Returns the errors of
 * fields instead of throwing them, because the error for a missing record must come first (interface section 1).
 */
export class InputPipe<T extends object> implements PipeTransform<JsonObject, CheckedInput<T>> {
  constructor(private readonly type: InputClass<T>) {}

  transform(body: JsonObject): CheckedInput<T> {
    return readInput(this.type, body);
  }
}

interface StandardRule {
  code: FieldCode;
  message: (limit: unknown) => string;
  /** Replaces the test of class-validator, which counts characters differently. Undefined if that test is used. */
  test?: (value: unknown, limit: unknown) => boolean;
}

function createTypeRule(name: string): StandardRule {
  return { code: 'invalid_type', message: () => `must be ${name}` };
}

/**
 * Maps the rules of class-validator to errors of the API. Lengths have their own tests, because class-validator ignores
 * variation selectors, whereas the API and the databases count all code points.
 */
const STANDARD_RULES: Readonly<Record<string, StandardRule>> = {
  isDefined: { code: 'required', message: () => 'is required' },
  isNotEmpty: { code: 'blank', message: () => 'must not be empty' },
  isString: createTypeRule('a string'),
  isBoolean: createTypeRule('a boolean'),
  isObject: createTypeRule('an object'),
  isArray: createTypeRule('a list'),
  isIn: { code: 'invalid_value', message: (values) => `must be one of ${[values].flat().join(', ')}` },
  matches: { code: 'invalid_format', message: (pattern) => `must match ${String(pattern)}` },
  maxLength: {
    code: 'too_long',
    message: (max) => `may have at most ${String(max)} characters`,
    test: (value, max) => typeof value === 'string' && isWithin(value, Number(max)),
  },
  arrayMinSize: { code: 'too_short', message: (min) => `must have at least ${String(min)} values` },
  arrayMaxSize: { code: 'too_long', message: (max) => `may have at most ${String(max)} values` },
  arrayUnique: { code: 'invalid_value', message: () => 'must not contain duplicate values' },
};

interface Check {
  code: FieldCode;
  passes: (value: unknown) => boolean;
  message: (value: unknown) => string;
}

interface CompiledField {
  normalizer: Normalizer | undefined;
  size: SizeLimits;
  /** Checks of a present value, in the order in which failures are reported. */
  checks: readonly Check[];
  required: Check | undefined;
  notEmpty: Check | undefined;
}

/**
 * Reads client input as an instance of an input class. A missing field is undefined and an empty field is null. Types
 * are not coerced, and an unknown key is an error. Values are not transformed recursively, because members named
 * `constructor` or `then` would break a generic transformer. Oversized values are truncated and not normalized, so that
 * the cost does not depend on the size of the input.
 */
export function readInput<T extends object>(type: InputClass<T>, raw: JsonObject): CheckedInput<T> {
  const fields = compiledFields.get(type) ?? compileFields(type);
  const sent: JsonObject = {};
  const errors: FieldError[] = [];
  for (const [name, field] of fields) {
    const value = Object.hasOwn(raw, name) ? (sent[name] = normalizeField(field, raw[name])) : undefined;
    const broken = findFailedCheck(field, value);
    if (broken) errors.push({ field: name, code: broken.code, message: broken.message(value) });
  }
  const unknown = findUnknownKeys(raw, fields, Math.max(0, MAX_ERRORS - errors.length));
  return { raw, value: Object.assign(new type(), sent), errors: [...unknown, ...errors] };
}

function normalizeField({ normalizer, size }: CompiledField, raw: unknown): unknown {
  const value = truncateToSize(raw, size);
  return normalizer && value === raw ? normalizer(value) : value;
}

function findUnknownKeys(raw: JsonObject, known: ReadonlyMap<string, unknown>, max: number): FieldError[] {
  const unknown = Object.keys(raw).filter((name) => !known.has(name));
  const error = { code: 'unknown_field', message: 'is not a field' } as const;
  return unknown.slice(0, max).map((name) => ({ field: name.slice(0, 100), ...error }));
}

function findFailedCheck({ checks, required, notEmpty }: CompiledField, value: unknown): Check | undefined {
  if (value === undefined) return required;
  if (value === null) return notEmpty;
  return checks.find((check) => !check.passes(value));
}

const compiledFields = new WeakMap<object, ReadonlyMap<string, CompiledField>>();

/**
 * Reads the rules of an input class from class-validator once. `validateSync` would read them again for each value,
 * which takes four times as long as checking them.
 */
function compileFields(type: InputClass<object>): ReadonlyMap<string, CompiledField> {
  const checks = readChecks(type);
  const limits = readLimits(type);
  const sample = new type();
  const fields = new Map<string, CompiledField>();
  for (const name of fieldsOf(type)) {
    const own = checks.get(name) ?? [];
    fields.set(name, {
      normalizer: findNormalizer(sample, name),
      size: getSizeLimits(sample, name, limits.get(name)),
      checks: own.filter(({ code }) => code !== 'required'),
      required: own.find(({ code }) => code === 'required'),
      notEmpty: own.find(({ code }) => code === 'blank'),
    });
  }
  compiledFields.set(type, fields);
  return fields;
}

type RuleMetadata = Pick<ValidationMetadata, 'propertyName' | 'constraintCls' | 'each'> & {
  constraints?: unknown[];
  message?: ValidationMetadata['message'];
};

/** Lists the rules of an input class, each with its constraints. */
function* listRules(type: InputClass<object>) {
  const storage = getMetadataStorage();
  const rules: readonly RuleMetadata[] = storage.getTargetValidationMetadatas(type, '', false, false);
  for (const rule of rules)
    for (const constraint of storage.getTargetValidatorConstraints(rule.constraintCls))
      yield [rule, constraint] as const;
}

function readLimits(type: InputClass<object>): ReadonlyMap<string, Partial<SizeLimits>> {
  const limits = new Map<string, Partial<SizeLimits>>();
  for (const [{ propertyName, constraints: [limit] = [] }, { name }] of listRules(type)) {
    const own = limits.get(propertyName) ?? {};
    if (name === 'maxLength') limits.set(propertyName, { ...own, text: Number(limit) });
    if (name === 'arrayMaxSize') limits.set(propertyName, { ...own, items: Number(limit) });
  }
  return limits;
}

/** Returns the checks of each field in the order of `FIELD_CODES`, so that a wrong type is reported before a wrong length. */
function readChecks(type: InputClass<object>): ReadonlyMap<string, Check[]> {
  const checks = new Map<string, Check[]>();
  for (const [rule, { name, instance }] of listRules(type)) {
    const { constraints = [] } = rule;
    const standard = STANDARD_RULES[name];
    const code = standard?.code ?? FIELD_CODES.find((own) => own === name);
    if (!code) throw new Error(`${type.name}.${rule.propertyName}: the rule ${name} has no error code`);
    const context = { constraints, targetName: type.name, object: {}, property: rule.propertyName };
    const toArgs = (value?: unknown): ValidationArguments => ({ value, ...context });
    const fixed = toArgs();
    const test = standard?.test
      ? (value: unknown) => standard.test?.(value, constraints[0]) === true
      : (value: unknown) => instance.validate(value, fixed) === true;
    const message = (value: unknown): string => {
      if (typeof rule.message === 'string') return rule.message;
      if (rule.message) return rule.message(toArgs(value));
      return standard?.message(constraints[0]) ?? instance.defaultMessage?.(toArgs(value)) ?? '';
    };
    const passes = rule.each ? (value: unknown) => Array.isArray(value) && value.every(test) : test;
    // If two rules have the same code, the rule that was registered later is more specific and comes first.
    checks.set(rule.propertyName, [{ code, passes, message }, ...(checks.get(rule.propertyName) ?? [])]);
  }
  const rankOf = ({ code }: Check): number => FIELD_CODES.indexOf(code);
  for (const own of checks.values()) own.sort((a, b) => rankOf(a) - rankOf(b));
  return checks;
}
