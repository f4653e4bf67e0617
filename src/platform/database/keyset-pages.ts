import { ProblemError } from '../common/errors.js';
import { decodeArray, encodeArray } from '../common/json.js';
import { compareCodePoints, isCleanText } from '../common/text.js';
import { isDbTime } from '../common/time.js';
import { isUuid } from '../common/uuid.js';
import { limitOf } from '../http/page.js';
import type { Clause, Dialect, SqlValue } from './engine/sql.js';

export type Direction = 'asc' | 'desc';

/** A range of an order: within it rows are sorted by key, then by uuid, both in the same direction. */
export interface Range {
  key: string;
  /** What its keys are. By default they are texts. */
  holds?: 'time' | 'number';
  /** A condition on the key that all of its rows meet. */
  test?: 'IS NOT NULL' | "> ''";
  /** The key that all of its rows have. */
  only?: '' | null;
  /** True where no two rows share a key. */
  unique: boolean;
  /** The uuid by which rows of one key are sorted: `u.uuid`, unless another table leads to them. */
  tie?: string;
}

/** An order of rows: ranges that follow each other. Rows without a key are a range of their own where an index needs it. */
export interface PageOrder<R extends Range = Range> {
  order: Direction;
  ranges: readonly R[];
}

/** The position after a row in an order. */
export interface Position {
  key: SqlValue;
  uuid: string;
}

/** Where a page begins, and how many rows it has at most. */
export interface Place {
  after: Position | undefined;
  /** Rows that the page passes over, from the position on. */
  offset: number;
  limit: number;
}

/** A page. `last` is its last row where more rows follow. */
export interface Page<T> {
  rows: T[];
  last: T | undefined;
}

/** Reads the parts of an order. A part is a condition on the key of a range. */
interface PageSource<R extends Range, T> {
  read: (range: R, part: Clause, offset: number, limit: number) => Promise<T[]>;
  count: (range: R, part: Clause) => Promise<number>;
  /** True for a range that is known to have no rows. */
  isEmpty?: (range: R) => Promise<boolean>;
}

/** Reads ranges until the page is full. A position costs nothing, and an offset costs the rows that it passes over. */
export async function readPage<R extends Range, T>(
  source: PageSource<R, T>,
  { order, ranges }: PageOrder<R>,
  { after, offset, limit }: Place,
  dialect: Dialect,
): Promise<Page<T>> {
  const found: T[] = [];
  const first = after ? rangeIndexOf(after.key, ranges) : 0;
  let left = offset;
  for (const [index, range] of ranges.entries()) {
    if (index < first || (await source.isEmpty?.(range))) continue;
    for (const part of partsOf(range, order, index === first ? after : undefined, dialect)) {
      const rows = await source.read(range, part, left, limit + 1 - found.length);
      found.push(...rows);
      if (found.length > limit) return cutPage(found, limit);
      if (left > 0) left = rows.length > 0 ? 0 : left - (await source.count(range, part));
    }
  }
  return cutPage(found, limit);
}

/**
 * Reads pages one after the other, each after the last row of the one before. The last page is empty.
 * @param first a key before all rows.
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

/** @param found the rows of the page, and at least one more where more rows follow. */
export function cutPage<T>(found: readonly T[], limit: number): Page<T> {
  const rows = found.slice(0, limit);
  return { rows, last: found.length > limit ? rows.at(-1) : undefined };
}

/** Sorts rows that have all been read, and cuts a page out of them. */
export function sortPage<T>(
  rows: readonly T[],
  positionOf: (row: T) => Position,
  order: Direction,
  { after, offset, limit }: Place,
): Page<T> {
  const sorted = rows.map((row) => ({ row, position: positionOf(row) }));
  sorted.sort((a, b) => comparePositions(a.position, b.position, order));
  const rest = after
    ? sorted.filter(({ position }) => comparePositions(position, after, order) > 0)
    : sorted.slice(offset);
  return cutPage(
    rest.map(({ row }) => row),
    limit,
  );
}

/** Negative where the first position comes first. Rows without a key come last, and first where the order is descending. */
function comparePositions(a: Position, b: Position, order: Direction): number {
  const byKey =
    a.key === null || b.key === null
      ? Number(a.key === null) - Number(b.key === null)
      : compareCodePoints(a.key, b.key);
  const ascending = byKey || compareCodePoints(a.uuid, b.uuid);
  return order === 'asc' ? ascending : -ascending;
}

