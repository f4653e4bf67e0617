import {
  Attribute,
  type AttributeDefinition,
  type AttributePath,
  type Schema,
  type SchemaDefinition,
} from './attribute.js';

/** `id`, `externalId`, `meta` and `schemas`, which every resource has and no schema lists (RFC 7643 §3.1). */
type CommonAttributes = readonly AttributeDefinition[];

/** A type of resource with all that its requests may name; the one source of mapping, filters, PATCH and `/Schemas`. */
export class ResourceDescription {
  readonly schema: Schema;
  readonly extensions: readonly Schema[];
  /** All top-level attributes: common, core, extensions. */
  readonly attributes: readonly Attribute[];
  private readonly byName = new Map<string, Attribute>();
  private readonly byUrn = new Map<string, Schema>();

  /** @param endpoint below the base, such as `/Users`. */
  constructor(
    readonly name: 'User' | 'Group',
    readonly endpoint: string,
    common: CommonAttributes,
    core: SchemaDefinition,
    extensions: readonly SchemaDefinition[],
  ) {
    const shared = common.map((definition) => new Attribute(definition, undefined));
    this.schema = described(core, undefined);
    this.extensions = extensions.map((extension) => described(extension, extension.urn));
    for (const attribute of [...shared, ...this.schema.attributes]) {
      this.byName.set(attribute.name.toLowerCase(), attribute);
      this.byName.set(`${core.urn}:${attribute.name}`.toLowerCase(), attribute);
    }
    this.byUrn.set(core.urn.toLowerCase(), this.schema);
    for (const extension of this.extensions) {
      this.byUrn.set(extension.urn.toLowerCase(), extension);
      for (const attribute of extension.attributes) this.byName.set(attribute.path.toLowerCase(), attribute);
    }
    this.attributes = [
      ...shared,
      ...this.schema.attributes,
      ...this.extensions.flatMap((one) => one.attributes),
    ];
  }

  /** The top-level attribute of a name in any case, with or without its URN; an extension's needs the URN. */
  attribute(name: string): Attribute | undefined {
    return this.byName.get(name.toLowerCase());
  }

  /** The schema (core or extension) of a URN in any case. */
  schemaOf(urn: string): Schema | undefined {
    return this.byUrn.get(urn.toLowerCase());
  }

  /** `[urn:]attr[.sub]` in any case; undefined for what is unknown. */
  find(path: string): AttributePath | undefined {
    const whole = this.attribute(path);
    if (whole) return { attribute: whole };
    const dot = path.lastIndexOf('.');
    const attribute = dot > 0 ? this.attribute(path.slice(0, dot)) : undefined;
    const sub = attribute?.sub(path.slice(dot + 1));
    return attribute && sub && { attribute, sub };
  }
}

function described(definition: SchemaDefinition, extension: string | undefined): Schema {
  return {
    urn: definition.urn,
    name: definition.name,
    description: definition.description,
    attributes: definition.attributes.map((attribute) => new Attribute(attribute, extension)),
  };
}
