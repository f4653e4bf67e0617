import type { ScimObject, ScimValue } from './json.js';
import { isScimObject, member } from './json.js';

export type AttributeType = 'string' | 'boolean' | 'dateTime' | 'binary' | 'reference' | 'complex';

/** How values are compared: `login` as the login key, `text` NFC and case-folded, `uuid` in any case, `time` as instants. */
export type Comparison = 'text' | 'login' | 'exact' | 'uuid' | 'time' | 'boolean';

/** What a schema says about an attribute (RFC 7643 §2.2); what is left out has the default of the RFC. */
export interface AttributeDefinition {
  name: string;
  description: string;
  type?: AttributeType;
  multiValued?: boolean;
  required?: boolean;
  canonicalValues?: readonly string[];
  caseExact?: boolean;
  mutability?: 'readOnly' | 'readWrite' | 'immutable' | 'writeOnly';
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
}

export interface SchemaDefinition {
  urn: string;
  name: string;
  description: string;
  attributes: readonly AttributeDefinition[];
}

const MAX_TEXT = 1000;
const MAX_ITEMS = 50;
const COMPARISON = {
  string: 'text',
  boolean: 'boolean',
  dateTime: 'time',
  binary: 'exact',
  reference: 'exact',
  complex: 'text',
} as const satisfies Record<AttributeType, Comparison>;

/** An attribute or sub-attribute with every default filled in. */
export class Attribute {
  readonly name: string;
  readonly description: string;
  readonly type: AttributeType;
  readonly multiValued: boolean;
  readonly required: boolean;
  readonly canonicalValues: readonly string[];
  readonly caseExact: boolean;
  readonly mutability: 'readOnly' | 'readWrite' | 'immutable' | 'writeOnly';
  readonly returned: 'always' | 'never' | 'default' | 'request';
  readonly uniqueness: 'none' | 'server' | 'global';
  readonly referenceTypes: readonly string[];
  readonly compare: Comparison;
  readonly maxLength: number;
  readonly maxItems: number;
  readonly subAttributes: readonly Attribute[];
  /** The spelling that errors and `sortBy` use: `name.givenName`, `urn:…:enterprise:2.0:User:manager.value`. */
  readonly path: string;
  private readonly subs = new Map<string, Attribute>();

  /**
   * @param schema the URN that its values are kept under, when it belongs to an extension
   * @param parent the attribute that it is a part of
   */
  constructor(
    definition: AttributeDefinition,
    readonly schema: string | undefined,
    readonly parent?: Attribute,
  ) {
    this.name = definition.name;
    this.description = definition.description;
    this.type = definition.type ?? 'string';
    this.multiValued = definition.multiValued ?? false;
    this.required = definition.required ?? false;
    this.canonicalValues = definition.canonicalValues ?? [];
    this.caseExact = definition.caseExact ?? (this.type === 'reference' || this.type === 'binary');
    this.mutability = definition.mutability ?? parent?.mutability ?? 'readWrite';
    this.returned = definition.returned ?? 'default';
    this.uniqueness = definition.uniqueness ?? 'none';
    this.referenceTypes = definition.referenceTypes ?? [];
    this.compare = definition.compare ?? (this.caseExact ? 'exact' : COMPARISON[this.type]);
    this.maxLength = definition.maxLength ?? MAX_TEXT;
    this.maxItems = definition.maxItems ?? MAX_ITEMS;
    this.path = pathOf(definition.name, schema, parent);
    this.subAttributes = (definition.subAttributes ?? []).map((sub) => new Attribute(sub, schema, this));
    for (const sub of this.subAttributes) this.subs.set(sub.name.toLowerCase(), sub);
  }

  get isReadOnly(): boolean {
    return this.mutability === 'readOnly';
  }

  /** The sub-attribute of a name in any case. */
  sub(name: string): Attribute | undefined {
    return this.subs.get(name.toLowerCase());
  }

  /** What a resource holds in this (top-level) attribute. */
  valueIn(resource: ScimObject): ScimValue | undefined {
    if (this.schema === undefined) return member(resource, this.name);
    const extension = member(resource, this.schema);
    return isScimObject(extension) ? member(extension, this.name) : undefined;
  }
}

function pathOf(name: string, schema: string | undefined, parent: Attribute | undefined): string {
  if (parent) return `${parent.path}.${name}`;
  return schema === undefined ? name : `${schema}:${name}`;
}

/** A schema with the attributes that it describes, in its order. */
export interface Schema {
  readonly urn: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
}

/** An attribute, or a part of it, that a filter, a path or a list of names refers to. */
export interface AttributePath {
  readonly attribute: Attribute;
  readonly sub?: Attribute;
}
