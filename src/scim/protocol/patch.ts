import { ProblemError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import {
  type Attribute,
  type ResourceDescription,
  type Schema,
  type ScimObject,
  type ScimValue,
  comparableOf,
  isScimObject,
  member,
  objectsIn,
  withMember,
  without,
} from './attribute.js';
import { UnknownAttributeError, quoted } from './errors.js';
import { type AttributeTarget, type PatchPath, parsePath } from './filter-parser.js';
import { type Filter, comparisonsIn, elementMatcher, partsMadeBy } from './filter.js';
import {
  type CountDeviation,
  type Report,
  coerceList,
  coerceParts,
  coerceScalar,
  hasValue,
  isEmpty,
  lowerCased,
  onePrimary,
  onlyOne,
} from './input.js';

/** Maximum operations of a PATCH. */
const MAX_OPERATIONS = 1000;

const OPS = ['add', 'replace', 'remove'] as const;
type Op = (typeof OPS)[number];

export interface PatchOptions {
  resource: ResourceDescription;
  /** Set with the profile `entra`: operations on an unknown attribute are skipped. */
  ignoreUnknown: boolean;
  deviation: CountDeviation;
}

/**
 * One change of one attribute. The value has the types of the schema: a list for a list, an object for a
 * complex attribute or for selected elements, with sub-attributes to `unset`.
 * A `remove` with a value removes the equal elements of a list.
 */
export interface PatchStep {
  readonly op: Op;
  readonly target: AttributeTarget;
  readonly value?: ScimValue;
  readonly unset?: readonly string[];
}

/**
 * Reads the operations of a PATCH body. The `data` of a Bulk operation may be the list itself. An operation
 * without a path, or on a whole schema, becomes one step for each attribute.
 * @throws ProblemError `invalid_syntax`, `invalid_path`, `invalid_filter`, `invalid_value`, `mutability`,
 * `no_target`
 */
export function readPatch(body: unknown, { deviation, ...options }: PatchOptions): PatchStep[] {
  const list = Array.isArray(body) ? body : operationsIn(body, deviation);
  if (!Array.isArray(list) || list.length === 0) {
    throw new ProblemError(
      'invalid_syntax',
      'A PATCH request needs Operations: a list with at least one operation.',
    );
  }
  if (list.length > MAX_OPERATIONS) {
    throw new ProblemError(
      'invalid_syntax',
      `A PATCH request may have at most ${MAX_OPERATIONS} operations.`,
    );
  }
  const operations = list.map((raw: unknown, index) => readOperation(raw, index + 1, deviation));
  const reader = new StepReader({ ...options, deviation, fault: refuse });
  return operations.flatMap((operation) => reader.steps(operation));
}

function operationsIn(body: unknown, deviation: CountDeviation): unknown {
  if (!isObject(body)) throw new ProblemError('invalid_syntax', 'The body must be a PatchOp: a JSON object.');
  const members = lowerCased(body);
  if (!Array.isArray(members.get('schemas'))) deviation('missing_schemas');
  if (!Object.hasOwn(body, 'Operations')) deviation('spelling');
  return members.get('operations');
}

/** An operation whose value is not yet read. */
interface Operation {
  op: Op;
  /** `''` if missing. */
  path: string;
  value: unknown;
}

/** Reads an operation (RFC 7644 §3.5.2). Names ignore case. */
function readOperation(raw: unknown, number: number, deviation: CountDeviation): Operation {
  if (!isObject(raw)) throw new ProblemError('invalid_syntax', `Operation ${number} must be an object.`);
  const members = lowerCased(raw);
  const name = members.get('op');
  const op = OPS.find((known) => typeof name === 'string' && known === name.toLowerCase());
  if (!op) throw unknownOp(name, number);
  if (op !== name) deviation('spelling');
  const path = members.get('path') ?? '';
  if (typeof path !== 'string') {
    throw new ProblemError('invalid_path', `Operation ${number}: path must be a string.`);
  }
  return { op, path: path.trim(), value: members.get('value') };
}

function unknownOp(name: unknown, number: number): ProblemError {
  const given = typeof name === 'string' ? `, not ${quoted(name)}` : '';
  const detail = `Operation ${number}: op must be add, replace or remove${given}.`;
  return new ProblemError('invalid_syntax', detail);
}

const refuse: Report['fault'] = ({ field, message }) => {
  throw new ProblemError('invalid_value', `${field} ${message}.`);
};

class StepReader {
  constructor(private readonly options: PatchOptions & Report) {}

  steps({ op, path, value }: Operation): PatchStep[] {
    if (path === '') return this.withoutPath(op, value);
    const { ignoreUnknown, resource } = this.options;
    const target = ignoreUnknown ? this.tolerant(path, isUnknown) : parsePath(path, resource);
    if (!target) return [];
    if (op !== 'remove' && value === undefined) {
      throw new ProblemError('invalid_value', `The operation ${op} needs a value.`);
    }
    if (target.kind === 'schema') return this.wholeSchema(op, target.schema, value);
    if (!isReadOnly(target)) return this.step(op, target, value);
    throw new ProblemError('mutability', `${(target.sub ?? target.attribute).path} cannot be changed.`);
  }

  private withoutPath(op: Op, value: unknown): PatchStep[] {
    if (op === 'remove') throw new ProblemError('no_target', 'The operation remove needs a path.');
    if (isObject(value)) return this.members(op, '', value);
    throw new ProblemError('invalid_value', 'The value of an operation without a path must be an object.');
  }

  /** Reads the keys of a value as paths. Unknown, invalid and read-only keys are ignored. */
  private members(op: 'add' | 'replace', prefix: string, value: object): PatchStep[] {
    return Object.entries(value).flatMap(([name, content]) => {
      const target = this.tolerant(`${prefix}${name}`, () => true);
      if (!target) return [];
      if (target.kind === 'schema') return this.wholeSchema(op, target.schema, content);
      if (target.sub ?? target.filter) this.options.deviation('path_in_value');
      if (!isReadOnly(target)) return this.step(op, target, content);
      this.options.deviation('read_only_attribute');
      return [];
    });
  }

  /** Parses a path. @returns undefined for an ignored error */
  private tolerant(path: string, isIgnored: (error: ProblemError) => boolean): PatchPath | undefined {
    try {
      return parsePath(path, this.options.resource);
    } catch (error) {
      if (!(error instanceof ProblemError) || !isIgnored(error)) throw error;
      this.options.deviation('unknown_attribute');
      return undefined;
    }
  }

  /** Reads a value for all attributes of a schema. */
  private wholeSchema(op: Op, schema: Schema, value: unknown): PatchStep[] {
    const isCore = schema === this.options.resource.schema;
    if (op === 'remove' || isEmpty(value)) {
      if (isCore) throw new ProblemError('mutability', 'The core schema of a resource cannot be removed.');
      const writable = schema.attributes.filter((attribute) => !attribute.isReadOnly);
      return writable.map((attribute) => ({ op: 'remove', target: { kind: 'attribute', attribute } }));
    }
    if (!isObject(value)) throw new ProblemError('invalid_value', `${schema.urn} must be an object.`);
    return this.members(op, isCore ? '' : `${schema.urn}:`, value);
  }

  private step(op: Op, target: AttributeTarget, raw: unknown): PatchStep[] {
    const { attribute, sub, filter } = target;
    if (attribute.multiValued && !sub && !filter) return this.listStep(op, target, raw);
    if (op === 'remove') return [{ op, target }];
    if (isEmpty(raw)) return this.emptied(target);
    const leaf = sub ?? attribute;
    const single = onlyOne(leaf, raw, this.options);
    const parts = leaf.type === 'complex' && coerceParts(leaf, single, leaf.path, this.options);
    if (isEmpty(single)) return [{ op: 'remove', target }];
    if (parts) return [{ op, target, ...parts }];
    const value = coerceScalar(leaf, single, leaf.path, this.options);
    return value === undefined ? [] : [{ op, target, value }];
  }

  private listStep(op: Op, target: AttributeTarget, raw: unknown): PatchStep[] {
    const { attribute } = target;
    if (op === 'remove') {
      // Only a list can be a value of `remove`, and an empty list removes nothing.
      if (raw === undefined || raw === null || raw === '') return [{ op, target }];
      this.options.deviation('remove_with_value');
      const value = coerceList(attribute, raw, this.options, hasParts);
      return value === undefined ? [] : [{ op, target, value }];
    }
    if (op === 'add' && Array.isArray(raw) && raw.length === 0) return [];
    if (isEmpty(raw)) return this.emptied(target);
    const value = coerceList(attribute, raw, this.options);
    if (value !== undefined) return [{ op, target, value }];
    return op === 'add' ? [] : [{ op: 'remove', target }];
  }

  /** Returns the step for an empty value, which removes its target. */
  private emptied(target: AttributeTarget): PatchStep[] {
    this.options.deviation('empty_value');
    return [{ op: 'remove', target }];
  }
}

const isUnknown = (error: ProblemError): boolean => error instanceof UnknownAttributeError;

const hasParts = (_: Attribute, element: ScimObject): boolean => Object.keys(element).length > 0;

const isReadOnly = ({ attribute, sub }: AttributeTarget): boolean =>
  attribute.isReadOnly || sub?.isReadOnly === true || sub?.mutability === 'immutable';

/** Maximum comparisons by the filters of a PATCH, which take some milliseconds of the main thread. */
const MAX_COMPARED = 20_000;

/**
 * Returns a copy of the resource after the steps, in order. Elements without a `value` are dropped only at the
 * end, because two steps may be needed to create one.
 * @throws ProblemError `no_target`, `invalid_value` for a list that becomes too long, `too_many` for expensive
 * filters
 */
export function applySteps(
  resource: ScimObject,
  steps: readonly PatchStep[],
  { deviation }: { deviation: CountDeviation },
): ScimObject {
  const touched = new Set<Attribute>();
  let state = resource;
  let compared = 0;
  for (const step of steps) {
    const { attribute, filter } = step.target;
    const before = attribute.valueIn(state);
    if (filter) compared += comparisonsIn(filter) * Math.max(1, objectsIn(before).length);
    if (compared > MAX_COMPARED) throw tooMany();
    if (attribute.multiValued) touched.add(attribute);
    const after = attribute.multiValued ? listAfter(before, step, deviation) : singleAfter(before, step);
    state = attribute.withValue(state, after);
  }
  for (const attribute of touched) {
    const elements = objectsIn(attribute.valueIn(state)).filter((element) => hasValue(attribute, element));
    state = attribute.withValue(state, elements);
  }
  return state;
}

function tooMany(): ProblemError {
  const detail = `The filters in the paths would make more than ${MAX_COMPARED} comparisons.`;
  return new ProblemError('too_many', `${detail} Send fewer operations in one PATCH.`);
}

function singleAfter(before: ScimValue | undefined, step: PatchStep): ScimValue | undefined {
  const { attribute, sub, filter } = step.target;
  if (attribute.type !== 'complex') return step.op === 'remove' ? undefined : step.value;
  const held = isScimObject(before) ? before : undefined;
  if (filter && !(held && elementMatcher(filter)(held))) {
    if (step.op === 'remove') return before;
    throw noTarget(attribute);
  }
  if (step.op === 'remove') return sub && held ? without(held, sub.name) : undefined;
  return changed(held ?? {}, step);
}

/** Returns an object with the changed sub-attributes of a step. */
function changed(object: ScimObject, { op, target: { sub }, value, unset = [] }: PatchStep): ScimObject {
  if (sub) return withMember(object, sub.name, op === 'remove' ? undefined : value);
  const rest = unset.reduce(without, object);
  return isScimObject(value) ? { ...rest, ...value } : rest;
}

function listAfter(
  before: ScimValue | undefined,
  step: PatchStep,
  deviation: CountDeviation,
): readonly ScimObject[] {
  const { attribute, filter } = step.target;
  const elements = objectsIn(before);
  const after = filter ? chosenAfter(elements, step, filter, deviation) : allAfter(elements, step);
  if (after.length > attribute.maxItems && after.length > elements.length) {
    const detail = `${attribute.path} can contain at most ${attribute.maxItems} elements.`;
    throw new ProblemError('invalid_value', detail);
  }
  return onePrimary(attribute, after, elements);
}

/**
 * Changes the whole list, or a sub-attribute of all its elements. An empty list gets an element for the
 * sub-attribute.
 */
function allAfter(elements: readonly ScimObject[], step: PatchStep): readonly ScimObject[] {
  const { op, target, value } = step;
  if (target.sub) {
    const targets = elements.length === 0 && op !== 'remove' ? [{}] : elements;
    return targets.map((element) => changed(element, step));
  }
  const sent = objectsIn(value);
  if (op === 'replace') return sent;
  if (op === 'add') return [...elements, ...newElements(target.attribute, sent, elements)];
  return value === undefined ? [] : elementsLeft(target.attribute, elements, sent);
}

/**
 * Changes the elements that a filter selects. If it selects none, a new element is created from its `eq`
 * comparisons.
 */
function chosenAfter(
  elements: readonly ScimObject[],
  step: PatchStep,
  filter: Filter,
  deviation: CountDeviation,
): readonly ScimObject[] {
  const isChosen = elementMatcher(filter);
  const isRemoval = step.op === 'remove';
  if (isRemoval && !step.target.sub) return elements.filter((element) => !isChosen(element));
  if (isRemoval || elements.some(isChosen)) {
    return elements.map((element) => (isChosen(element) ? changed(element, step) : element));
  }
  return [...elements, createdBy(step, filter, deviation)];
}

/** Creates the element that a filter describes, with the change of the step. @throws ProblemError `no_target` */
function createdBy(step: PatchStep, filter: Filter, deviation: CountDeviation): ScimObject {
  const { attribute, sub } = step.target;
  const parts = sub && partsMadeBy(filter);
  if (!parts) throw noTarget(attribute);
  deviation('filter_creates_element');
  return changed(parts, step);
}

const noTarget = ({ path }: Attribute): ProblemError =>
  new ProblemError('no_target', `No element of ${path} matches the filter of the path.`);

/**
 * Returns the sent elements that are not yet in the list. Elements are equal if all sent sub-attributes are
 * equal.
 */
function newElements(
  attribute: Attribute,
  sent: readonly ScimObject[],
  list: readonly ScimObject[],
): ScimObject[] {
  // Indexed by the sub-attributes that were sent, so that each comparison is a lookup and not a loop over the
  // list.
  const byParts = new Map<string, Set<string>>();
  return sent.filter((element) => {
    const names = partsOf(element);
    const known = byParts.get(names) ?? new Set(list.map((one) => signatureOf(attribute, one, names)));
    byParts.set(names, known);
    const signature = signatureOf(attribute, element, names);
    const isNew = !known.has(signature);
    known.add(signature); // a repeated element is added once
    return isNew;
  });
}

/** Returns the list without the elements that equal a sent element in all sent sub-attributes. */
function elementsLeft(
  attribute: Attribute,
  list: readonly ScimObject[],
  sent: readonly ScimObject[],
): readonly ScimObject[] {
  const byParts = [...Map.groupBy(sent, partsOf)].map(([names, elements]) => {
    const signatures = new Set(elements.map((element) => signatureOf(attribute, element, names)));
    return { names, signatures };
  });
  return list.filter(
    (one) => !byParts.some(({ names, signatures }) => signatures.has(signatureOf(attribute, one, names))),
  );
}

/** Returns the names of the sub-attributes of an element, separated by blanks. */
const partsOf = (element: ScimObject): string => Object.keys(element).sort().join(' ');

/**
 * Returns a string that is equal for elements with equal sub-attributes. @param names names as returned by
 * `partNamesOf`
 */
function signatureOf(attribute: Attribute, element: ScimObject, names: string): string {
  const parts = names.split(' ').map((name) => {
    const sub = attribute.sub(name);
    return sub && comparableOf(sub, member(element, name));
  });
  return JSON.stringify(parts);
}
