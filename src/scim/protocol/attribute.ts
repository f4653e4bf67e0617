import { isEmptyValue } from '../../platform/common/json.js';
import { foldCase, toNormalForm } from '../../platform/common/text.js';
import { isUuid } from '../../platform/common/uuid.js';
import { toFullLoginKey } from '../../users/model/comparison-keys.js';
import type { User } from '../../users/model/user.js';
import { createNotFoundError } from './errors.js';

/**
 * A JSON value in a SCIM resource. Resources omit null, `""` and `[]`, which mean that a value is missing (RFC 7643
 * §2.5).
 */
export type ScimValue = string | number | boolean | readonly ScimValue[] | ScimObject;
export interface ScimObject {
  readonly [name: string]: ScimValue;
}

export function isScimObject(value: ScimValue | undefined): value is ScimObject {
  return typeof value === 'object' && !Array.isArray(value);
}

/** Returns a member of the object itself. Names such as `constructor` do not find members of the prototype. */
export function getMember(object: ScimObject, name: string): ScimValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function omitMember(object: ScimObject, name: string): ScimObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

/** Returns a copy of the object with the member set to the value. Removes the member if the value is empty. */
export function setMember(object: ScimObject, name: string, value: ScimValue | undefined): ScimObject {
  return value === undefined || isEmptyValue(value) ? omitMember(object, name) : { ...object, [name]: value };
}

/** Returns the elements of a list. A single value counts as a list with one element, and undefined as an empty list. */
export function elementsOf(value: ScimValue | undefined): readonly ScimValue[] {
  if (value === undefined) return [];
  return typeof value !== 'object' || isScimObject(value) ? [value] : value;
}

export function objectsOf(value: ScimValue | undefined): readonly ScimObject[] {
  return elementsOf(value).filter(isScimObject);
}

type AttributeType = 'string' | 'boolean' | 'dateTime' | 'binary' | 'reference' | 'complex';

/**
 * Comparison of attribute values. `login` compares login keys, and `time` compares instants. `text` and `uuid` ignore
 * case, but `exact` does not. `text` and `exact` normalize to NFC.
 */
type Comparison = 'text' | 'login' | 'exact' | 'uuid' | 'time' | 'boolean';

type Mutability = 'readOnly' | 'readWrite' | 'immutable' | 'writeOnly';

/** The definition of an attribute in a schema. Omitted properties have the default values of RFC 7643 §2.2. */
export interface AttributeDefinition {
  name: string;
  description: string;
  type?: AttributeType;
  multiValued?: boolean;
  required?: boolean;
  canonicalValues?: readonly string[];
  mutability?: Mutability;
  returned?: 'always' | 'never' | 'default' | 'request';
  uniqueness?: 'none' | 'server' | 'global';
  referenceTypes?: readonly string[];
  /** By default, the comparison depends on the type. `caseExact` of the schema is true only for `exact`. */
  compare?: Comparison;
  maxLength?: number;
  maxItems?: number;
  subAttributes?: readonly AttributeDefinition[];
  /** The field of the user that stores the attribute. */
  field?: keyof User;
}

export interface SchemaDefinition {
  urn: string;
  name: string;
  description: string;
  attributes: readonly AttributeDefinition[];
}

const MAX_TEXT = 1000;
const MAX_ITEMS = 50;
const COMPARISON: Readonly<Record<AttributeType, Comparison>> = {
  string: 'text',
  boolean: 'boolean',
  dateTime: 'time',
  binary: 'exact',
  reference: 'exact',
  complex: 'text',
};

/** An attribute or sub-attribute. Properties that its definition omits have their default values. */
export class Attribute {
  readonly name = this.definition.name;
  readonly description = this.definition.description;
  readonly type = this.definition.type ?? 'string';
  readonly multiValued = this.definition.multiValued ?? false;
  readonly required = this.definition.required ?? false;
  readonly canonicalValues = this.definition.canonicalValues ?? [];
  readonly mutability: Mutability = this.definition.mutability ?? this.parent?.mutability ?? 'readWrite';
  readonly returned = this.definition.returned ?? 'default';
  readonly uniqueness = this.definition.uniqueness ?? 'none';
  readonly referenceTypes = this.definition.referenceTypes ?? [];
  readonly compare = this.definition.compare ?? COMPARISON[this.type];
  readonly caseExact = this.compare === 'exact';
  readonly maxLength = this.definition.maxLength ?? MAX_TEXT;
  readonly maxItems = this.definition.maxItems ?? MAX_ITEMS;
  readonly isReadOnly = this.mutability === 'readOnly';
  /** The path for errors and `sortBy`, such as `name.givenName` or `urn:…:enterprise:2.0:User:manager.value`. */
  readonly path: string;
  readonly subAttributes: readonly Attribute[];
  readonly requiredParts: readonly Attribute[];
  private readonly subs: ReadonlyMap<string, Attribute>;

  /**
   * @param schema the URN of the extension that defines the attribute. Undefined for other attributes.
   * @param parent the complex attribute that contains this sub-attribute
   */
  constructor(
    private readonly definition: AttributeDefinition,
    readonly schema: string | undefined,
    readonly parent?: Attribute,
  ) {
    const { name, subAttributes = [] } = definition;
    this.path = parent ? `${parent.path}.${name}` : schema === undefined ? name : `${schema}:${name}`;
    this.subAttributes = subAttributes.map((each) => new Attribute(each, schema, this));
    this.requiredParts = this.subAttributes.filter(({ required }) => required);
    this.subs = new Map(this.subAttributes.map((each) => [each.name.toLowerCase(), each]));
  }

  findSub(name: string): Attribute | undefined {
    return this.subs.get(name.toLowerCase());
  }

