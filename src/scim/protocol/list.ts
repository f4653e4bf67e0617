import type { AttributePath } from './attribute.js';
import type { Filter } from './filter.js';
import type { ScimObject } from './json.js';
import type { Projection } from './projection.js';
import type { ResourceDescription } from './resource-description.js';
import { LIST_MESSAGE } from './urns.js';

export const DEFAULT_COUNT = 100;
export const MAX_COUNT = 200;

/** What a list request asks for, from its query or from the body of `/.search`. */
export interface ListQuery {
  filter?: Filter;
  /** `excluding` what the type of resource lacks: an attribute that only `others` have sorts nothing. */
  sortBy?: AttributePath;
  descending: boolean;
  count: number;
  /** From 1; undefined with `cursor`. */
  startIndex: number;
  /** `""` begins; undefined means pages by index. */
  cursor?: string;
  /** What two pages of one cursor walk must have in common: filter and order as sent. */
  fingerprint: string;
  projection: Projection;
}

/** @throws ProblemError invalid_value, invalid_filter, invalid_path, invalid_count */
export function readListQuery(
  _parameters: Readonly<Record<string, unknown>>,
  _resource: ResourceDescription,
  _others: readonly ResourceDescription[] = [],
): ListQuery {
  throw new Error('not written yet');
}

export interface ListPage {
  resources: readonly ScimObject[];
  totalResults: number;
  startIndex?: number;
  nextCursor?: string;
}

/** The ListResponse (RFC 7644 §3.4.2, RFC 9865 §2). */
export function listResponse(page: ListPage): ScimObject {
  return {
    schemas: [LIST_MESSAGE],
    totalResults: page.totalResults,
    itemsPerPage: page.resources.length,
    ...(page.startIndex !== undefined && { startIndex: page.startIndex }),
    ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
    Resources: page.resources,
  };
}
