import { caseFold, normalForm } from '../../platform/common/text.js';
import { isUuid } from '../../platform/common/uuid.js';
import { loginForm } from '../../users/model/comparison-keys.js';
import type { User } from '../../users/model/user.js';
import { notFound } from './errors.js';

/** JSON as SCIM resources hold it: null, `""` and `[]` mean "no value" (RFC 7643 §2.5) and are left out. */
export type ScimValue = string | number | boolean | readonly ScimValue[] | ScimObject;
export interface ScimObject {
  readonly [name: string]: ScimValue;
}

export function isScimObject(value: ScimValue | undefined): value is ScimObject {
  return typeof value === 'object' && !Array.isArray(value);
}

/** Returns an own member of an object: names such as `constructor` are not found in the prototype. */
export function member(object: ScimObject, name: string): ScimValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Returns a copy of the object without a member. */
export function without(object: ScimObject, name: string): ScimObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

/** Returns a copy of the object with a member, or without it where the value is empty. */
export function withMember(object: ScimObject, name: string, value: ScimValue | undefined): ScimObject {
  const isNothing = value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);
  return isNothing ? without(object, name) : { ...object, [name]: value };
}

/** Returns the elements of a list. A single value is its own element. */
export function elementsOf(value: ScimValue | undefined): readonly ScimValue[] {
  if (value === undefined) return [];
  return typeof value !== 'object' || isScimObject(value) ? [value] : value;
}

/** Returns the elements of a list of objects. */
export function objectsIn(value: ScimValue | undefined): readonly ScimObject[] {
  return elementsOf(value).filter(isScimObject);
}

type AttributeType = 'string' | 'boolean' | 'dateTime' | 'binary' | 'reference' | 'complex';

/** How values are compared: `login` as the login key, `text` NFC and case-folded, `uuid` in any case, `time` as instants. */
type Comparison = 'text' | 'login' | 'exact' | 'uuid' | 'time' | 'boolean';

type Mutability = 'readOnly' | 'readWrite' | 'immutable' | 'writeOnly';

/** An attribute as a schema describes it (RFC 7643 §2.2). Omitted properties have the default of the RFC. */
export interface AttributeDefinition {
  name: string;
  description: string;
  type?: AttributeType;
  multiValued?: boolean;
  required?: boolean;
  canonicalValues?: readonly string[];
  caseExact?: boolean;
  mutability?: Mutability;
  returned?: 'always' | 'never' | 'default' | 'request';
  uniqueness?: 'none' | 'server' | 'global';
  referenceTypes?: readonly string[];
  /** Default: by the type. */
  compare?: Comparison;
  /** Characters of a text. */
  maxLength?: number;
  /** Elements of a list. */
  maxItems?: number;
  subAttributes?: readonly AttributeDefinition[];
  /** The field of the user that is shown as this attribute. */
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

/** An attribute or sub-attribute with every default filled in. */
export class Attribute {
  readonly name = this.definition.name;
  readonly description = this.definition.description;
  readonly type = this.definition.type ?? 'string';
  readonly multiValued = this.definition.multiValued ?? false;
  readonly required = this.definition.required ?? false;
  readonly canonicalValues = this.definition.canonicalValues ?? [];
  readonly caseExact = this.definition.caseExact ?? (this.type === 'reference' || this.type === 'binary');
  readonly mutability: Mutability = this.definition.mutability ?? this.parent?.mutability ?? 'readWrite';
  readonly returned = this.definition.returned ?? 'default';
  readonly uniqueness = this.definition.uniqueness ?? 'none';
  readonly referenceTypes = this.definition.referenceTypes ?? [];
  readonly compare = this.definition.compare ?? (this.caseExact ? 'exact' : COMPARISON[this.type]);
  readonly maxLength = this.definition.maxLength ?? MAX_TEXT;
  readonly maxItems = this.definition.maxItems ?? MAX_ITEMS;
  readonly isReadOnly = this.mutability === 'readOnly';
  /** The spelling that errors and `sortBy` use: `name.givenName`, `urn:…:enterprise:2.0:User:manager.value`. */
  readonly path: string;
  readonly subAttributes: readonly Attribute[];
  private readonly subs: ReadonlyMap<string, Attribute>;

  /**
   * @param schema the URN that its values are kept under, when it belongs to an extension
   * @param parent the attribute that it is a part of
   */
  constructor(
    private readonly definition: AttributeDefinition,
    readonly schema: string | undefined,
    readonly parent?: Attribute,
  ) {
    const { name, subAttributes = [] } = definition;
    this.path = parent ? `${parent.path}.${name}` : schema === undefined ? name : `${schema}:${name}`;
    this.subAttributes = subAttributes.map((sub) => new Attribute(sub, schema, this));
    this.subs = new Map(this.subAttributes.map((sub) => [sub.name.toLowerCase(), sub]));
  }

  /** Finds the sub-attribute of a name in any case. */
  sub(name: string): Attribute | undefined {
    return this.subs.get(name.toLowerCase());
  }

  /** Returns the value of this (top-level) attribute in a resource. */
  valueIn(resource: ScimObject): ScimValue | undefined {
    if (this.schema === undefined) return member(resource, this.name);
    const extension = member(resource, this.schema);
    return isScimObject(extension) ? member(extension, this.name) : undefined;
  }

