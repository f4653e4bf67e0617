import { ProblemError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import type { Attribute, ResourceDescription, Schema, ScimObject, ScimValue } from './attribute.js';
import { UnknownAttributeError, quoted } from './errors.js';
import { type Filter, FilterParser, MAX_FILTER } from './filter.js';
import {
  type CountDeviation,
  type Report,
  coerceList,
  coerceParts,
  coerceScalar,
  isEmpty,
  lowerCased,
  onlyOne,
} from './input.js';

/** Operations of one PATCH. */
const MAX_OPERATIONS = 1000;

const OPS = ['add', 'replace', 'remove'] as const;
type Op = (typeof OPS)[number];

export interface PatchOptions {
  resource: ResourceDescription;
  /** The profile `entra`: a path to an unknown attribute is no error. */
  ignoreUnknown: boolean;
  deviation: CountDeviation;
}

/** An attribute, a part of it, or chosen elements of it. */
interface AttributeTarget {
  readonly kind: 'attribute';
  readonly attribute: Attribute;
  /** Chooses elements. Its paths are as in `ElementFilter`. */
  readonly filter?: Filter;
  readonly sub?: Attribute;
}

/** A PATCH path: an attribute, or all attributes of a schema by its URN. */
type PatchPath = { readonly kind: 'schema'; readonly schema: Schema } | AttributeTarget;

/**
 * One change of one path, its value in the types of the schema: a list for a list, an object for a complex attribute or
 * for chosen elements, with the parts to be `unset`. A `remove` with a value takes the elements equal to it out of a list.
 */
export interface PatchStep {
  readonly op: Op;
  readonly target: AttributeTarget;
  readonly value?: ScimValue;
  readonly unset?: readonly string[];
}

/**
 * Reads the operations of a PATCH body, or of Bulk `data`, which may be the list alone. An operation without a path, or on
 * a whole schema, gives a step for each attribute.
 * @throws ProblemError invalid_syntax, invalid_path, invalid_filter, invalid_value, mutability, no_target
 */
export function readPatch(body: unknown, { deviation, ...options }: PatchOptions): PatchStep[] {
  const list = Array.isArray(body) ? body : operationsIn(body, deviation);
  if (!Array.isArray(list) || list.length === 0) {
    throw new ProblemError('invalid_syntax', 'A PATCH needs Operations, a list of at least one.');
  }
  if (list.length > MAX_OPERATIONS) {
    throw new ProblemError('invalid_syntax', `A PATCH may have at most ${MAX_OPERATIONS} operations.`);
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

/** An operation as it was sent: its value has not been read yet. */
interface Operation {
  op: Op;
  /** `''` for none. */
  path: string;
  value: unknown;
}

/** Reads an operation (RFC 7644 §3.5.2), names in any case. */
function readOperation(raw: unknown, number: number, deviation: CountDeviation): Operation {
  if (!isObject(raw)) throw new ProblemError('invalid_syntax', `Operation ${number} must be an object.`);
  const members = lowerCased(raw);
  const name = members.get('op');
  const op = OPS.find((known) => typeof name === 'string' && known === name.toLowerCase());
  if (!op) {
    const given = typeof name === 'string' ? `, not ${quoted(name)}` : '';
    const detail = `Operation ${number}: op must be add, replace or remove${given}.`;
    throw new ProblemError('invalid_syntax', detail);
  }
  if (op !== name) deviation('spelling');
  const path = members.get('path') ?? '';
  if (typeof path !== 'string') {
    throw new ProblemError('invalid_path', `Operation ${number}: path must be a string.`);
  }
  return { op, path: path.trim(), value: members.get('value') };
}

const refuse: Report['fault'] = ({ field, message }) => {
  throw new ProblemError('invalid_value', `${field} ${message}.`);
};

class StepReader {
  constructor(private readonly options: PatchOptions & Report) {}

  steps({ op, path, value }: Operation): PatchStep[] {
    const { ignoreUnknown } = this.options;
    if (path === '') {
      if (op === 'remove') throw new ProblemError('no_target', 'An operation remove needs a path.');
      if (isObject(value)) return this.members(op, '', value);
      throw new ProblemError('invalid_value', 'The value of an operation without path must be an object.');
    }
    const target = this.target(path, (error) => ignoreUnknown && error instanceof UnknownAttributeError);
    if (!target) return [];
    if (op !== 'remove' && value === undefined) {
      throw new ProblemError('invalid_value', `An operation ${op} needs a value.`);
    }
    if (target.kind === 'schema') return this.wholeSchema(op, target.schema, value);
    if (!isReadOnly(target)) return this.step(op, target, value);
    throw new ProblemError('mutability', `${(target.sub ?? target.attribute).path} cannot be changed.`);
  }

  /** Reads the keys of a value as paths. Keys that are unknown, broken or read-only are ignored. */
  private members(op: 'add' | 'replace', prefix: string, value: object): PatchStep[] {
    return Object.entries(value).flatMap(([name, content]) => {
      const target = this.target(`${prefix}${name}`, () => true);
      if (!target) return [];
      if (target.kind === 'schema') return this.wholeSchema(op, target.schema, content);
      if (target.sub ?? target.filter) this.options.deviation('path_in_value');
      if (!isReadOnly(target)) return this.step(op, target, content);
      this.options.deviation('read_only_attribute');
      return [];
    });
  }

  /** Parses a path. @returns undefined for an error that is ignored */
  private target(path: string, isIgnored: (error: ProblemError) => boolean): PatchPath | undefined {
    try {
      return parsePath(path, this.options.resource);
    } catch (error) {
      if (!(error instanceof ProblemError) || !isIgnored(error)) throw error;
      this.options.deviation('unknown_attribute');
      return undefined;
    }
  }

  /** Reads a value of all attributes of a schema. */
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
    const { options } = this;
    const { attribute, sub, filter } = target;
    const removal: PatchStep = { op: 'remove', target };
    const isWholeList = attribute.multiValued && !sub && !filter;
    if (op === 'remove') {
      // A value counts for a list only, and a list of nothing takes nothing out.
      if (!isWholeList || raw === undefined || raw === null || raw === '') return [removal];
      options.deviation('remove_with_value');
      const value = coerceList(attribute, raw, options, hasParts);
      return value === undefined ? [] : [{ op, target, value }];
    }
    if (isEmpty(raw)) {
      if (isWholeList && Array.isArray(raw) && op === 'add') return [];
      options.deviation('empty_value');
      return [removal];
    }
    if (isWholeList) {
      const value = coerceList(attribute, raw, options);
      if (value !== undefined) return [{ op, target, value }];
      return op === 'add' ? [] : [removal];
    }
    const leaf = sub ?? attribute;
    const single = onlyOne(leaf, raw, options);
    const parts = leaf.type === 'complex' && coerceParts(leaf, single, leaf.path, options);
    if (isEmpty(single)) return [removal];
    if (parts) return [{ op, target, ...parts }];
    const value = coerceScalar(leaf, single, leaf.path, options);
    return value === undefined ? [] : [{ op, target, value }];
  }
}

const hasParts = (_: Attribute, element: ScimObject): boolean => Object.keys(element).length > 0;

const isReadOnly = ({ attribute, sub }: AttributeTarget): boolean =>
  attribute.isReadOnly || sub?.isReadOnly === true || sub?.mutability === 'immutable';

/**
 * Parses `[urn:]attr[.sub]`, `attr[filter][.sub]`, or the URN of a schema (RFC 7644 §3.5.2), names in any case.
 * @throws ProblemError `invalid_path`, `invalid_filter` for a fault inside `[…]`, `UnknownAttributeError`
 */
export function parsePath(text: string, resource: ResourceDescription): PatchPath {
  const path = text.trim();
  if (path.length > MAX_FILTER) {
    throw new ProblemError('invalid_path', `A path may have at most ${MAX_FILTER} characters.`);
  }
  const schema = resource.schemaOf(path);
  if (schema) return { kind: 'schema', schema };
  const found = resource.find(path);
  if (found) return { kind: 'attribute', ...found };
  if (!path.includes('[')) throw invalidPath(path);
  const parser = new FilterParser(path, resource);
  const name = parser.next();
  const attribute = name.kind === 'word' ? resource.attribute(name.text) : undefined;
  if (!attribute) throw invalidPath(name.text);
  const filter = parser.inBrackets(attribute);
  const sub = parser.partAfterBrackets(attribute);
  if (parser.next().kind !== 'end') throw malformed(path);
  return { kind: 'attribute', attribute, filter, ...(sub && { sub }) };
}

const NAME = /^[^\s()[\]"]+$/;

const invalidPath = (name: string): ProblemError =>
  NAME.test(name) ? new UnknownAttributeError('invalid_path', name) : malformed(name);

const malformed = (path: string): ProblemError =>
  new ProblemError(
    'invalid_path',
    `The path ${quoted(path)} is neither attribute, attribute.part nor attribute[filter].part.`,
  );