/** The number of the range that has rows with this key. */
export function rangeIndexOf(key: SqlValue, ranges: readonly Range[]): number {
  const apart = ranges.findIndex(({ only }) => only === key);
  return apart === -1 ? ranges.findIndex(({ only }) => only === undefined) : apart;
}

/** Splits a range in two: the rows with a key, and the rows whose key is empty, which an index alone would not put last. */
export const splitEmpty = (range: Range, empty: null | ''): Range[] => [
  { ...range, test: empty === null ? 'IS NOT NULL' : "> ''" },
  { ...range, only: empty },
];

/** Writes a cursor, the text by which a client names a position. @param list texts that the pages of one list share. */
export function encodeCursor(
  list: readonly string[],
  ranges: readonly Range[],
  { key, uuid }: Position,
): string {
  return encodeArray([...list, rangeIndexOf(key, ranges), key, uuid]);
}

/** Reads a cursor. Returns undefined for a text that `encodeCursor` cannot have written for this list. */
export function decodeCursor(
  text: string,
  list: readonly string[],
  ranges: readonly Range[],
): Position | undefined {
  const parts = decodeArray(text);
  if (parts.length !== list.length + 3 || list.some((part, index) => parts[index] !== part)) return undefined;
  const [index, key, uuid] = parts.slice(list.length);
  const range = typeof index === 'number' ? ranges[index] : undefined;
  const isPosition = range && isKeyOf(range, key) && typeof uuid === 'string' && isUuid(uuid);
  return isPosition ? { key, uuid } : undefined;
}

/**
 * Reads where a page begins.
 * @throws ProblemError `invalid_parameter` for a cursor of another list, and for a cursor together with an offset.
 */
export function placeOf(
  query: { after?: string; offset?: number; limit?: number },
  list: readonly string[],
  ranges: readonly Range[],
): Place {
  const after = query.after === undefined ? undefined : decodeCursor(query.after, list, ranges);
  const refused = (detail: string): ProblemError => new ProblemError('invalid_parameter', detail);
  if (query.after !== undefined && !after)
    throw refused('after must be the cursor of a page with the same sort and order.');
  if (after && query.offset !== undefined) throw refused('offset and after exclude each other.');
  return { after, offset: query.offset ?? 0, limit: limitOf(query) };
}

const MAX_KEY = 512;

function isKeyOf({ only, holds }: Range, key: unknown): key is SqlValue {
  if (only !== undefined) return key === only;
  if (holds === 'number') return typeof key === 'number' && Number.isFinite(key);
  if (typeof key !== 'string') return false;
  return holds === 'time' ? isDbTime(key) : key.length <= MAX_KEY && isCleanText(key);
}

/**
 * The parts of a range that come after a position: first the rows with the same key, then those with a key beyond it. Each
 * part is one range of the index. In one statement they would not be, and every page would read all rows that share a
 * common key.
 */
function partsOf(range: Range, order: Direction, after: Position | undefined, dialect: Dialect): Clause[] {
  const { key, test, only, unique, tie = 'u.uuid' } = range;
  if (!after && only === undefined) return [{ sql: test ? `${key} ${test}` : '1 = 1', params: [] }];
  if (!after) return [alike(key, only ?? null, dialect)];
  const beyond = order === 'asc' ? '>' : '<';
  const { sql, params } = alike(key, after.key, dialect);
  const same = { sql: `${sql} AND ${tie} ${beyond} ?`, params: [...params, after.uuid] };
  if (only !== undefined || after.key === null) return [same];
  // In descending order empty texts would follow, which are a range of their own.
  const filled = order === 'desc' && test === "> ''" ? ` AND ${key} ${test}` : '';
  const others = { sql: `${key} ${beyond} ?${filled}`, params: [after.key] };
  return unique ? [others] : [same, others];
}

/** MariaDB answers an equality by all rows that have the key, sorted by uuid; a range it reads in order. */
function alike(key: string, value: SqlValue, dialect: Dialect): Clause {
  if (dialect === 'sqlite') return { sql: `${key} IS ?`, params: [value] };
  return value === null
    ? { sql: `(${key} IS NULL OR ${key} < '')`, params: [] }
    : { sql: `${key} >= ? AND ${key} <= ?`, params: [value, value] };
}
