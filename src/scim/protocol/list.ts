import { hash } from 'node:crypto';
import { type ErrorCode, ProblemError } from '../../platform/common/errors.js';
import { decodeArray, encodeArray } from '../../platform/common/json.js';
import { isCleanText } from '../../platform/common/text.js';
import { isUuid } from '../../platform/common/uuid.js';
import type { Position } from '../../platform/database/keyset-pages.js';
import {
  type AttributePath,
  type ResourceDescription,
  type ScimObject,
  type ScimValue,
  toComparable,
  elementsOf,
  isScimObject,
  getMember,
  toValuePath,
} from './attribute.js';
import { UnknownAttributeError } from './errors.js';
import { parseFilter } from './filter-parser.js';
import type { Filter } from './filter.js';
import { lowerCaseNames } from './input.js';
import { Projection, type ViewParameters } from './projection.js';
import { LIST_MESSAGE } from './urns.js';

export const DEFAULT_COUNT = 100;
export const MAX_COUNT = 200;
/** Maximum number of characters of a parameter. A cursor with the longest sort key is shorter. */
const MAX_PARAMETER = 65_536;
const FINGERPRINT_LENGTH = 16;

/** The unparsed parameters of a list request, from the query or the body of `/.search`, named as in RFC 7644. */
export type ListParameters = ViewParameters & Readonly<Record<string, unknown>>;

export interface ListQuery {
  filter?: Filter;
  /**
   * The value to sort by. Undefined if the client does not sort, or if only other resource types in the search have the
   * attribute.
   */
  sortBy?: AttributePath;
  descending: boolean;
  /** Maximum number of resources on the page, from 0 to 200. */
  count: number;
  /** Number of the first resource on the page, from 1. */
  startIndex: number;
  /** The cursor from the previous page, or `""` for the first page. Undefined if the client uses `startIndex`. */
  cursor?: string;
  /**
   * Hash of the resource type, the filter and the order. A cursor is valid only for lists with the same fingerprint.
   */
  fingerprint: string;
  projection: Projection;
}

/**
 * Parses the parameters of a list request. Ignores unknown parameters, and the case of parameter names.
 * @param parameters the query, or the body of `/.search`.
 * @param others other resource types in the same search
 * @throws ProblemError `invalid_value`, `invalid_filter`, `invalid_count`
 */
export function readListQuery(
  parameters: ListParameters,
  resource: ResourceDescription,
  others: readonly ResourceDescription[] = [],
): ListQuery {
  const given = lowerCaseNames(parameters);
  const readParam = (name: string): string | undefined => readString(name, given.get(name.toLowerCase()));
  const cursor = readParam('cursor');
  const startIndex = readInteger('startIndex', given.get('startindex'), 'invalid_value');
  if (cursor !== undefined && startIndex !== undefined) {
    throw new ProblemError('invalid_value', 'cursor and startIndex cannot be used together.');
  }
  const code = cursor === undefined ? 'invalid_value' : 'invalid_count';
  const count = readInteger('count', given.get('count'), code);
  const filter = readParam('filter');
  const sortBy = readSortPath(readParam('sortBy'), resource, others);
  const descending = isDescending(readParam('sortOrder'));
  const order = sortBy ? `${(sortBy.sub ?? sortBy.attribute).path} ${String(descending)}` : '';
  const identity = JSON.stringify([resource.name, filter ?? '', order]);
  return {
    ...(filter !== undefined && { filter: parseFilter(filter, resource, others) }),
    ...(sortBy && { sortBy }),
    descending,
    count: Math.min(Math.max(count ?? DEFAULT_COUNT, 0), MAX_COUNT),
    startIndex: Math.max(startIndex ?? 1, 1),
    ...(cursor !== undefined && { cursor }),
    fingerprint: hash('sha256', identity, 'base64url').slice(0, FINGERPRINT_LENGTH),
    projection: new Projection(resource, {
      attributes: given.get('attributes'),
      excludedAttributes: given.get('excludedattributes'),
    }),
  };
}

function readString(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value.length <= MAX_PARAMETER) return value;
  const rule = `a single string of at most ${MAX_PARAMETER} characters`;
  throw new ProblemError('invalid_value', `${name} must be ${rule}.`);
}

