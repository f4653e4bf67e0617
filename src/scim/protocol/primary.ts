import type { Attribute } from './attribute.js';
import type { ScimObject } from './json.js';

/** At most one element stays primary: the last of those that `before` did not hold, else the last. */
export function onePrimary(
  attribute: Attribute,
  elements: readonly ScimObject[],
  before: readonly ScimObject[] = [],
): readonly ScimObject[] {
  if (!attribute.sub('primary')) return elements;
  const primaries = elements.filter((element) => element['primary'] === true);
  if (primaries.length < 2) return elements;
  const old = new Set(before);
  const last = primaries.findLast((element) => !old.has(element)) ?? primaries.at(-1);
  return elements.map((element) =>
    element['primary'] === true && element !== last ? without(element, 'primary') : element,
  );
}

/** The object without a member. */
export function without(object: ScimObject, name: string): ScimObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}
