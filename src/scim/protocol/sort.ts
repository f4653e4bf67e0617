import type { AttributePath } from './attribute.js';
import { compareCodePoints } from '../../platform/common/text.js';
import { comparable } from './comparable.js';
import { type ScimObject, type ScimValue, elementsOf, isScimObject, member } from './json.js';

/**
 * The order of `sortBy` for resources that were read (RFC 7644 §3.4.2.3): of a list counts the primary element, else the
 * first; unassigned comes last, descending first.
 */
export function compareBy(
  path: AttributePath,
  descending: boolean,
): (a: ScimObject, b: ScimObject) => number {
  const direction = descending ? -1 : 1;
  return (a, b) => {
    const left = sortValue(path, a);
    const right = sortValue(path, b);
    if (left === undefined || right === undefined) {
      return direction * (Number(left === undefined) - Number(right === undefined));
    }
    return direction * compareCodePoints(left, right);
  };
}

/** What a resource is sorted by; undefined where it has no such value. */
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
