import { ProblemError } from '../../platform/common/errors.js';
import { isEmptyValue, isObject } from '../../platform/common/json.js';
import { TimeSlice, toBatches } from '../../platform/common/time-slice.js';
import {
  type Attribute,
  type ResourceDescription,
  type Schema,
  type ScimObject,
  type ScimValue,
  isScimObject,
  objectsOf,
  setMember,
  omitMember,
} from './attribute.js';
import { findNewElements, partNamesOf, removeElements } from './element-signatures.js';
import { UnknownAttributeError, quote } from './errors.js';
import { type AttributeTarget, type PatchPath, parsePath } from './filter-parser.js';
import { type Filter, countComparisons, buildElementMatcher, toRequiredValues } from './filter.js';
import {
  type CountDeviation,
  type Report,
  coerceList,
  coerceParts,
  coerceScalar,
  findMissingPart,
  isEmpty,
  lowerCaseNames,
  clearOtherPrimaries,
  toSingle,
} from './input.js';

const MAX_OPERATIONS = 1000;

const OPS = ['add', 'replace', 'remove'] as const;
type Op = (typeof OPS)[number];

export interface PatchOptions {
  resource: ResourceDescription;
  /** True to skip operations on an unknown attribute, as the key profile `entra` requires. */
  ignoreUnknown: boolean;
  countDeviation: CountDeviation;
}

/**
 * A change of one attribute by a PATCH. The value has the type that the schema defines. It is a list for a multi-valued
 * attribute, and an object for a complex attribute or for selected elements. `unset` lists the sub-attributes to
 * remove. A `remove` step with a value removes the elements that are equal to an element of the value.
 */
export interface PatchStep {
  readonly op: Op;
  readonly target: AttributeTarget;
  readonly value?: ScimValue;
  readonly unset?: readonly string[];
}

/**
 * Reads the operations of a PATCH body, or of a Bulk operation whose `data` is the list of operations itself. An
 * operation without a path, or on a whole schema, becomes one step per attribute.
 * @throws ProblemError `invalid_syntax`, `invalid_path`, `invalid_filter`, `invalid_value`, `mutability`, `no_target`
 */
export async function readPatch(body: unknown, options: PatchOptions): Promise<PatchStep[]> {
  const { countDeviation } = options;
  const list = Array.isArray(body) ? body : findOperations(body, countDeviation);
  if (!Array.isArray(list) || list.length === 0)
    throw new ProblemError('invalid_syntax', 'A PATCH request needs at least one operation in Operations.');
  if (list.length > MAX_OPERATIONS)
    throw new ProblemError('invalid_syntax', `A request may have at most ${MAX_OPERATIONS} operations.`);
  const operations = list.map((raw: unknown, index) => readOperation(raw, index + 1, countDeviation));
  const reader = new StepReader({ ...options, addError: throwInvalidValue, slice: new TimeSlice() });
  return reader.collectSteps(operations, (operation) => reader.readSteps(operation));
}

function findOperations(body: unknown, countDeviation: CountDeviation): unknown {
  if (!isObject(body)) throw new ProblemError('invalid_syntax', 'The body must be a JSON object: a PatchOp.');
  const members = lowerCaseNames(body);
  if (!Array.isArray(members.get('schemas'))) countDeviation('missing_schemas');
  if (!Object.hasOwn(body, 'Operations')) countDeviation('spelling');
  return members.get('operations');
}

interface Operation {
  op: Op;
  /** The path of the attribute, or an empty string if the operation lacks a path. */
  path: string;
  value: unknown;
}

/** Reads an operation (RFC 7644 §3.5.2). Names are case-insensitive. */
function readOperation(raw: unknown, number: number, countDeviation: CountDeviation): Operation {
  if (!isObject(raw)) throw new ProblemError('invalid_syntax', `Operation ${number} must be an object.`);
  const members = lowerCaseNames(raw);
  const name = members.get('op');
  const op = OPS.find((known) => typeof name === 'string' && known === name.toLowerCase());
  if (!op) {
    const given = typeof name === 'string' ? `, not ${quote(name)}` : '';
    const detail = `Operation ${number}: op must be add, replace or remove${given}.`;
    throw new ProblemError('invalid_syntax', detail);
  }
  if (op !== name) countDeviation('spelling');
  const path = members.get('path') ?? '';
  if (typeof path !== 'string') {
    throw new ProblemError('invalid_path', `Operation ${number}: path must be a string.`);
  }
  return { op, path: path.trim(), value: members.get('value') };
}

