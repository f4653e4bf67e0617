import type { Attribute, AttributePath } from './attribute.js';
import { compareCodePoints } from '../../platform/common/text.js';
import { comparable } from './comparable.js';
import type { CompareFilter, CompareOperator, Filter } from './filter.js';
import { type ScimObject, type ScimValue, elementsOf, isScimObject, member } from './json.js';

/** Whether a resource, as it would be sent with all of its attributes, satisfies a filter. */
export function matches(filter: Filter, resource: ScimObject): boolean {
  return matcher(filter)(resource);
}

/** The same for many resources: what is compared with is made comparable once. */
export function matcher(filter: Filter): (resource: ScimObject) => boolean {
  return compiled(filter, valuesIn);
}

/** Whether an element of a list satisfies the filter in the brackets behind its attribute. */
export function elementMatcher(filter: Filter): (element: ScimObject) => boolean {
  return compiled(filter, partsOf);
}

/** Comparisons that a filter makes with each element that it looks at. */
export function comparisonsIn(filter: Filter): number {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.filters.reduce((sum, part) => sum + comparisonsIn(part), 0);
    case 'not':
    case 'element':
      return comparisonsIn(filter.filter);
    default:
      return 1;
  }
}

/** The values of a path in a resource, or in an element. */
type Values = (holder: ScimObject, path: AttributePath) => readonly ScimValue[];

function compiled(filter: Filter, values: Values): (holder: ScimObject) => boolean {
  switch (filter.kind) {
    case 'and': {
      const parts = filter.filters.map((part) => compiled(part, values));
      return (holder) => parts.every((part) => part(holder));
    }
    case 'or': {
      const parts = filter.filters.map((part) => compiled(part, values));
      return (holder) => parts.some((part) => part(holder));
    }
    case 'not': {
      const inner = compiled(filter.filter, values);
      return (holder) => !inner(holder);
    }
    case 'none':
      return () => false;
    case 'present':
      return (holder) => values(holder, filter.path).some(isPresent);
    case 'element': {
      const inner = elementMatcher(filter.filter);
      return (holder) =>
        elementsOf(filter.attribute.valueIn(holder)).some(
          (element) => isScimObject(element) && inner(element),
        );
    }
    case 'compare': {
      const compare = comparer(filter);
      return (holder) => values(holder, filter.path).some(compare);
    }
  }
}

const valuesIn: Values = (resource, { attribute, sub }) => {
  const elements = elementsOf(attribute.valueIn(resource));
  return sub ? elements.flatMap((element) => partOf(element, sub)) : elements;
};

const partsOf: Values = (element, { sub }) => (sub ? partOf(element, sub) : []);

function partOf(element: ScimValue, sub: Attribute): ScimValue[] {
  const value = isScimObject(element) ? member(element, sub.name) : undefined;
  return value === undefined ? [] : [value];
}

function isPresent(value: ScimValue): boolean {
  if (typeof value === 'object') return Object.keys(value).length > 0;
  return value !== '';
}

const IN_ORDER: Readonly<Record<'gt' | 'ge' | 'lt' | 'le', (difference: number) => boolean>> = {
  gt: (difference) => difference > 0,
  ge: (difference) => difference >= 0,
  lt: (difference) => difference < 0,
  le: (difference) => difference <= 0,
};

function comparer({ path, op, value }: CompareFilter): (value: ScimValue) => boolean {
  const attribute = path.sub ?? path.attribute;
  const wanted = comparable(attribute, value);
  return (held) => {
    const key = comparable(attribute, held);
    return key !== undefined && wanted !== undefined && compares(key, op, wanted);
  };
}

function compares(
  key: string | number | boolean,
  op: CompareOperator,
  wanted: string | number | boolean,
): boolean {
  if (op === 'eq') return key === wanted;
  if (typeof key === 'boolean' || typeof wanted === 'boolean') return false;
  if (op === 'co') return String(key).includes(String(wanted));
  if (op === 'sw') return String(key).startsWith(String(wanted));
  if (op === 'ew') return String(key).endsWith(String(wanted));
  return IN_ORDER[op](compareCodePoints(key, wanted));
}
