import type { Attribute, Schema } from './attribute.js';
import type { Filter } from './filter.js';
import type { ResourceDescription } from './resource-description.js';

/** A PATCH path: an attribute, a part of it, chosen elements of it, or a whole extension. */
export type PatchPath =
  | { readonly kind: 'extension'; readonly schema: Schema }
  | {
      readonly kind: 'attribute';
      readonly attribute: Attribute;
      /** The elements that are meant; its paths are as in `ElementFilter`. */
      readonly filter?: Filter;
      readonly sub?: Attribute;
    };

/**
 * A filter (RFC 7644 §3.4.2.2). `attr[f].sub op v` becomes one element filter `f and sub op v`.
 * @param others types of resource searched at the same time: an attribute that only they have is `none` here
 * @throws ProblemError `invalid_filter` with the position, counted from 1
 */
export function parseFilter(
  _text: string,
  _resource: ResourceDescription,
  _others: readonly ResourceDescription[] = [],
): Filter {
  throw new Error('not written yet');
}

/** @throws ProblemError `invalid_path`; `invalid_filter` for what is wrong inside `[…]`. */
export function parsePath(_text: string, _resource: ResourceDescription): PatchPath {
  throw new Error('not written yet');
}