const throwInvalidValue: Report['addError'] = ({ field, message }) => {
  throw new ProblemError('invalid_value', `${field} ${message}.`);
};

class StepReader {
  constructor(private readonly options: PatchOptions & Report) {}

  async collectSteps<T>(parts: readonly T[], read: (part: T) => PatchStep[] | Promise<PatchStep[]>) {
    const steps: PatchStep[] = [];
    for await (const [part] of toBatches(parts, 1, this.options.slice))
      if (part !== undefined) steps.push(...(await read(part)));
    return steps;
  }

  async readSteps({ op, path, value }: Operation): Promise<PatchStep[]> {
    if (path === '') return this.readWithoutPath(op, value);
    const { ignoreUnknown, resource } = this.options;
    const target = ignoreUnknown ? this.parseLeniently(path, isUnknownAttribute) : parsePath(path, resource);
    if (!target) return [];
    if (op !== 'remove' && value === undefined) {
      throw new ProblemError('invalid_value', `The operation ${op} needs a value.`);
    }
    if (target.kind === 'schema') return this.readWholeSchema(op, target.schema, value);
    if (!isReadOnly(target)) return this.readStep(op, target, value);
    throw new ProblemError('mutability', `${(target.sub ?? target.attribute).path} cannot be changed.`);
  }

  private async readWithoutPath(op: Op, value: unknown): Promise<PatchStep[]> {
    if (op === 'remove') throw new ProblemError('no_target', 'The operation remove needs a path.');
    if (isObject(value)) return this.readEntries(op, '', value);
    throw new ProblemError('invalid_value', 'The value of an operation without a path must be an object.');
  }

  /**
   * Reads an operation whose value is an object, in which each name is a path. Ignores unknown, invalid and read-only
   * paths.
   */
  private readEntries(op: 'add' | 'replace', prefix: string, value: object): Promise<PatchStep[]> {
    return this.collectSteps(Object.entries(value), ([name, content]) => {
      const target = this.parseLeniently(`${prefix}${name}`, () => true);
      if (!target) return [];
      if (target.kind === 'schema') return this.readWholeSchema(op, target.schema, content);
      if (target.sub ?? target.filter) this.options.countDeviation('path_in_value');
      if (!isReadOnly(target)) return this.readStep(op, target, content);
      this.options.countDeviation('read_only_attribute');
      return [];
    });
  }

  /**
   * Parses a path.
   * @param isIgnored returns true for an error that is counted as a deviation instead of being thrown.
   * @returns undefined if an error was ignored
   */
  private parseLeniently(path: string, isIgnored: (error: ProblemError) => boolean): PatchPath | undefined {
    try {
      return parsePath(path, this.options.resource);
    } catch (error) {
      if (!(error instanceof ProblemError) || !isIgnored(error)) throw error;
      this.options.countDeviation('unknown_attribute');
      return undefined;
    }
  }

  private async readWholeSchema(op: Op, schema: Schema, value: unknown): Promise<PatchStep[]> {
    const isCore = schema === this.options.resource.schema;
    if (op === 'remove' || isEmpty(value)) {
      if (isCore) throw new ProblemError('mutability', 'The core schema of a resource cannot be removed.');
      const writable = schema.attributes.filter((attribute) => !attribute.isReadOnly);
      return writable.map((attribute) => ({ op: 'remove', target: { kind: 'attribute', attribute } }));
    }
    if (!isObject(value)) throw new ProblemError('invalid_value', `${schema.urn} must be an object.`);
    return this.readEntries(op, isCore ? '' : `${schema.urn}:`, value);
  }

