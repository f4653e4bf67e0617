import { ProblemError } from '../../platform/common/errors.js';
import { decodeArray, encodeArray } from '../../platform/common/json.js';
import { isCleanText } from '../../platform/common/text.js';
import { isDbTime } from '../../platform/common/time.js';
import { isUuid } from '../../platform/common/uuid.js';
import type { Order, Sort } from './user.query.js';

/** The place behind the last user of a page, in the order of one sort. */
export interface Cursor {
  sort: Sort;
  order: Order;
  /** Which part of the order: users without a name come after those with one. */
  segment: number;
  key: string | number | null;
  uuid: string;
}

export function encodeCursor({ sort, order, segment, key, uuid }: Cursor): string {
  return encodeArray([sort, order, segment, key, uuid]);
}

/** @throws ProblemError `invalid_parameter` for a cursor that is not ours or belongs to another sort or order. */
export function decodeCursor(text: string, sort: Sort, order: Order): Cursor {
  const parts = decodeArray(text);
  const [cursorSort, cursorOrder, segment, key, uuid] = parts;
  const valid =
    parts.length === 5 &&
    cursorSort === sort &&
    cursorOrder === order &&
    (segment === 0 || segment === 1) &&
    isKey(key, sort) &&
    typeof uuid === 'string' &&
    isUuid(uuid);
  if (!valid) throw foreignCursor();
  return { sort, order, segment, key, uuid };
}

/** Scores are numbers, everything else is text; only an external id may be unset. */
function isKey(key: unknown, sort: Sort): key is Cursor['key'] {
  if (sort === 'relevance') return typeof key === 'number' && Number.isFinite(key);
  if (key === null) return sort === 'external_id';
  if (typeof key !== 'string') return false;
  return sort === 'updated' || sort === 'created' ? isDbTime(key) : key.length <= 512 && isCleanText(key);
}

export function foreignCursor(): ProblemError {
  return new ProblemError(
    'invalid_parameter',
    'after must be the cursor of a page with the same sort and order.',
  );
}