  getValue(resource: ScimObject): ScimValue | undefined {
    if (this.schema === undefined) return getMember(resource, this.name);
    const extension = getMember(resource, this.schema);
    return isScimObject(extension) ? getMember(extension, this.name) : undefined;
  }

  /** Returns a copy of a resource with the attribute set to the value. Removes the attribute if the value is empty. */
  setValue(resource: ScimObject, value: ScimValue | undefined): ScimObject {
    if (this.schema === undefined) return setMember(resource, this.name, value);
    const held = getMember(resource, this.schema);
    const extension = setMember(isScimObject(held) ? held : {}, this.name, value);
    return setMember(resource, this.schema, extension);
  }
}

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)?)?$/i;

/**
 * Parses an ISO 8601 date or time, in UTC by default, and returns milliseconds since 1970. Returns undefined for other
 * text.
 */
export function parseInstant(text: string): number | undefined {
  const form = TIME.exec(text);
  if (!form) return undefined;
  const zoned = text.length > 10 && form[1] === undefined ? `${text}Z` : text;
  const millis = Date.parse(zoned.toUpperCase());
  return Number.isNaN(millis) ? undefined : millis;
}

const CONVERTERS = {
  login: toFullLoginKey,
  text: (text: string) => toNormalForm(foldCase(toNormalForm(text, 'NFC')), 'NFC'),
  exact: (text: string) => toNormalForm(text, 'NFC').trim(),
  uuid: (text: string) => text.toLowerCase(),
  time: parseInstant,
};

/** Converts a value for comparison with other values of the attribute. Returns undefined for a wrong type. */
export function toComparable(
  { compare }: Attribute,
  value: ScimValue | undefined,
): string | number | boolean | undefined {
  if (compare === 'boolean') return typeof value === 'boolean' ? value : undefined;
  return typeof value === 'string' ? CONVERTERS[compare](value) : undefined;
}

export interface Schema extends SchemaDefinition {
  readonly attributes: readonly Attribute[];
}

/** A reference to an attribute or sub-attribute in a filter, a PATCH path or a list of names. */
export interface AttributePath {
  readonly attribute: Attribute;
  readonly sub?: Attribute;
}

/**
 * Returns the path of the value that a filter compares. For a complex attribute, this is the sub-attribute `value`, or
 * undefined if there is none.
 */
export function toValuePath(path: AttributePath): AttributePath | undefined {
  const { attribute, sub } = path;
  if (sub || attribute.type !== 'complex') return path;
  const value = attribute.findSub('value');
  return value && { attribute, sub: value };
}

/** The description of a resource type, with every attribute name that requests can use. */
export class ResourceDescription {
  readonly schema: Schema;
  readonly extensions: readonly Schema[];
  /** All top-level attributes: common attributes, core attributes and attributes of extensions. */
  readonly attributes: readonly Attribute[];
  private readonly schemas: readonly Schema[];
  private readonly byName = new Map<string, Attribute>();

  /**
   * @param endpoint path below `/scim/v2`, such as `/Users`
   * @param common `id`, `externalId`, `meta` and `schemas`, which are not part of any schema (RFC 7643 §3.1)
   */
  constructor(
    readonly name: 'User' | 'Group',
    readonly endpoint: string,
    common: readonly AttributeDefinition[],
    core: SchemaDefinition,
    extensions: readonly SchemaDefinition[],
  ) {
    const shared = common.map((definition) => new Attribute(definition, undefined));
    this.schema = describeSchema(core, undefined);
    this.extensions = extensions.map((extension) => describeSchema(extension, extension.urn));
    this.schemas = [this.schema, ...this.extensions];
    this.attributes = [...shared, ...this.schemas.flatMap(({ attributes }) => attributes)];
    for (const attribute of this.attributes) {
      this.byName.set(attribute.path.toLowerCase(), attribute);
      if (attribute.schema === undefined)
        this.byName.set(`${core.urn}:${attribute.name}`.toLowerCase(), attribute);
    }
  }

  /** Converts the id of a resource to a uuid in lower case. @throws ProblemError `not_found` if the id is not a UUID */
  parseId(id: string): string {
    if (!isUuid(id)) throw createNotFoundError(this.name, id);
    return id.toLowerCase();
  }

  /**
   * Finds a top-level attribute by its name, ignoring case. The URN is optional, except for attributes of extensions.
   */
  findAttribute(name: string): Attribute | undefined {
    return this.byName.get(name.toLowerCase());
  }

  findSchema(urn: string): Schema | undefined {
    return this.schemas.find((schema) => schema.urn.toLowerCase() === urn.toLowerCase());
  }

  /**
   * Finds the attribute for a path of the form `[urn:]attr[.sub]`, ignoring case. Returns undefined for an unknown
   * name.
   */
  resolvePath(path: string): AttributePath | undefined {
    const whole = this.findAttribute(path);
    if (whole) return { attribute: whole };
    const dot = path.lastIndexOf('.');
    const attribute = dot > 0 ? this.findAttribute(path.slice(0, dot)) : undefined;
    const sub = attribute?.findSub(path.slice(dot + 1));
    return attribute && sub && { attribute, sub };
  }
}

function describeSchema(definition: SchemaDefinition, extension: string | undefined): Schema {
  const attributes = definition.attributes.map((attribute) => new Attribute(attribute, extension));
  return { ...definition, attributes };
}

export function buildResource(values: Iterable<readonly [Attribute, ScimValue]>): ScimObject {
  const core: Record<string, ScimValue> = {};
  const extensions: Record<string, Record<string, ScimValue>> = {};
  for (const [{ name, schema }, value] of values) {
    const holder = schema === undefined ? core : (extensions[schema] ??= {});
    holder[name] = value;
  }
  return { ...core, ...extensions };
}
