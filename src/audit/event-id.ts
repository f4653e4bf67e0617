import { parse, stringify, v7 as uuidv7 } from 'uuid';
import { sha256 } from '../platform/common/secrets.js';

/** Ids of audit rows are UUIDs of version 7: their order is the order of their times. */

/** Before and behind every id. */
export const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
export const BEHIND_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff~';

const EVENT_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether the service could have made this id. */
export const isEventId = (id: unknown): boolean => typeof id === 'string' && EVENT_ID.test(id);

/** The smallest id of a moment. */
export function firstId(millis: number): string {
  return uuidv7({ msecs: Math.max(0, millis), random: new Uint8Array(16), seq: 0 });
}

/** Less than every id that is greater than `id`, and greater than `id`. For comparisons only. */
export const justBehind = (id: string): string => `${id}0`;

/** The moment of an id, in milliseconds. */
export function millisOf(id: string): number {
  return parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** How long what is recorded once a minute keeps others of its kind out. */
export const MINUTE_MILLIS = 60_000;

/**
 * The id of what is recorded once a minute: the same for the same `text` in the same minute, on every instance. Its moment
 * is the start of that minute.
 */
export function idOfMinute(text: string, millis: number): string {
  const minute = millis - (millis % MINUTE_MILLIS);
  const bytes = parse(firstId(minute));
  const mark = Buffer.from(sha256(text), 'hex');
  for (let at = 9; at < bytes.length; at++) bytes[at] = mark[at] ?? 0; // behind time, version and variant
  return stringify(bytes);
}
