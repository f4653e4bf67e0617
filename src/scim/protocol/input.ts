import { type FieldCode, type FieldError, MAX_ERRORS, ProblemError } from '../../platform/common/errors.js';
import { isEmptyValue, isObject } from '../../platform/common/json.js';
import { isWithin } from '../../platform/common/text.js';
import { TimeSlice } from '../../platform/common/time-slice.js';
import {
  type Attribute,
  type ResourceDescription,
  type Schema,
  type ScimObject,
  type ScimValue,
  buildResource,
  omitMember,
} from './attribute.js';

/** Deviations from SCIM that the service tolerates, as counted in `rollcall_scim_deviations_total`. */
export type Deviation =
  /** The client sends `"True"` instead of a boolean. */
  | 'boolean_text'
  /** A spelling other than in the RFC, such as `Replace`, `operations` or `Value`. */
  | 'spelling'
  /** An operation without a path whose value has a path as a key, such as `name.givenName`. */
  | 'path_in_value'
  /** null or `""` in an operation other than `remove`. */
  | 'empty_value'
  /** `remove` that selects elements by `value` instead of by a filter. */
  | 'remove_with_value'
  | 'missing_schemas'
  /** A list instead of a single value, or a single value instead of a list. */
  | 'list_shape'
  /** A string instead of an object with that `value`. */
  | 'text_as_object'
  | 'unknown_attribute'
  | 'read_only_attribute'
  /** `attr[filter].sub` without a match, which creates the element. */
  | 'filter_creates_element';
export type CountDeviation = (kind: Deviation) => void;

export interface Report {
  addError: (error: FieldError) => void;
  countDeviation: CountDeviation;
  /** Time slice for reading the body, which may contain the members of a large group. */
  slice: TimeSlice;
}

/** The parsed body of a POST or PUT. */
export interface ReadResource {
  /**
   * The known and writable attributes, with the names and types from the schema. Omits attributes with an empty value.
   */
  resource: ScimObject;
  /** Paths of the attributes and sub-attributes that the request unassigns with an empty value (null, `""` or `[]`). */
  unassigned: ReadonlySet<string>;
  /** URNs of the extensions that the body uses or lists in `schemas`. */
  extensions: ReadonlySet<string>;
  /** The `id` in the body. A PUT requires it to equal the id in the path. A POST ignores it. */
  id?: string;
  /** Field errors with SCIM names, such as `emails[1].value`. The caller checks required top-level attributes. */
  errors: FieldError[];
}

/** Reads the body of a POST or PUT. @throws ProblemError `invalid_syntax` if it is not an object */
export async function readResource(
  body: unknown,
  description: ResourceDescription,
  countDeviation: CountDeviation = () => undefined,
): Promise<ReadResource> {
  if (!isObject(body))
    throw new ProblemError('invalid_syntax', 'The body must be a JSON object: a resource.');
  const reader = new ResourceReader(description, countDeviation);
  for (const [name, value] of Object.entries(body)) await reader.readMember(name, value);
  return reader.buildResult();
}

class ResourceReader implements Report {
  private readonly values = new Map<Attribute, ScimValue>();
  private readonly unassigned = new Set<string>();
  private readonly extensions = new Set<string>();
  private readonly errors: FieldError[] = [];
  readonly slice = new TimeSlice();
  readonly addError: Report['addError'] = (error) => {
    if (this.errors.length < MAX_ERRORS) this.errors.push(error);
  };
  private hasSchemas = false;
  private id: string | undefined;

  constructor(
    private readonly description: ResourceDescription,
    readonly countDeviation: CountDeviation,
  ) {}

  async readMember(name: string, value: unknown): Promise<void> {
    const schema = this.description.findSchema(name);
    if (!schema) {
      await this.readAttribute(this.description.findAttribute(name), value);
      return;
    }
    this.addExtension(schema);
    if (isObject(value)) {
      for (const [key, content] of Object.entries(value)) {
        const attribute = this.description.findAttribute(`${schema.urn}:${key}`);
        const isInSchema = attribute && schema.attributes.includes(attribute);
        await this.readAttribute(isInSchema ? attribute : undefined, content);
      }
    } else if (!isEmpty(value)) {
      this.addError({ field: schema.urn, code: 'invalid_type', message: 'must be an object' });
    }
  }

