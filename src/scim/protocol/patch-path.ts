import { ProblemError } from '../../platform/common/errors.js';
import type { Attribute, Schema } from './attribute.js';
import { UnknownAttribute, quoted } from './errors.js';
import type { Filter } from './filter.js';
import { type Token, tokensOf } from './filter-lexer.js';
import { FilterParser, MAX_FILTER } from './filter-parser.js';
import type { ResourceDescription } from './resource-description.js';

/** An attribute, a part of it, or chosen elements of it. */
export interface AttributeTarget {
  readonly kind: 'attribute';
  readonly attribute: Attribute;
  /** The elements that are meant; its paths are as in `ElementFilter`. */
  readonly filter?: Filter;
  readonly sub?: Attribute;
}

/** A PATCH path: an attribute, or all attributes of a schema by its URN. */
export type PatchPath = { readonly kind: 'schema'; readonly schema: Schema } | AttributeTarget;

/**
 * `[urn:]attr[.sub]`, `attr[filter][.sub]`, or the URN of a schema (RFC 7644 §3.5.2), names in any case.
 * @throws ProblemError `invalid_path`; `invalid_filter` for what is wrong inside `[…]`; `UnknownAttribute`
 */
export function parsePath(text: string, resource: ResourceDescription): PatchPath {
  const path = text.trim();
  if (path.length > MAX_FILTER) {
    throw new ProblemError('invalid_path', `A path may have at most ${MAX_FILTER} characters.`);
  }
  const schema = resource.schemaOf(path);
  if (schema) return { kind: 'schema', schema };
  const found = resource.find(path);
  if (found) return { kind: 'attribute', ...found };
  if (!path.includes('[')) throw broken(path);
  return chosen(path, resource);
}

function chosen(path: string, resource: ResourceDescription): AttributeTarget {
  const parser = new FilterParser(tokensOf(path), resource);
  const name = parser.next();
  const attribute = name.kind === 'word' ? resource.attribute(name.text) : undefined;
  if (!attribute) throw broken(name.text);
  const filter = parser.inBrackets(attribute);
  const sub = parser.partBehindBrackets(attribute);
  if (parser.next().kind !== 'end') throw malformed(path);
  return { kind: 'attribute', attribute, filter, ...(sub && { sub }) };
}

const NAME: RegExp = /^[^\s()[\]"]+$/;

function broken(name: Token['text']): ProblemError {
  return NAME.test(name) ? new UnknownAttribute('invalid_path', name) : malformed(name);
}

function malformed(path: string): ProblemError {
  return new ProblemError(
    'invalid_path',
    `The path ${quoted(path)} is neither attribute, attribute.part nor attribute[filter].part.`,
  );
}
