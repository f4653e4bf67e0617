import type { Attribute, AttributePath } from './attribute.js';

/** `ne` is parsed as not `eq`; `eq null` and `eq ""` as not `pr`. */
export type CompareOperator = 'eq' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';

/** True when a value of the path compares so. The value has the type of the attribute: times are ISO 8601 texts. */
export interface CompareFilter {
  readonly kind: 'compare';
  readonly path: AttributePath;
  readonly op: CompareOperator;
  readonly value: string | boolean;
}

/** True when one element of the list satisfies the filter, whose paths are `{attribute, sub}` of that element. */
interface ElementFilter {
  readonly kind: 'element';
  readonly attribute: Attribute;
  readonly filter: Filter;
}

/** A filter whose names are resolved. `none` is an attribute of other types of resource: it has no value here. */
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | { readonly kind: 'present'; readonly path: AttributePath }
  | { readonly kind: 'none' }
  | CompareFilter
  | ElementFilter;
