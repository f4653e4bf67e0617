import { ProblemError } from '../../platform/common/errors.js';
import type { Attribute, Schema } from './attribute.js';
import { elementsOf, isScimObject, member } from './json.js';
import type { ScimObject, ScimValue } from './json.js';
import type { ResourceDescription } from './resource-description.js';

interface Parameters {
  /** A text with commas, or a list of names. */
  attributes?: unknown;
  excludedAttributes?: unknown;
}

/** What is named of an attribute: all of it, or some parts. */
type Named = Map<Attribute, 'all' | Set<Attribute>>;

/** Which attributes an answer holds (RFC 7644 §3.9). Names in any case; unknown ones are ignored. */
export class Projection {
  private readonly wanted: Named | undefined;
  private readonly excluded: Named;
  private readonly shown: readonly Attribute[];

  /** @throws ProblemError `invalid_value` when both parameters are set */
  constructor(
    private readonly description: ResourceDescription,
    { attributes, excludedAttributes }: Parameters = {},
  ) {
    const wanted = namesIn(attributes, 'attributes');
    const excluded = namesIn(excludedAttributes, 'excludedAttributes');
    if (wanted.length > 0 && excluded.length > 0) {
      throw new ProblemError('invalid_value', 'attributes and excludedAttributes cannot be used together.');
    }
    this.wanted = wanted.length > 0 ? named(wanted, description) : undefined;
    this.excluded = named(excluded, description);
    const isDefault = !this.wanted && excluded.length === 0;
    this.shown = isDefault
      ? shownByDefault(description)
      : description.attributes.filter((attribute) => this.wants(attribute));
  }

  /** Whether `attributes` chooses: such an answer is sent where an empty one would be. */
  get isChosen(): boolean {
    return this.wanted !== undefined;
  }

  /** Whether any part of a top-level attribute is sent: what is not wanted need not be read. */
  wants(attribute: Attribute): boolean {
    if (attribute.returned === 'always') return true;
    if (attribute.returned === 'never' || this.excluded.get(attribute) === 'all') return false;
    return this.wanted ? this.wanted.has(attribute) : attribute.returned === 'default';
  }

  /** The resource with the wanted attributes; `schemas` names the core schema and the extensions that are left. */
  apply(resource: ScimObject): ScimObject {
    const schemas = [this.description.schema.urn];
    const shown: Record<string, ScimValue> = { schemas };
    let extension: Record<string, ScimValue> = {};
    for (const attribute of this.shown) {
      const value = this.parts(attribute, attribute.valueIn(resource));
      if (value === undefined || attribute.name === 'schemas') continue;
      const { schema } = attribute;
      if (schema === undefined) shown[attribute.name] = value;
      else {
        // The attributes of an extension follow one another.
        if (!(schema in shown)) {
          schemas.push(schema);
          shown[schema] = extension = {};
        }
        extension[attribute.name] = value;
      }
    }
    return shown;
  }

  /** The wanted parts of a value; undefined when nothing is left. */
  private parts(attribute: Attribute, value: ScimValue | undefined): ScimValue | undefined {
    const only = this.wanted?.get(attribute);
    const not = this.excluded.get(attribute);
    if (value === undefined || !((only && only !== 'all') || (not && not !== 'all'))) return value;
    const left = attribute.subAttributes.filter(
      (sub) => (!only || only === 'all' || only.has(sub)) && (!not || not === 'all' || !not.has(sub)),
    );
    if (attribute.multiValued) {
      const elements = elementsOf(value)
        .map((element) => picked(element, left))
        .filter(isHeld);
      return elements.length > 0 ? elements : undefined;
    }
    const object = picked(value, left);
    return isHeld(object) ? object : undefined;
  }
}

const defaults = new WeakMap<ResourceDescription, readonly Attribute[]>();

/** What nearly every answer holds. */
function shownByDefault(description: ResourceDescription): readonly Attribute[] {
  const known = defaults.get(description);
  if (known) return known;
  const shown = description.attributes.filter(
    ({ returned }) => returned === 'always' || returned === 'default',
  );
  defaults.set(description, shown);
  return shown;
}

function picked(value: ScimValue, subs: readonly Attribute[]): ScimObject {
  const object: Record<string, ScimValue> = {};
  if (!isScimObject(value)) return object;
  for (const { name } of subs) {
    const part = member(value, name);
    if (part !== undefined) object[name] = part;
  }
  return object;
}

const isHeld = (object: ScimObject): boolean => Object.keys(object).length > 0;

function named(names: readonly string[], description: ResourceDescription): Named {
  const map: Named = new Map();
  for (const name of names) {
    const schema: Schema | undefined = description.schemaOf(name);
    for (const attribute of schema?.attributes ?? []) map.set(attribute, 'all');
    const path = description.find(name);
    if (!path) continue;
    const known = map.get(path.attribute);
    if (!path.sub) map.set(path.attribute, 'all');
    else if (known !== 'all') map.set(path.attribute, (known ?? new Set()).add(path.sub));
  }
  return map;
}

/** Names of a parameter, which may be repeated; what is in brackets does not count: `emails[type eq "work"]` is `emails`. */
function namesIn(parameter: unknown, what: string): string[] {
  const texts: readonly unknown[] = Array.isArray(parameter) ? parameter : [parameter ?? ''];
  return texts.flatMap((text) => {
    if (typeof text !== 'string') throw new ProblemError('invalid_value', `${what} must be a list of names.`);
    return split(text);
  });
}

function split(text: string): string[] {
  let depth = 0;
  let outside = '';
  for (const char of text) {
    if (char === '[') depth++;
    else if (char === ']') depth = Math.max(0, depth - 1);
    else if (depth === 0) outside += char;
  }
  return outside
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
