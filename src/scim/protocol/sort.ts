import type { AttributePath } from './attribute.js';
import { comparable } from './comparable.js';
import { type ScimObject, type ScimValue, elementsOf, isScimObject, member } from './json.js';

/**
 * What a resource is sorted by (RFC 7644 §3.4.2.3): of a list its primary element, else the first. Undefined where it has no
 * such value.
 */
export function sortValue(
  { attribute, sub }: AttributePath,
  resource: ScimObject,
): string | number | undefined {
  const elements = elementsOf(attribute.valueIn(resource));
  const isPrimary = (element: ScimValue) => isScimObject(element) && member(element, 'primary') === true;
  const chosen = elements.find(isPrimary) ?? elements[0];
  const value = sub ? (isScimObject(chosen) ? member(chosen, sub.name) : undefined) : chosen;
  const key = comparable(sub ?? attribute, value);
  return typeof key === 'boolean' ? Number(key) : key;
}
