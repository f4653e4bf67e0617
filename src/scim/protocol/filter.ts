import { isEmptyValue } from '../../platform/common/json.js';
import { compareCodePoints } from '../../platform/common/text.js';
import {
  type Attribute,
  type AttributePath,
  type ScimObject,
  type ScimValue,
  toComparable,
  elementsOf,
  isScimObject,
  getMember,
  objectsOf,
} from './attribute.js';

/** The operators of a comparison. The parser converts `ne` to `eq` inside `not`. */
export type CompareOperator = 'eq' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';

/**
 * A comparison that matches if one of the values at the path satisfies it. `value` has the type of the attribute. Times
 * are ISO 8601 strings.
 */
export interface CompareFilter {
  readonly kind: 'compare';
  readonly path: AttributePath;
  readonly op: CompareOperator;
  readonly value: string | boolean;
}

/**
 * A parsed filter with resolved attribute names. `none` never matches: it is a condition on an attribute that only
 * other resource types have. `element` matches if a list element satisfies the inner filter, whose paths are relative to
 * the element.
 */
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | { readonly kind: 'present'; readonly path: AttributePath }
  | { readonly kind: 'none' }
  | { readonly kind: 'element'; readonly attribute: Attribute; readonly filter: Filter }
  | CompareFilter;

/**
 * Compiles a filter to a function that returns true for resources that match. The resource must contain all attributes
 * in the filter.
 */
export function buildMatcher(filter: Filter): (resource: ScimObject) => boolean {
  return compileFilter(filter, ({ attribute, sub }) => (resource) => {
    const elements = elementsOf(attribute.getValue(resource));
    return sub ? elements.flatMap((element) => listSubValues(element, sub)) : elements;
  });
}

export function buildElementMatcher(filter: Filter): (element: ScimObject) => boolean {
  return compileFilter(filter, ({ sub }) => (sub ? (element) => listSubValues(element, sub) : () => []));
}

type ReadValues = (path: AttributePath) => (holder: ScimObject) => readonly ScimValue[];

function compileFilter(filter: Filter, readValues: ReadValues): (holder: ScimObject) => boolean {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const parts = filter.filters.map((part) => compileFilter(part, readValues));
      return filter.kind === 'and'
        ? (holder) => parts.every((part) => part(holder))
        : (holder) => parts.some((part) => part(holder));
    }
    case 'not': {
      const inner = compileFilter(filter.filter, readValues);
      return (holder) => !inner(holder);
    }
    case 'none':
      return () => false;
    case 'element': {
      const inner = buildElementMatcher(filter.filter);
      return (holder) => objectsOf(filter.attribute.getValue(holder)).some(inner);
    }
    case 'compare':
    case 'present': {
      const values = readValues(filter.path);
      const holds =
        filter.kind === 'compare' ? buildComparer(filter) : (value: ScimValue) => !isEmptyValue(value);
      return (holder) => values(holder).some(holds);
    }
  }
}

function listSubValues(element: ScimValue, sub: Attribute): ScimValue[] {
  const value = isScimObject(element) ? getMember(element, sub.name) : undefined;
  return value === undefined ? [] : [value];
}

type Comparable = string | number | boolean;

const OPERATORS: Readonly<Record<CompareOperator, (key: Comparable, expected: Comparable) => boolean>> = {
  eq: (key, expected) => key === expected,
  co: (key, expected) => String(key).includes(String(expected)),
  sw: (key, expected) => String(key).startsWith(String(expected)),
  ew: (key, expected) => String(key).endsWith(String(expected)),
  gt: (key, expected) => compareOrder(key, expected) > 0,
  ge: (key, expected) => compareOrder(key, expected) >= 0,
  lt: (key, expected) => compareOrder(key, expected) < 0,
  le: (key, expected) => compareOrder(key, expected) <= 0,
};

const compareOrder = (a: Comparable, b: Comparable): number =>
  typeof a === 'boolean' || typeof b === 'boolean' ? NaN : compareCodePoints(a, b);

function buildComparer({ path, op, value }: CompareFilter): (value: ScimValue) => boolean {
  const attribute = path.sub ?? path.attribute;
  const expected = toComparable(attribute, value);
  return (held) => {
    const key = toComparable(attribute, held);
    return key !== undefined && expected !== undefined && OPERATORS[op](key, expected);
  };
}

export function usesAttribute(filter: Filter, name: string): boolean {
  if ('filters' in filter) return filter.filters.some((part) => usesAttribute(part, name));
  if ('path' in filter) return filter.path.attribute.name === name;
  if ('attribute' in filter && filter.attribute.name === name) return true;
  return 'filter' in filter && usesAttribute(filter.filter, name);
}

export function countComparisons(filter: Filter): number {
  if ('filters' in filter) return filter.filters.reduce((sum, part) => sum + countComparisons(part), 0);
  return 'filter' in filter ? countComparisons(filter.filter) : 1;
}

/**
 * Returns an object that satisfies a filter of `eq` comparisons joined by `and`. Returns undefined for any other
 * filter.
 */
export function toRequiredValues(filter: Filter): ScimObject | undefined {
  if (filter.kind === 'compare' && filter.op === 'eq' && filter.path.sub) {
    return { [filter.path.sub.name]: filter.value };
  }
  if (filter.kind !== 'and') return undefined;
  const parts = filter.filters.map(toRequiredValues);
  if (!parts.every((part) => part !== undefined)) return undefined;
  return parts.reduce((made, part) => ({ ...made, ...part }), {});
}

/**
 * Returns the values in a filter of `value eq "…"` comparisons joined by `or`. Returns undefined for any other filter.
 */
export function getComparedValues(filter: Filter): string[] | undefined {
  if (filter.kind === 'compare') {
    const isValue = filter.op === 'eq' && filter.path.sub?.name === 'value';
    return isValue && typeof filter.value === 'string' ? [filter.value] : undefined;
  }
  if (filter.kind !== 'or') return undefined;
  const parts = filter.filters.map(getComparedValues);
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
}