  private async readStep(op: Op, target: AttributeTarget, raw: unknown): Promise<PatchStep[]> {
    const { attribute, sub, filter } = target;
    if (attribute.multiValued && !sub && !filter) return this.readListStep(op, target, raw);
    if (op === 'remove') return [{ op, target }];
    if (isEmpty(raw)) return this.buildRemoval(target);
    const leaf = sub ?? attribute;
    const single = toSingle(leaf, raw, this.options);
    const parts = leaf.type === 'complex' && coerceParts(leaf, single, leaf.path, this.options);
    if (isEmpty(single)) return [{ op: 'remove', target }];
    if (parts) return [{ op, target, ...parts }];
    const value = coerceScalar(leaf, single, leaf.path, this.options);
    return value === undefined ? [] : [{ op, target, value }];
  }

  private async readListStep(op: Op, target: AttributeTarget, raw: unknown): Promise<PatchStep[]> {
    const { attribute } = target;
    if (op === 'remove') {
      // A `remove` operation without a value removes the whole list. With an empty list as its value, it removes
      // nothing.
      if (raw === undefined || raw === null || raw === '') return [{ op, target }];
      this.options.countDeviation('remove_with_value');
      const value = await coerceList(attribute, raw, this.options, false);
      return value === undefined ? [] : [{ op, target, value }];
    }
    if (op === 'add' && Array.isArray(raw) && raw.length === 0) return [];
    if (isEmpty(raw)) return this.buildRemoval(target);
    const value = await coerceList(attribute, raw, this.options);
    if (value !== undefined) return [{ op, target, value }];
    return op === 'add' ? [] : [{ op: 'remove', target }];
  }

  private buildRemoval(target: AttributeTarget): PatchStep[] {
    this.options.countDeviation('empty_value');
    return [{ op: 'remove', target }];
  }
}

const isUnknownAttribute = (error: ProblemError): boolean => error instanceof UnknownAttributeError;

const isReadOnly = ({ attribute, sub }: AttributeTarget): boolean =>
  attribute.isReadOnly || sub?.isReadOnly === true || sub?.mutability === 'immutable';

/** Maximum number of comparisons with elements that one PATCH may make. They take less than 100 ms. */
const MAX_COMPARISONS = 20_000;

/**
 * Applies the steps one after another to a copy of the resource. Checks elements for required sub-attributes only at the
 * end, because an element may be created in two steps.
 * @throws ProblemError `no_target`, `invalid_value` for a list that becomes too long or a missing sub-attribute,
 * `too_many` if the operations need too many comparisons
 */
export function applySteps(
  resource: ScimObject,
  steps: readonly PatchStep[],
  { countDeviation }: { countDeviation: CountDeviation },
): ScimObject {
  const touched = new Set<Attribute>();
  let state = resource;
  let compared = 0;
  for (const step of steps) {
    const { attribute, filter } = step.target;
    const before = attribute.getValue(state);
    compared +=
      (filter ? countComparisons(filter) : countSignatures(step)) * Math.max(1, objectsOf(before).length);
    if (compared > MAX_COMPARISONS) {
      const detail = `The operations would compare list elements more than ${MAX_COMPARISONS} times.`;
      throw new ProblemError('too_many', `${detail} Send fewer operations in one request.`);
    }
    if (attribute.multiValued) touched.add(attribute);
    const after = attribute.multiValued
      ? changeList(before, step, countDeviation)
      : changeSingleValue(before, step);
    state = attribute.setValue(state, after);
  }
  for (const attribute of touched) {
    const elements = objectsOf(attribute.getValue(state)).filter((element) => !isEmptyValue(element));
    for (const element of elements) assertComplete(attribute, element);
    state = attribute.setValue(state, elements);
  }
  return state;
}

function assertComplete(attribute: Attribute, element: ScimObject): void {
  const missing = findMissingPart(attribute, element);
  if (missing) throw new ProblemError('invalid_value', `${missing.path} is required.`);
}

/**
 * Checks the resource after a PATCH. A removed `value` is permitted, because it unassigns the element.
 * @throws ProblemError `mutability` if a required attribute or sub-attribute was removed
 */
export function assertRequiredKept(resource: ScimObject, steps: readonly PatchStep[]): void {
  for (const { op, target } of steps) {
    const { attribute, sub } = target;
    const isPartRemoved = op === 'remove' && sub?.required === true && sub.name !== 'value';
    if (isPartRemoved || (attribute.required && attribute.getValue(resource) === undefined))
      throw new ProblemError('mutability', `${(sub ?? attribute).path} is required and cannot be removed.`);
  }
}

