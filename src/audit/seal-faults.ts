import { type DbTime, toMillis } from '../platform/common/time.js';
import { millisOf } from '../platform/common/uuid.js';
import { MAX_ID, toFirstId, isEventId, MINUTE_MILLIS } from './audit-event.js';
import type { ReadRow, Seal, LateEvent, ReadSeal } from './audit-seal.repository.js';
import { hashRow, LATE_MILLIS, type SealKeys } from './seal.js';

/** Audit event that was changed, inserted or removed by something other than the service. */
export interface RowFault {
  id: string;
  message: string;
}

export const INVALID_ID = 'was not written by the service: its id is invalid';

const MAX_NAMED = 100;

/** Longest time between two sealing passes of a running service, in milliseconds. */
export const PASS_MILLIS = 65 * MINUTE_MILLIS;

/** Collects faulty events. Unlike a faulty seal, a faulty event does not stop the verification. */
export class RowFaults {
  count = 0;
  readonly named: RowFault[] = [];

  add(id: string, message: string): void {
    this.count++;
    if (this.named.length < MAX_NAMED) this.named.push({ id, message });
  }

  /**
   * Reports an event with an id, time or stored format that the service never writes.
   * @returns true if the event is valid.
   */
  validateFormat(read: ReadRow): boolean {
    const message = findFormatFault(read);
    if (message !== undefined) this.add(read.row.id, message);
    return message === undefined;
  }
}

function findFormatFault({ row: { id, time }, hasId, isIntact }: ReadRow): string | undefined {
  if (!hasId || !isEventId(id)) return INVALID_ID;
  if (!isIntact) return 'is stored in a format that the service does not write: it was changed';
  return toMillis(time) === millisOf(id) ? undefined : 'has a time that differs from its id: it was changed';
}

/** Number and hash of a seal that an operator stored outside the service. */
export type SealRef = Pick<Seal, 'number' | 'hash'>;

export type Previous = Pick<Seal, 'number' | 'hash' | 'until_id' | 'purged'>;

/** Times of two sealing passes: the pass that created the current seal, and the pass before it. */
export class SealingTimes {
  current: DbTime | undefined;
  previous: DbTime | undefined;

  /**
   * Returns true if the service can have written an event id from `unsealed` on, or between the two passes, before the
   * clock was set. Before the first seal, the service can have written any id.
   */
  isBeforeClockChange(id: string, unsealed: string): boolean {
    if (this.previous === undefined) return true;
    const millis = millisOf(id) - toMillis(this.previous);
    return (id >= unsealed || millis >= -LATE_MILLIS) && millis <= PASS_MILLIS + LATE_MILLIS;
  }

  /** Sets the time of the pass that created the next seal. Does nothing if the same pass created the current seal. */
  advanceTo(sealed: DbTime): void {
    if (sealed === this.current) return;
    this.previous = this.current;
    this.current = sealed;
  }
}

/** Verifies a seal without its events. Returns a description of the fault, if any. */
export function findChainFault(
  { seal, isIntact }: ReadSeal,
  previous: Previous,
  keys: SealKeys,
  newest: number | undefined,
): string | undefined {
  const next = previous.number + 1;
  if (seal.number < 1) return 'its number is invalid: numbers start at 1';
  if (seal.number !== next) return `the previous seals, from ${next} on, are missing`;
  if (!isIntact) return 'it is stored in a format that the service does not write: it was changed';
  if (!keys.hasKey(seal.key_id)) return 'it was created with a key that AUDIT_SEAL_KEY does not contain';
  if (seal.until_id < previous.until_id) return 'it ends before the previous seal';
  if (seal.purged < previous.purged || seal.purged >= seal.number)
    return 'its information about deleted events is invalid';
  if (keys.computeHash(seal, previous.hash) !== seal.hash)
    return 'this seal or the previous one was changed: the hash does not match';
  if (seal.number === newest && seal.key_id === '' && keys.current !== '')
    return 'the newest seal was created without the key from AUDIT_SEAL_KEY. If the key is new, wait for the next seal';
  return undefined;
}

/**
 * Verifies a late event. Returns a description of the fault, if any.
 * @param deleted id before which the retention job may have deleted events.
 */
export function findLateFault(
  { entry: { id, row_hash }, row }: LateEvent,
  { number, until_id: until }: Seal,
  previous: Previous,
  times: SealingTimes,
  deleted: string,
): string | undefined {
  if (!isEventId(id)) return `is a late event of seal ${number}, but has an invalid id`;
  if (!row) return id < deleted ? undefined : `was removed: seal ${number} covers it as a late event`;
  if (hashRow(row) !== row_hash) return `was changed: its hash differs from the hash in seal ${number}`;
  // A seal without a range was created because the clock was set, or because one seal cannot contain all late events.
  if (until === previous.until_id && times.isBeforeClockChange(id, until)) return undefined;
  if (isInFuture(id, times.current))
    return `was not written by the service: seal ${number} covers it, but it is newer than the seal`;
  const { previous: before, current = '' } = times;
  const start = before === undefined ? MAX_ID : findFirstLateId(before, current);
  if (id >= start && id < previous.until_id) return undefined;
  return `was not written by the service: seal ${number} covers it as a late event, but it is not late`;
}

/** Returns the smallest id of a late event. After the clock was set back, events are late from the new time on. */
export const findFirstLateId = (previousPass: DbTime, pass: DbTime): string =>
  toFirstId(toMillis(previousPass < pass ? previousPass : pass) - LATE_MILLIS);

export const findFirstFutureId = (time: DbTime): string => toFirstId(toMillis(time) + LATE_MILLIS + 1);

/** Returns true if the time of an event id is more than `LATE_MILLIS` after `time`. */
export const isInFuture = (id: string, time: DbTime | undefined): boolean =>
  time !== undefined && id >= findFirstFutureId(time);
