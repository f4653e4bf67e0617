import { createHash } from 'node:crypto';
import { ProblemError } from '../../common/errors.js';
import { isCleanText } from '../../common/text.js';
import { isUuid } from '../../common/uuid.js';

/** The place behind the last user of a page: it says where to go on, and so it never expires. */
export interface ListCursor {
  /** Which range of the order. */
  segment: number;
  key: string | number | null;
  uuid: string;
}

const digest = (fingerprint: string): string =>
  createHash('sha256').update(fingerprint).digest('base64url').slice(0, 16);

/** @param fingerprint filter and order of the list, which stay the same from page to page. */
export function encodeCursor({ segment, key, uuid }: ListCursor, fingerprint: string): string {
  return Buffer.from(JSON.stringify([digest(fingerprint), segment, key, uuid])).toString('base64url');
}

/** undefined for the empty cursor, which begins. @throws ProblemError `invalid_cursor` for one of another list. */
export function decodeCursor(text: string, fingerprint: string): ListCursor | undefined {
  if (text === '') return undefined;
  const [list, segment, key, uuid] = parse(text);
  const isOurs =
    list === digest(fingerprint) &&
    (segment === 0 || segment === 1) &&
    isKey(key) &&
    typeof uuid === 'string' &&
    isUuid(uuid);
  if (isOurs) return { segment, key, uuid: uuid.toLowerCase() };
  throw new ProblemError('invalid_cursor', 'cursor is not one of this list, with this filter and order.');
}

function isKey(key: unknown): key is ListCursor['key'] {
  if (key === null || (typeof key === 'number' && Number.isFinite(key))) return true;
  return typeof key === 'string' && key.length <= 2048 && isCleanText(key, { newlines: true });
}

function parse(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(value) ? (value as unknown[]) : [];
  } catch {
    return [];
  }
}
