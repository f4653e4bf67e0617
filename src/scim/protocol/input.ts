import { type FieldError, ProblemError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import type { Attribute } from './attribute.js';
import { coerce, isEmpty } from './coerce.js';
import type { CountDeviation } from './deviation.js';
import type { ScimObject, ScimValue } from './json.js';
import type { ResourceDescription } from './resource-description.js';

export interface ReadResource {
  /** Known, writable attributes in the spelling and the types of the schema; nothing empty. */
  resource: ScimObject;
  /** Paths of the attributes that the body names with an empty value (null, `""`, `[]`): to be unassigned. */
  unassigned: ReadonlySet<string>;
  /** URNs of the extensions named in `schemas` or in the body. */
  extensions: ReadonlySet<string>;
  /** `id`, which is read-only and ignored here: in a PUT it must be that of the path. */
  id?: string;
  /** In SCIM's names with the index of an element: `emails[1].value`. What is required is for the caller to say. */
  errors: FieldError[];
}

/** A POST or PUT body by the schemas. @throws ProblemError `invalid_syntax` when it is no object */
export function readResource(
  body: unknown,
  description: ResourceDescription,
  deviation: CountDeviation = () => undefined,
): ReadResource {
  if (!isObject(body))
    throw new ProblemError('invalid_syntax', 'The body must be a resource: a JSON object.');
  const reading = new Reading(description, deviation);
  for (const [name, value] of Object.entries(body)) reading.member(name, value);
  return reading.result();
}

class Reading {
  private readonly core: Record<string, ScimValue> = {};
  private readonly inExtensions = new Map<string, Record<string, ScimValue>>();
  private readonly unassigned = new Set<string>();
  private readonly extensions = new Set<string>();
  private readonly errors: FieldError[] = [];
  private hasSchemas = false;
  private id: string | undefined;

  constructor(
    private readonly description: ResourceDescription,
    private readonly deviation: CountDeviation,
  ) {}

  member(name: string, value: unknown): void {
    const schema = this.description.schemaOf(name);
    if (schema) {
      if (schema !== this.description.schema) this.extensions.add(schema.urn);
      if (isObject(value)) this.schemaMembers(schema.attributes, value);
      else if (!isEmpty(value)) {
        this.errors.push({ field: schema.urn, code: 'invalid_type', message: 'must be an object' });
      }
      return;
    }
    const attribute = this.description.attribute(name);
    if (attribute) this.attribute(attribute, value);
    else this.deviation('unknown_attribute');
  }

  private schemaMembers(attributes: readonly Attribute[], members: Readonly<Record<string, unknown>>): void {
    const byName = new Map(attributes.map((attribute) => [attribute.name.toLowerCase(), attribute]));
    for (const [name, value] of Object.entries(members)) {
      const attribute = byName.get(name.toLowerCase());
      if (attribute) this.attribute(attribute, value);
      else this.deviation('unknown_attribute');
    }
  }

  private attribute(attribute: Attribute, raw: unknown): void {
    if (attribute.name === 'schemas' && attribute.schema === undefined) this.schemas(raw);
    if (attribute.name === 'id' && typeof raw === 'string') this.id = raw;
    if (attribute.isReadOnly) return;
    if (attribute.schema !== undefined) this.extensions.add(attribute.schema);
    const faults = this.errors.length;
    const value = coerce(attribute, raw, { errors: this.errors, deviation: this.deviation });
    if (value !== undefined) {
      this.unassigned.delete(attribute.path);
      this.holder(attribute)[attribute.name] = value;
    } else if (this.errors.length === faults) {
      // What was named by another spelling before is unassigned too.
      Reflect.deleteProperty(this.holder(attribute), attribute.name);
      this.unassigned.add(attribute.path);
    }
  }

  private schemas(raw: unknown): void {
    if (!Array.isArray(raw)) return;
    this.hasSchemas = true;
    for (const urn of raw) {
      const schema = typeof urn === 'string' ? this.description.schemaOf(urn) : undefined;
      if (schema && schema !== this.description.schema) this.extensions.add(schema.urn);
    }
  }

  private holder(attribute: Attribute): Record<string, ScimValue> {
    if (attribute.schema === undefined) return this.core;
    const holder = this.inExtensions.get(attribute.schema) ?? {};
    this.inExtensions.set(attribute.schema, holder);
    return holder;
  }

  result(): ReadResource {
    if (!this.hasSchemas) this.deviation('missing_schemas');
    const extensions = [...this.inExtensions].filter(([, held]) => Object.keys(held).length > 0);
    const resource: ScimObject = { ...this.core, ...Object.fromEntries(extensions) };
    return {
      resource,
      unassigned: this.unassigned,
      extensions: this.extensions,
      ...(this.id !== undefined && { id: this.id }),
      errors: this.errors,
    };
  }
}
