import { ProblemError } from '../../platform/common/errors.js';
import {
  type Attribute,
  type ResourceDescription,
  type ScimObject,
  type ScimValue,
  buildResource,
  objectsOf,
} from './attribute.js';

export interface ViewParameters {
  /** A comma-separated string, or a list of names. */
  attributes?: unknown;
  excludedAttributes?: unknown;
}

/** Maps each attribute that a parameter lists to `all`, or to the listed sub-attributes. */
type NameSet = ReadonlyMap<Attribute, 'all' | ReadonlySet<Attribute>>;

/** Maximum length of all names together. A query cannot be longer, because headers have at most 16 KiB. */
const MAX_NAMES_LENGTH = 16_384;

/** The attributes to include in a response (RFC 7644 §3.9). Ignores the case of names, and unknown names. */
export class Projection {
  private readonly requested: NameSet | undefined;
  private readonly excluded: NameSet | undefined;
  private readonly shown: readonly Attribute[];

  /** @throws ProblemError `invalid_value` if both parameters are set */
  constructor(
    private readonly description: ResourceDescription,
    { attributes, excludedAttributes }: ViewParameters = {},
  ) {
    this.requested = readNames(attributes, 'attributes', description);
    this.excluded = readNames(excludedAttributes, 'excludedAttributes', description);
    if (this.requested && this.excluded) {
      throw new ProblemError('invalid_value', 'attributes and excludedAttributes cannot be used together.');
    }
    this.shown = description.attributes.filter((attribute) => this.isIncluded(attribute));
  }

  /** Returns true if the response contains the top-level attribute, or at least one of its sub-attributes. */
  hasAttribute(name: string): boolean {
    return this.shown.some(({ path }) => path === name);
  }

  /**
   * Returns the resource with only the selected attributes. Its `schemas` list the core schema and the remaining
   * extensions.
   */
  apply(resource: ScimObject): ScimObject {
    const values = new Map<Attribute, ScimValue>();
    for (const attribute of this.shown) {
      const value = this.selectParts(attribute, attribute.getValue(resource));
      if (value !== undefined && attribute.name !== 'schemas') values.set(attribute, value);
    }
    const { schema, extensions } = this.description;
    const shown = buildResource(values);
    const urns = extensions.map(({ urn }) => urn).filter((urn) => urn in shown);
    return { schemas: [schema.urn, ...urns], ...shown };
  }

  private isIncluded(attribute: Attribute): boolean {
    if (attribute.returned === 'always') return true;
    if (attribute.returned === 'never' || this.excluded?.get(attribute) === 'all') return false;
    return this.requested ? this.requested.has(attribute) : attribute.returned === 'default';
  }

  private selectParts(attribute: Attribute, value: ScimValue | undefined): ScimValue | undefined {
    const requested = this.requested?.get(attribute) ?? 'all';
    const excluded = this.excluded?.get(attribute) ?? 'all';
    if (requested === 'all' && excluded === 'all') return value;
    const remaining = attribute.subAttributes.filter(
      (sub) => (requested === 'all' || requested.has(sub)) && (excluded === 'all' || !excluded.has(sub)),
    );
    const names = new Set(remaining.map(({ name }) => name));
    const objects = objectsOf(value)
      .map((element) => Object.fromEntries(Object.entries(element).filter(([name]) => names.has(name))))
      .filter((element) => Object.keys(element).length > 0);
    return attribute.multiValued && objects.length > 0 ? objects : objects[0];
  }
}

/**
 * Reads the attribute names in a parameter, which may be repeated. Ignores a filter in a name, so `emails[type eq
 * "work"]` becomes `emails`.
 * @returns undefined if the parameter contains no names
 */
function readNames(parameter: unknown, name: string, description: ResourceDescription): NameSet | undefined {
  if (parameter === undefined || parameter === null) return undefined;
  const texts: readonly unknown[] = Array.isArray(parameter) ? parameter : [parameter];
  if (String(texts).length > MAX_NAMES_LENGTH)
    throw new ProblemError('invalid_value', `${name} may have at most ${MAX_NAMES_LENGTH} characters.`);
  const names = texts.flatMap((text) => {
    if (typeof text !== 'string') throw new ProblemError('invalid_value', `${name} must be a list of names.`);
    const withoutFilters = text.replace(/\[[^\]]*\]?/g, '');
    return withoutFilters.split(',').flatMap((each) => each.trim() || []);
  });
  return names.length > 0 ? resolveNames(names, description) : undefined;
}

function resolveNames(names: readonly string[], description: ResourceDescription): NameSet {
  const named = new Map<Attribute, 'all' | Set<Attribute>>();
  for (const name of names) {
    for (const attribute of description.findSchema(name)?.attributes ?? []) named.set(attribute, 'all');
    const path = description.resolvePath(name);
    if (!path) continue;
    const known = named.get(path.attribute);
    if (!path.sub) named.set(path.attribute, 'all');
    else if (known !== 'all') named.set(path.attribute, (known ?? new Set()).add(path.sub));
  }
  return named;
}