  /** Returns a copy of a resource with the value of this (top-level) attribute, or without it where that is empty. */
  withValue(resource: ScimObject, value: ScimValue | undefined): ScimObject {
    if (this.schema === undefined) return withMember(resource, this.name, value);
    const held = member(resource, this.schema);
    const extension = withMember(isScimObject(held) ? held : {}, this.name, value);
    return withMember(resource, this.schema, extension);
  }
}

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)?)?$/i;

/** Returns milliseconds since 1970 of an ISO 8601 date or time, UTC by default, and undefined for any other text. */
export function instantOf(text: string): number | undefined {
  const form = TIME.exec(text);
  if (!form) return undefined;
  const zoned = text.length > 10 && form[1] === undefined ? `${text}Z` : text;
  const millis = Date.parse(zoned.toUpperCase());
  return Number.isNaN(millis) ? undefined : millis;
}

const FORMS = {
  login: loginForm,
  text: (text: string) => normalForm(caseFold(normalForm(text, 'NFC')), 'NFC'),
  exact: (text: string) => normalForm(text, 'NFC').trim(),
  uuid: (text: string) => text.toLowerCase(),
  time: instantOf,
};

/** Returns the form in which values of an attribute are equal or in order, and undefined for a value of another type. */
export function comparableOf(
  { compare }: Attribute,
  value: ScimValue | undefined,
): string | number | boolean | undefined {
  if (compare === 'boolean') return typeof value === 'boolean' ? value : undefined;
  return typeof value === 'string' ? FORMS[compare](value) : undefined;
}

/** A schema with the attributes that it describes, in its order. */
export interface Schema extends SchemaDefinition {
  readonly attributes: readonly Attribute[];
}

/** An attribute, or a part of it, that a filter, a path or a list of names refers to. */
export interface AttributePath {
  readonly attribute: Attribute;
  readonly sub?: Attribute;
}

/** Returns the path to the values: of a complex attribute to its `value`, undefined where it has none. */
export function valuePath(path: AttributePath): AttributePath | undefined {
  const { attribute, sub } = path;
  if (sub || attribute.type !== 'complex') return path;
  const value = attribute.sub('value');
  return value && { attribute, sub: value };
}

/** A type of resource with every name that its requests may use: the source of filters, PATCH, bodies and `/Schemas`. */
export class ResourceDescription {
  readonly schema: Schema;
  readonly extensions: readonly Schema[];
  /** All top-level attributes: common, core, extensions. */
  readonly attributes: readonly Attribute[];
  /** The top-level attributes of a response to a request without `attributes`. */
  readonly shownByDefault: readonly Attribute[];
  private readonly byName = new Map<string, Attribute>();
  private readonly byUrn: ReadonlyMap<string, Schema>;

  /**
   * @param endpoint below the base, such as `/Users`
   * @param common `id`, `externalId`, `meta` and `schemas`, which no schema lists (RFC 7643 §3.1)
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
    const schemas = [this.schema, ...this.extensions];
    this.byUrn = new Map(schemas.map((schema) => [schema.urn.toLowerCase(), schema]));
    this.attributes = [...shared, ...schemas.flatMap(({ attributes }) => attributes)];
    this.shownByDefault = this.attributes.filter(({ returned }) => /^(always|default)$/.test(returned));
    for (const attribute of this.attributes) {
      this.byName.set(attribute.path.toLowerCase(), attribute);
      if (attribute.schema === undefined)
        this.byName.set(`${core.urn}:${attribute.name}`.toLowerCase(), attribute);
    }
  }

  /** Returns the id of a resource as a uuid. @throws ProblemError `not_found` */
  uuidOf(id: string): string {
    if (!isUuid(id)) throw notFound(this.name, id);
    return id.toLowerCase();
  }

  /** Finds the top-level attribute of a name in any case, with or without its URN. Those of extensions need the URN. */
  attribute(name: string): Attribute | undefined {
    return this.byName.get(name.toLowerCase());
  }

  /** Finds the schema (core or extension) of a URN in any case. */
  schemaOf(urn: string): Schema | undefined {
    return this.byUrn.get(urn.toLowerCase());
  }

  /** Resolves `[urn:]attr[.sub]` in any case, undefined for an unknown name. */
  find(path: string): AttributePath | undefined {
    const whole = this.attribute(path);
    if (whole) return { attribute: whole };
    const dot = path.lastIndexOf('.');
    const attribute = dot > 0 ? this.attribute(path.slice(0, dot)) : undefined;
    const sub = attribute?.sub(path.slice(dot + 1));
    return attribute && sub && { attribute, sub };
  }
}

function describeSchema(definition: SchemaDefinition, extension: string | undefined): Schema {
  return {
    ...definition,
    attributes: definition.attributes.map((attribute) => new Attribute(attribute, extension)),
  };
}

/** Builds a resource from values of top-level attributes. */
export function resourceOf(values: Iterable<readonly [Attribute, ScimValue]>): ScimObject {
  const core: Record<string, ScimValue> = {};
  const extensions: Record<string, Record<string, ScimValue>> = {};
  for (const [{ name, schema }, value] of values) {
    const holder = schema === undefined ? core : (extensions[schema] ??= {});
    holder[name] = value;
  }
  return { ...core, ...extensions };
}
