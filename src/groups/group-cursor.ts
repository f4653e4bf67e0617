import { decodeArray, encodeArray } from '../platform/common/json.js';
import { isCleanText } from '../platform/common/text.js';
import { isDbTime } from '../platform/common/time.js';
import { isUuid } from '../platform/common/uuid.js';
import { type GroupOrder, type GroupPosition, type GroupSort } from './group-search.service.js';

const MAX_KEY = 512;

/**
 * The cursor behind a group.
 * @param list what two pages of one list have in common beside their order.
 */
export function encodeGroupCursor(
  { segment, key, uuid }: GroupPosition,
  { sort, order }: GroupOrder,
  list = '',
): string {
  return encodeArray([list, sort, order, segment, key, uuid]);
}

/** @returns undefined for a cursor that is not ours, or of another list. */
export function decodeGroupCursor(
  text: string,
  { sort, order }: GroupOrder,
  list = '',
): GroupPosition | undefined {
  const parts = decodeArray(text);
  const [ofList, ofSort, ofOrder, segment, key, uuid] = parts;
  const isOurs = parts.length === 6 && ofList === list && ofSort === sort && ofOrder === order;
  const isPlace = (segment === 0 || segment === 1) && isKey(key, sort);
  return isOurs && isPlace && typeof uuid === 'string' && isUuid(uuid) ? { segment, key, uuid } : undefined;
}

function isKey(key: unknown, sort: GroupSort): key is string | null {
  if (typeof key !== 'string') return key === null && sort === 'external_id';
  if (sort === 'created' || sort === 'updated') return isDbTime(key);
  return key.length <= MAX_KEY && isCleanText(key);
}
