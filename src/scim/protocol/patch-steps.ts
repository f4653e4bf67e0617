import { type FieldError, ProblemError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import type { Schema } from './attribute.js';
import { coerceList, coerceParts, coerceScalar, isEmpty, onlyOne } from './coerce.js';
import type { CountDeviation } from './deviation.js';
import { UnknownAttribute } from './errors.js';
import type { ScimObject, ScimValue } from './json.js';
import { type AttributeTarget, type PatchPath, parsePath } from './patch-path.js';
import { type Operation, readOperations } from './patch-operations.js';
import type { ResourceDescription } from './resource-description.js';

export interface PatchOptions {
  resource: ResourceDescription;
  /** The profile `entra`: a path to an unknown attribute is no error. */
  ignoreUnknown: boolean;
  deviation: CountDeviation;
}

/**
 * One change of one path, its value in the types of the schema: a list for a list, an object for a complex attribute or
 * for chosen elements, with the parts to be `unset`. A `remove` with a value takes the elements equal to it out of a list.
 */
export interface PatchStep {
  readonly op: 'add' | 'replace' | 'remove';
  readonly target: AttributeTarget;
  readonly value?: ScimValue;
  readonly unset?: readonly string[];
}

/**
 * The operations of a PATCH body, or of Bulk `data`, which may be the list alone, without the resource. An operation
 * without a path, or on a whole schema, gives a step for each attribute. Groups take the steps of `members` out and give
 * the others to `applySteps`.
 * @throws ProblemError invalid_syntax, invalid_path, invalid_filter, invalid_value, mutability, no_target
 */
export function readPatch(body: unknown, options: PatchOptions): PatchStep[] {
  return readOperations(body, options.deviation).flatMap((operation) => stepsOf(operation, options));
}

function stepsOf(operation: Operation, options: PatchOptions): PatchStep[] {
  const { op, path, value } = operation;
  if (path === undefined) {
    if (op === 'remove') throw new ProblemError('no_target', 'An operation remove needs a path.');
    if (!isObject(value)) {
      throw new ProblemError('invalid_value', 'The value of an operation without path must be an object.');
    }
    return Object.entries(value).flatMap(([name, content]) => member(op, name, content, options));
  }
  const parsed = known(path, options);
  if (!parsed) return [];
  if (op !== 'remove' && value === undefined) {
    throw new ProblemError('invalid_value', `An operation ${op} needs a value.`);
  }
  if (parsed.kind === 'schema') return wholeSchema(op, parsed.schema, value, options);
  refuseReadOnly(parsed);
  return step(op, parsed, value, options);
}

/** The path; undefined when it names an unknown attribute that is ignored. */
function known(path: string, options: PatchOptions): PatchPath | undefined {
  try {
    return parsePath(path, options.resource);
  } catch (error) {
    if (!(error instanceof UnknownAttribute) || !options.ignoreUnknown) throw error;
    options.deviation('unknown_attribute');
    return undefined;
  }
}

/** A key of an operation without path; what is unknown, broken or read-only is ignored. */
function member(op: 'add' | 'replace', name: string, value: unknown, options: PatchOptions): PatchStep[] {
  const path = knownKey(name, options.resource);
  if (!path) {
    options.deviation('unknown_attribute');
    return [];
  }
  if (path.kind === 'schema') return wholeSchema(op, path.schema, value, options);
  if (path.sub ?? path.filter) options.deviation('path_in_value');
  if (isReadOnly(path)) {
    options.deviation('read_only_attribute');
    return [];
  }
  return step(op, path, value, options);
}

function knownKey(name: string, resource: ResourceDescription): PatchPath | undefined {
  try {
    return parsePath(name, resource);
  } catch (error) {
    if (error instanceof ProblemError) return undefined;
    throw error;
  }
}

/** All attributes of a schema, by its URN. */
function wholeSchema(
  op: PatchStep['op'],
  schema: Schema,
  value: unknown,
  options: PatchOptions,
): PatchStep[] {
  if (op === 'remove' || isEmpty(value)) {
    if (schema === options.resource.schema) {
      throw new ProblemError('mutability', 'The core schema of a resource cannot be removed.');
    }
    const writable = schema.attributes.filter((attribute) => !attribute.isReadOnly);
    return writable.map((attribute) => ({ op: 'remove', target: { kind: 'attribute', attribute } }));
  }
  if (!isObject(value)) throw new ProblemError('invalid_value', `${schema.urn} must be an object.`);
  const prefix = schema === options.resource.schema ? '' : `${schema.urn}:`;
  return Object.entries(value).flatMap(([name, content]) => member(op, `${prefix}${name}`, content, options));
}

function isReadOnly({ attribute, sub }: AttributeTarget): boolean {
  return (
    attribute.isReadOnly || (sub?.mutability ?? 'readWrite') === 'readOnly' || sub?.mutability === 'immutable'
  );
}

function refuseReadOnly(target: AttributeTarget): void {
  if (!isReadOnly(target)) return;
  throw new ProblemError('mutability', `${(target.sub ?? target.attribute).path} cannot be changed.`);
}

function step(
  op: PatchStep['op'],
  target: AttributeTarget,
  raw: unknown,
  options: PatchOptions,
): PatchStep[] {
  if (op === 'remove') return removal(target, raw, options);
  const isWholeList = target.attribute.multiValued && !target.sub && !target.filter;
  if (isEmpty(raw)) {
    if (isWholeList && Array.isArray(raw) && op === 'add') return [];
    options.deviation('empty_value');
    return [{ op: 'remove', target }];
  }
  const { attribute, sub } = target;
  if (isWholeList) {
    const value = checked(options, (report) => coerceList(attribute, raw, report));
    if (value !== undefined) return [{ op, target, value }];
    return op === 'add' ? [] : [{ op: 'remove', target }];
  }
  const leaf = sub ?? attribute;
  const single = checked(options, (report) => onlyOne(leaf, raw, report));
  if (leaf.type === 'complex') {
    const parts = checked(options, (report) => coerceParts(leaf, single, leaf.path, report));
    return isEmpty(single) ? [{ op: 'remove', target }] : [{ op, target, ...parts }];
  }
  if (isEmpty(single)) return [{ op: 'remove', target }];
  const value = checked(options, (report) => coerceScalar(leaf, single, leaf.path, report));
  return value === undefined ? [] : [{ op, target, value }];
}

/** `value` counts for a list only; a list of nothing takes nothing out. */
function removal(target: AttributeTarget, raw: unknown, options: PatchOptions): PatchStep[] {
  const { attribute, sub, filter } = target;
  if (raw === undefined || raw === null || sub || filter || !attribute.multiValued || raw === '') {
    return [{ op: 'remove', target }];
  }
  options.deviation('remove_with_value');
  const value = checked(options, (report) => coerceList(attribute, raw, report, hasParts));
  return value === undefined ? [] : [{ op: 'remove', target, value }];
}

const hasParts = (_: unknown, element: ScimObject): boolean => Object.keys(element).length > 0;

function checked<T>(
  options: PatchOptions,
  read: (report: { errors: FieldError[]; deviation: CountDeviation }) => T,
): T {
  const errors: FieldError[] = [];
  const value = read({ errors, deviation: options.deviation });
  const [first] = errors;
  if (first) throw new ProblemError('invalid_value', `${first.field} ${first.message}.`);
  return value;
}
