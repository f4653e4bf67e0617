import { ProblemError } from '../common/errors.js';
import { decodeArray, encodeArray } from '../common/json.js';
import { compareCodePoints, isCleanText } from '../common/text.js';
import { isDbTime } from '../common/time.js';
import { isUuid } from '../common/uuid.js';
import { clampLimit } from '../http/page.js';
import type { Clause, Dialect, SqlValue } from './engine/sql.js';

export type Direction = 'asc' | 'desc';

/**
 * A range of consecutive rows in a sort order. The rows are sorted by key and then by uuid, both in the same direction.
 */
export interface KeyRange {
  key: string;
  /** Type of the keys. The default is text. */
  holds?: 'time' | 'number';
  /** A condition on the key that all rows of the range meet. */
  test?: 'IS NOT NULL' | "> ''";
  /** The key that all rows of the range have: empty or a number. Undefined if the rows have different keys. */
  only?: '' | null | number;
  /** True if every row has a different key. */
  unique: boolean;
  /** Column that sorts rows with equal keys. The default is `u.uuid`. */
  tie?: string;
}

/** The sort order of a list, as consecutive ranges of rows. Rows without a key may need a separate range. */
export interface PageOrder<R extends KeyRange = KeyRange> {
  order: Direction;
  ranges: readonly R[];
}

/** The position of a row in a sort order. */
export interface Position {
  key: SqlValue;
  uuid: string;
}

export interface PageWindow {
  /** The position after which the page starts. Undefined for the start of the list. */
  after: Position | undefined;
  offset: number;
  limit: number;
}

export interface KeysetPage<T> {
  rows: T[];
  /** The last row of this page, or undefined if this is the last page. */
  last: T | undefined;
}

interface PageSource<R extends KeyRange, T> {
  read: (range: R, part: Clause, offset: number, limit: number) => Promise<T[]>;
  count: (range: R, part: Clause) => Promise<number>;
  isEmpty?: (range: R) => Promise<boolean>;
}

/**
 * Reads a page from consecutive ranges. A start position costs nothing, but an offset costs as much as reading the
 * skipped rows.
 */
export async function readPage<R extends KeyRange, T>(
  source: PageSource<R, T>,
  { order, ranges }: PageOrder<R>,
  { after, offset, limit }: PageWindow,
  dialect: Dialect,
): Promise<KeysetPage<T>> {
  const found: T[] = [];
  const first = after ? rangeIndexOf(after.key, ranges) : 0;
  let left = offset;
  for (const [index, range] of ranges.entries()) {
    if (index < first || (await source.isEmpty?.(range))) continue;
    for (const part of conditionsOf(range, order, index === first ? after : undefined, dialect)) {
      const rows = await source.read(range, part, left, limit + 1 - found.length);
      found.push(...rows);
      if (found.length > limit) return truncateToPage(found, limit);
      if (left > 0) left = rows.length > 0 ? 0 : left - (await source.count(range, part));
    }
  }
  return truncateToPage(found, limit);
}

/**
 * Yields the rows page by page, and an empty page at the end.
 * @param first a key that sorts before the keys of all rows.
 */
export async function* readPages<T, K>(
  first: K,
  keyOf: (row: T) => K,
  read: (after: K) => Promise<T[]>,
): AsyncGenerator<T[]> {
  for (let after = first; ;) {
    const page = await read(after);
    yield page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = keyOf(last);
  }
}

/**
 * Returns the first `limit` rows as a page.
 * @param found contains at least one row more than `limit` if there is a next page.
 */
export function truncateToPage<T>(found: readonly T[], limit: number): KeysetPage<T> {
  const rows = found.slice(0, limit);
  return { rows, last: found.length > limit ? rows.at(-1) : undefined };
}

export function sortPage<T>(
  rows: readonly T[],
  positionOf: (row: T) => Position,
  order: Direction,
  { after, offset, limit }: PageWindow,
): KeysetPage<T> {
  const sorted = rows.map((row) => ({ row, position: positionOf(row) }));
  sorted.sort((a, b) => comparePositions(a.position, b.position, order));
  const rest = after
    ? sorted.filter(({ position }) => comparePositions(position, after, order) > 0)
    : sorted.slice(offset);
  const { rows: cut, last } = truncateToPage(rest, limit);
  return { rows: cut.map(({ row }) => row), last: last?.row };
}

/** Compares two positions for sorting. Rows without a key come last in ascending and first in descending order. */
function comparePositions(a: Position, b: Position, order: Direction): number {
  const byKey =
    a.key === null || b.key === null
      ? Number(a.key === null) - Number(b.key === null)
      : compareCodePoints(a.key, b.key);
  const ascending = byKey || compareCodePoints(a.uuid, b.uuid);
  return order === 'asc' ? ascending : -ascending;
}