  private async readAttribute(attribute: Attribute | undefined, raw: unknown): Promise<void> {
    if (this.slice.isOver) await this.slice.startNext();
    if (!attribute) {
      this.countDeviation('unknown_attribute');
      return;
    }
    if (attribute.name === 'schemas' && Array.isArray(raw)) this.readSchemas(raw);
    if (attribute.name === 'id' && typeof raw === 'string') this.id = raw;
    if (attribute.isReadOnly) return;
    if (attribute.schema !== undefined) this.extensions.add(attribute.schema);
    const faults = this.errors.length;
    const { value, unset } = await coerceValue(attribute, raw, this);
    for (const name of unset) this.unassigned.add(`${attribute.path}.${name}`);
    if (value !== undefined) {
      this.unassigned.delete(attribute.path);
      this.values.set(attribute, value);
    } else if (this.errors.length === faults) {
      // The body may contain the attribute twice, with names that differ in case. The last value counts.
      this.values.delete(attribute);
      if (unset.length === 0) this.unassigned.add(attribute.path);
    }
  }

  private readSchemas(urns: readonly unknown[]): void {
    this.hasSchemas = true;
    for (const urn of urns) {
      const schema = typeof urn === 'string' ? this.description.findSchema(urn) : undefined;
      if (schema) this.addExtension(schema);
    }
  }

  private addExtension(schema: Schema): void {
    if (schema !== this.description.schema) this.extensions.add(schema.urn);
  }

  buildResult(): ReadResource {
    if (!this.hasSchemas) this.countDeviation('missing_schemas');
    const { unassigned, extensions, errors, id } = this;
    const resource = buildResource(this.values);
    return { resource, unassigned, extensions, ...(id !== undefined && { id }), errors };
  }
}