function changeSingleValue(before: ScimValue | undefined, step: PatchStep): ScimValue | undefined {
  const { attribute, sub, filter } = step.target;
  if (attribute.type !== 'complex') return step.op === 'remove' ? undefined : step.value;
  const held = isScimObject(before) ? before : undefined;
  if (filter && !(held && buildElementMatcher(filter)(held))) {
    if (step.op === 'remove') return before;
    throw createNoTargetError(attribute);
  }
  if (step.op === 'remove') return sub && held ? omitMember(held, sub.name) : undefined;
  const after = changeObject(held ?? {}, step);
  if (!step.unset?.includes('value')) assertComplete(attribute, after);
  return after;
}

/** Returns the changed element, or an empty list if the step removes the `value` of the element. */
function changeElement(element: ScimObject, step: PatchStep): ScimObject[] {
  const after = changeObject(element, step);
  return 'value' in element && !('value' in after) ? [] : [after];
}

function changeObject(object: ScimObject, { op, target: { sub }, value, unset = [] }: PatchStep): ScimObject {
  if (sub) return setMember(object, sub.name, op === 'remove' ? undefined : value);
  const rest = unset.reduce(omitMember, object);
  return isScimObject(value) ? { ...rest, ...value } : rest;
}

function changeList(
  before: ScimValue | undefined,
  step: PatchStep,
  countDeviation: CountDeviation,
): readonly ScimObject[] {
  const { attribute, filter } = step.target;
  const elements = objectsOf(before);
  const after = filter
    ? changeSelectedElements(elements, step, filter, countDeviation)
    : changeAllElements(elements, step);
  if (after.length > attribute.maxItems && after.length > elements.length) {
    const detail = `${attribute.path} can contain at most ${attribute.maxItems} elements.`;
    throw new ProblemError('invalid_value', detail);
  }
  return clearOtherPrimaries(attribute, after, elements);
}

/**
 * Changes the whole list, or one sub-attribute of all its elements. Setting a sub-attribute of an empty list adds an
 * element.
 */
function changeAllElements(elements: readonly ScimObject[], step: PatchStep): readonly ScimObject[] {
  const { op, target, value } = step;
  if (target.sub) {
    const targets = elements.length === 0 && op !== 'remove' ? [{}] : elements;
    return targets.flatMap((element) => changeElement(element, step));
  }
  const sent = objectsOf(value);
  if (op === 'replace') return sent;
  if (op === 'add') return [...elements, ...findNewElements(target.attribute, sent, elements)];
  return value === undefined ? [] : removeElements(target.attribute, elements, sent);
}

/**
 * Changes the elements that the filter selects. If there are none, creates an element from the `eq` comparisons of the
 * filter.
 * @throws ProblemError `no_target` if the path lacks a sub-attribute, or the filter does not determine the element
 */
function changeSelectedElements(
  elements: readonly ScimObject[],
  step: PatchStep,
  filter: Filter,
  countDeviation: CountDeviation,
): readonly ScimObject[] {
  const isSelected = buildElementMatcher(filter);
  const isRemoval = step.op === 'remove';
  if (isRemoval && !step.target.sub) return elements.filter((element) => !isSelected(element));
  if (isRemoval || elements.some(isSelected)) {
    return elements.flatMap((element) => (isSelected(element) ? changeElement(element, step) : [element]));
  }
  const parts = step.target.sub && toRequiredValues(filter);
  if (!parts) throw createNoTargetError(step.target.attribute);
  countDeviation('filter_creates_element');
  return [...elements, changeObject(parts, step)];
}

const createNoTargetError = ({ path }: Attribute): ProblemError =>
  new ProblemError('no_target', `No element of ${path} matches the filter in the path.`);

/** Counts the signatures that `findNewElements` or `removeElements` computes for each element of the list. */
const countSignatures = ({ op, target, value }: PatchStep): number =>
  op === 'replace' || !target.attribute.multiValued ? 0 : new Set(objectsOf(value).map(partNamesOf)).size;