function rangeIndexOf(key: SqlValue, ranges: readonly KeyRange[]): number {
  const apart = ranges.findIndex(({ only }) => only === key);
  return apart === -1 ? ranges.findIndex(({ only }) => only === undefined) : apart;
}

/** Splits a range into rows with a key and rows with an empty key, so that the order can put the empty keys last. */
export const splitByEmptyKey = (range: KeyRange, empty: null | ''): KeyRange[] => [
  { ...range, test: empty === null ? 'IS NOT NULL' : "> ''" },
  { ...range, only: empty },
];

/** Encodes a position as a cursor. @param list texts that identify the list, such as its sort field. */
export function encodeCursor(
  list: readonly string[],
  ranges: readonly KeyRange[],
  position: Position,
): string {
  return encodeArray([...list, rangeIndexOf(position.key, ranges), position.key, position.uuid]);
}

/** Decodes a cursor. Returns undefined for a text that is not a cursor of this list. */
export function decodeCursor(text: string, list: readonly string[], ranges: readonly KeyRange[]) {
  const parts = decodeArray(text);
  if (parts.length !== list.length + 3 || list.some((part, index) => parts[index] !== part)) return undefined;
  const [index, key, uuid] = parts.slice(list.length);
  const range = typeof index === 'number' ? ranges[index] : undefined;
  const isPosition = range && isValidRangeKey(range, key) && typeof uuid === 'string' && isUuid(uuid);
  return isPosition ? { key, uuid } : undefined;
}

/**
 * Parses the parameters of a page.
 * @throws ProblemError `invalid_parameter` for a cursor of another list, or if both a cursor and an offset are given.
 */
export function parsePageWindow(
  query: { after?: string; offset?: number; limit?: number },
  list: readonly string[],
  ranges: readonly KeyRange[],
): PageWindow {
  const after = query.after === undefined ? undefined : decodeCursor(query.after, list, ranges);
  const createPageError = (detail: string): ProblemError => new ProblemError('invalid_parameter', detail);
  if (query.after !== undefined && !after)
    throw createPageError('after must be the cursor of a page with the same sort and order.');
  if (after && query.offset !== undefined) throw createPageError('Send either offset or after, not both.');
  return { after, offset: query.offset ?? 0, limit: clampLimit(query) };
}

const MAX_KEY = 512;

function isValidRangeKey({ only, holds }: KeyRange, key: unknown): key is SqlValue {
  if (only !== undefined) return key === only;
  if (holds === 'number') return typeof key === 'number' && Number.isFinite(key);
  if (typeof key !== 'string') return false;
  return holds === 'time' ? isDbTime(key) : key.length <= MAX_KEY && isCleanText(key);
}

/**
 * Returns conditions for the rows after a position: first for rows with the same key, then for rows with later keys.
 * They are separate, because with a combined condition the database would not start at the position in the index.
 */
function conditionsOf(
  range: KeyRange,
  order: Direction,
  after: Position | undefined,
  dialect: Dialect,
): Clause[] {
  const { key, test, only, unique, tie = 'u.uuid' } = range;
  if (!after && only === undefined) return [{ sql: test ? `${key} ${test}` : '1 = 1', params: [] }];
  if (!after) return [buildKeyCondition(key, only ?? null, dialect)];
  const comparison = order === 'asc' ? '>' : '<';
  const { sql, params } = buildKeyCondition(key, after.key, dialect);
  const same = { sql: `${sql} AND ${tie} ${comparison} ?`, params: [...params, after.uuid] };
  if (only !== undefined || after.key === null) return [same];
  // In descending order, `key < ?` also matches empty keys. They belong to a separate range, so `test` excludes them.
  const filled = order === 'desc' && test === "> ''" ? ` AND ${key} ${test}` : '';
  const others = { sql: `${key} ${comparison} ?${filled}`, params: [after.key] };
  return unique ? [others] : [same, others];
}

/** Returns a condition for equal keys. MariaDB gets two inequalities, because with `=` it would read and sort all rows. */
function buildKeyCondition(key: string, value: SqlValue, dialect: Dialect): Clause {
  if (dialect === 'sqlite') return { sql: `${key} IS ?`, params: [value] };
  return value === null
    ? { sql: `(${key} IS NULL OR ${key} < '')`, params: [] }
    : { sql: `${key} >= ? AND ${key} <= ?`, params: [value, value] };
}