export function lowerCaseNames(object: Readonly<Record<string, unknown>>): Map<string, unknown> {
  return new Map(Object.entries(object).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Returns true for null, an empty string and an empty list, which unassign an attribute (RFC 7643 §2.5). */
export function isEmpty(value: unknown): boolean {
  return (value ?? '') === '' || (Array.isArray(value) && value.length === 0);
}

/**
 * Converts a value in the request to the type of its attribute. Omits unknown and read-only sub-attributes.
 * @returns undefined as the value if nothing is left, or if the value is invalid and was reported as an error.
 */
async function coerceValue(
  attribute: Attribute,
  raw: unknown,
  report: Report,
): Promise<{ value?: ScimValue | undefined; unset: readonly string[] }> {
  if (attribute.multiValued) return { value: await coerceList(attribute, raw, report), unset: [] };
  const single = toSingle(attribute, raw, report);
  if (isEmpty(single)) return { unset: [] };
  if (attribute.type !== 'complex')
    return { value: coerceScalar(attribute, single, attribute.path, report), unset: [] };
  const { value, unset } = coerceParts(attribute, single, attribute.path, report, true);
  return { value: isEmptyValue(value) ? undefined : value, unset };
}

/** Converts a value in the request for a single-valued attribute. Replaces a list with one element by the element. */
export function toSingle({ path }: Attribute, raw: unknown, report: Report): unknown {
  if (!Array.isArray(raw) || raw.length === 0) return raw;
  if (raw.length === 1) report.countDeviation('list_shape');
  else reportError(report, path, 'invalid_type', 'must be a single value, not a list');
  return raw.length === 1 ? raw[0] : undefined;
}

/**
 * Converts a list in the request, or a single value as a list with one element. Omits empty elements. Only the last
 * primary element stays primary.
 * @param isWhole false if the elements need not have the required sub-attributes
 */
export async function coerceList(
  attribute: Attribute,
  raw: unknown,
  report: Report,
  isWhole = true,
): Promise<ScimValue | undefined> {
  if (isEmpty(raw)) return undefined;
  if (!Array.isArray(raw)) report.countDeviation('list_shape');
  const list: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  if (list.length > attribute.maxItems) {
    reportError(report, attribute.path, 'too_long', `can contain at most ${attribute.maxItems} elements`);
    return undefined;
  }
  const elements: ScimObject[] = [];
  for (const [index, element] of list.entries()) {
    if (report.slice.isOver) await report.slice.startNext();
    if (isEmpty(element)) continue;
    const { value } = coerceParts(attribute, element, `${attribute.path}[${index}]`, report, isWhole);
    if (!isEmptyValue(value) && !(isWhole && findMissingPart(attribute, value))) elements.push(value);
  }
  if (elements.length === 0) return undefined;
  return clearOtherPrimaries(attribute, elements).filter((element) => !isEmptyValue(element));
}

/** Returns a required sub-attribute that the element lacks, if there is one. */
export function findMissingPart({ requiredParts }: Attribute, element: ScimObject): Attribute | undefined {
  return requiredParts.find(({ name }) => !Object.hasOwn(element, name));
}

/**
 * Converts the known and writable sub-attributes of an object. A plain string becomes the sub-attribute `value`.
 * @param isWhole true to report missing required sub-attributes. An empty `value` is permitted, because it unassigns the
 * whole object.
 */
export function coerceParts(
  attribute: Attribute,
  raw: unknown,
  path: string,
  report: Report,
  isWhole = false,
): { value: ScimObject; unset: readonly string[] } {
  if (!isObject(raw)) {
    if (attribute.findSub('value') && typeof raw === 'string') {
      report.countDeviation('text_as_object');
      return coerceParts(attribute, { value: raw }, path, report, isWhole);
    }
    reportError(report, path, 'invalid_type', 'must be an object');
    return { value: {}, unset: [] };
  }
  const value: Record<string, ScimValue> = {};
  const unset = new Set<string>();
  const missing = new Set(attribute.requiredParts);
  for (const [name, content] of Object.entries(raw)) {
    const sub = attribute.findSub(name);
    if (!sub) report.countDeviation('unknown_attribute');
    if (!sub || sub.isReadOnly) continue;
    if (isEmpty(content)) {
      unset.add(sub.name);
      continue;
    }
    missing.delete(sub);
    const scalar = coerceScalar(sub, content, `${path}.${sub.name}`, report);
    if (scalar !== undefined) value[sub.name] = scalar;
  }
  if (isWhole && !unset.has('value'))
    for (const { name } of missing) reportError(report, `${path}.${name}`, 'required', 'is required');
  return { value, unset: [...unset] };
}

/**
 * Converts a non-empty value that is neither a list nor an object.
 * @returns undefined for an invalid value, which is reported as an error
 */
export function coerceScalar(
  { type, maxLength }: Attribute,
  raw: unknown,
  path: string,
  report: Report,
): string | boolean | undefined {
  if (type === 'boolean') return coerceFlag(raw, path, report);
  if (typeof raw !== 'string') reportError(report, path, 'invalid_type', 'must be a string');
  else if (!raw.isWellFormed())
    reportError(report, path, 'invalid_format', 'must not contain invalid Unicode');
  else if (isWithin(raw, maxLength)) return raw;
  else reportError(report, path, 'too_long', `may have at most ${maxLength} characters`);
  return undefined;
}

function coerceFlag(raw: unknown, path: string, report: Report): boolean | undefined {
  if (typeof raw === 'boolean') return raw;
  const word = typeof raw === 'string' ? raw.toLowerCase() : '';
  if (word === 'true' || word === 'false') {
    report.countDeviation('boolean_text');
    return word === 'true';
  }
  reportError(report, path, 'invalid_type', 'must be true or false');
  return undefined;
}

function reportError(report: Report, field: string, code: FieldCode, message: string): void {
  report.addError({ field, code, message });
}

/**
 * Keeps only one primary element: the last one that is not in `before`, otherwise the last one.
 * @param before the elements of the list before the change
 */
export function clearOtherPrimaries(
  attribute: Attribute,
  elements: readonly ScimObject[],
  before: readonly ScimObject[] = [],
): readonly ScimObject[] {
  if (!attribute.findSub('primary')) return elements;
  const primaries = elements.filter((element) => element['primary'] === true);
  if (primaries.length < 2) return elements;
  const old = new Set(before);
  const last = primaries.findLast((element) => !old.has(element)) ?? primaries.at(-1);
  return elements.map((element) =>
    element['primary'] === true && element !== last ? omitMember(element, 'primary') : element,
  );
}
