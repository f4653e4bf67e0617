import { ProblemError } from '../../platform/common/errors.js';
import { isCleanText } from '../../platform/common/text.js';
import { isUuid } from '../../platform/common/uuid.js';
import { type ListQuery, cursorOf, positionIn } from '../protocol/list.js';

/** The place behind the last user of a page: it says where to go on, and so it never expires. */
export interface ListCursor {
  /** Which range of the order. */
  segment: number;
  key: string | number | null;
  uuid: string;
}

type List = Pick<ListQuery, 'fingerprint'>;

const MAX_KEY = 10_000;

export function encodeCursor({ segment, key, uuid }: ListCursor, list: List): string {
  return cursorOf(list, [String(segment), JSON.stringify(key), uuid]);
}

/** undefined for the empty cursor, which begins. @throws ProblemError `invalid_cursor` for one that is none of this list. */
export function decodeCursor(text: string, list: List): ListCursor | undefined {
  if (text === '') return undefined;
  const [segment = '', key = '', uuid = ''] = positionIn(text, list);
  const parsed = parse(key);
  if (/^[01]$/.test(segment) && isKey(parsed) && isUuid(uuid))
    return { segment: Number(segment), key: parsed, uuid: uuid.toLowerCase() };
  throw new ProblemError('invalid_cursor', 'cursor is not one of this list, with this filter and order.');
}

function isKey(key: unknown): key is ListCursor['key'] {
  if (key === null || (typeof key === 'number' && Number.isFinite(key))) return true;
  return typeof key === 'string' && key.length <= MAX_KEY && isCleanText(key, { newlines: true });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
