import type { Attribute } from './attribute.js';
import { comparable } from './comparable.js';
import type { Filter } from './filter.js';
import { type ScimObject, type ScimValue, elementsOf, isScimObject, member } from './json.js';

/** The elements of a list of objects. */
export function objectsIn(value: ScimValue | undefined): readonly ScimObject[] {
  return elementsOf(value).filter(isScimObject);
}

/** What is sent and is not in the list: nothing there is equal in all parts that were sent. Twice is once. */
export function newElements(
  attribute: Attribute,
  sent: readonly ScimObject[],
  list: readonly ScimObject[],
): ScimObject[] {
  const shapes = new Shapes(attribute);
  return sent.filter((element) => {
    const known = shapes.of(element, () => list);
    const signature = shapes.signature(element, Object.keys(element));
    if (known.has(signature)) return false;
    known.add(signature);
    return true;
  });
}

/** The list without the elements that are equal to one that was sent, in all parts that were sent. */
export function elementsLeft(
  attribute: Attribute,
  list: readonly ScimObject[],
  sent: readonly ScimObject[],
): readonly ScimObject[] {
  const shapes = new Shapes(attribute);
  for (const element of sent) {
    shapes.of(element, () => []).add(shapes.signature(element, Object.keys(element)));
  }
  return list.filter((element) => !shapes.hold(element));
}

/** Sets of elements by the parts that they have, so that a comparison costs a look-up and not a pass over the list. */
class Shapes {
  private readonly byParts = new Map<string, { names: readonly string[]; signatures: Set<string> }>();

  constructor(private readonly attribute: Attribute) {}

  /** The set for elements with the parts of this one; a new set holds the `first` elements. */
  of(element: ScimObject, first: () => readonly ScimObject[]): Set<string> {
    const names = Object.keys(element).sort();
    const key = names.join(' ');
    const known = this.byParts.get(key);
    if (known) return known.signatures;
    const signatures = new Set(first().map((one) => this.signature(one, names)));
    this.byParts.set(key, { names, signatures });
    return signatures;
  }

  hold(element: ScimObject): boolean {
    return [...this.byParts.values()].some(({ names, signatures }) =>
      signatures.has(this.signature(element, names)),
    );
  }

  signature(element: ScimObject, names: readonly string[]): string {
    const parts = [...names].sort().map((name) => {
      const sub = this.attribute.sub(name);
      return sub ? comparable(sub, member(element, name)) : undefined;
    });
    return JSON.stringify(parts);
  }
}

/** The parts that `eq`s joined by `and` give an element; undefined for any other filter. */
export function partsMadeBy(filter: Filter): ScimObject | undefined {
  if (filter.kind === 'compare' && filter.op === 'eq' && filter.path.sub) {
    return { [filter.path.sub.name]: filter.value };
  }
  if (filter.kind !== 'and') return undefined;
  const parts = filter.filters.map(partsMadeBy);
  if (!parts.every((part) => part !== undefined)) return undefined;
  return parts.reduce((made, part) => ({ ...made, ...part }), {});
}

/** The values that a filter of elements names by `value eq "…"` joined by `or`; undefined for any other filter. */
export function namedValues(filter: Filter): string[] | undefined {
  if (filter.kind === 'compare') {
    const isValue = filter.op === 'eq' && filter.path.sub?.name === 'value';
    return isValue && typeof filter.value === 'string' ? [filter.value] : undefined;
  }
  if (filter.kind !== 'or') return undefined;
  const parts = filter.filters.map(namedValues);
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
}