function readInteger(name: string, value: unknown, code: ErrorCode): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'string' && /^[+-]?\d+$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !(Number.isInteger(number) || Math.abs(number) === Infinity)) {
    throw new ProblemError(code, `${name} must be an integer.`);
  }
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(number, Number.MAX_SAFE_INTEGER));
}

/** Finds the attribute for the parameter `sortBy` (RFC 7644 §3.4.2.3). */
function readSortPath(
  name: string | undefined,
  resource: ResourceDescription,
  others: readonly ResourceDescription[],
): AttributePath | undefined {
  if (name === undefined || name === '') return undefined;
  const path = resource.resolvePath(name);
  if (!path) {
    if (others.some((other) => other.resolvePath(name))) return undefined;
    throw new UnknownAttributeError('invalid_value', name);
  }
  const { attribute } = path;
  if (attribute.returned === 'never')
    throw new ProblemError('invalid_value', `sortBy does not support ${attribute.path}.`);
  const target = toValuePath(path);
  if (target) return target;
  throw new ProblemError('invalid_value', `sortBy must be a sub-attribute of ${attribute.path}.`);
}

function isDescending(order: string | undefined): boolean {
  const word = order?.toLowerCase() ?? '';
  if (word === '' || word === 'ascending') return false;
  if (word === 'descending') return true;
  throw new ProblemError('invalid_value', 'sortOrder must be ascending or descending.');
}

type ListId = Pick<ListQuery, 'fingerprint'>;

/** Encodes the cursor for a page that starts after the given resource. */
export const encodeListCursor = ({ fingerprint }: ListId, { key, uuid }: Position): string =>
  encodeArray([fingerprint, key, uuid]);

/**
 * Decodes a cursor to the position after which the page starts. Returns undefined for `""`, which requests the first
 * page.
 * @throws ProblemError `invalid_cursor`
 */
export function decodeListCursor(text: string, { fingerprint }: ListId): Position | undefined {
  if (text === '') return undefined;
  const [of, key, uuid] = decodeArray(text);
  if (of !== fingerprint) {
    throw new ProblemError('invalid_cursor', 'cursor belongs to a list with a different filter or order.');
  }
  if (isKey(key) && typeof uuid === 'string' && isUuid(uuid)) return { key, uuid: uuid.toLowerCase() };
  throw new ProblemError('invalid_cursor', 'cursor is invalid for this list. Start with an empty cursor.');
}

const MAX_KEY = 10_000;

function isKey(key: unknown): key is Position['key'] {
  if (key === null || (typeof key === 'number' && Number.isFinite(key))) return true;
  return typeof key === 'string' && key.length <= MAX_KEY && isCleanText(key, { newlines: true });
}

/**
 * Returns the value by which a resource is sorted, or undefined if the resource lacks this value. A list is sorted by
 * its primary element, otherwise by its first element (RFC 7644 §3.4.2.3).
 */
export function toSortKey({ attribute, sub }: AttributePath, item: ScimObject): string | number | undefined {
  const elements = elementsOf(attribute.getValue(item));
  const isPrimary = (element: ScimValue) => isScimObject(element) && getMember(element, 'primary') === true;
  const chosen = elements.find(isPrimary) ?? elements[0];
  const value = sub ? (isScimObject(chosen) ? getMember(chosen, sub.name) : undefined) : chosen;
  const key = toComparable(sub ?? attribute, value);
  return typeof key === 'boolean' ? Number(key) : key;
}

export interface ResourcePage<T = ScimObject> {
  resources: readonly T[];
  /** Total number of matches. Undefined if counting costs more than reading the page. */
  total: number | undefined;
  /** The cursor of the next page. Undefined on the last page, and if the client does not use cursors. */
  next: string | undefined;
}

/** Builds the ListResponse (RFC 7644 §3.4.2, RFC 9865 §2). */
export function buildListResponse<T = ScimObject>(
  { cursor, startIndex }: Pick<ListQuery, 'cursor' | 'startIndex'>,
  { resources, total, next }: ResourcePage<T>,
) {
  return {
    schemas: [LIST_MESSAGE],
    ...(total !== undefined && { totalResults: total }),
    itemsPerPage: resources.length,
    ...(cursor === undefined ? { startIndex } : next !== undefined && { nextCursor: next }),
    Resources: resources,
  };
}
