import { type DbTime, toMillis } from '../platform/common/time.js';
import { millisOf } from '../platform/common/uuid.js';
import { firstId, isEventId, MINUTE_MILLIS } from './audit-event.js';
import type { ReadRow } from './sealed-rows.repository.js';
import type { KnownSeal, LateEvent, ReadSeal } from './audit-seal.repository.js';
import { hashOfRow, LATE_MILLIS, type SealKeys } from './seal.js';

/** A row that is not as the service left it, or that the service never wrote. */
export interface RowFault {
  id: string;
  message: string;
}

export const ODD_ID = 'has an id that the service does not make: it was inserted';

/** Rows that are named. All are counted. */
const NAMED = 100;

/** What was found of single rows, which does not keep other rows from being compared. */
export class RowFaults {
  count = 0;
  readonly named: RowFault[] = [];

  add(id: string, message: string): void {
    this.count++;
    if (this.named.length < NAMED) this.named.push({ id, message });
  }

  /** Names a row that the service cannot have written, whichever seal covers it. @returns whether it could have. */
  judge(read: ReadRow): boolean {
    const message = unlikeTheService(read);
    if (message !== undefined) this.add(read.row.id, message);
    return message === undefined;
  }
}

function unlikeTheService({ row: { id, time }, hasId, isAsRead }: ReadRow): string | undefined {
  if (!hasId || !isEventId(id)) return ODD_ID;
  if (!isAsRead) return 'is stored in a form that the service does not write: it was changed';
  // Both are written at once. The first versions gave a failed login the id of its minute and the time of its second.
  return Math.abs(toMillis(time) - millisOf(id)) <= MINUTE_MILLIS
    ? undefined
    : 'has another time than its id: it was changed';
}

/** A seal that was kept elsewhere. */
export interface Expected {
  number: number;
  hash: string;
}

/** What a seal continues. */
export type Before = Pick<KnownSeal, 'number' | 'hash' | 'until_id' | 'purged'>;

/** The look at which a seal was made, and the one before that. */
export class Looks {
  current: DbTime | undefined;
  before: DbTime | undefined;

  /** Several seals may be of one look. */
  next(sealed: DbTime): void {
    if (sealed === this.current) return;
    this.before = this.current;
    this.current = sealed;
  }
}

/** What is wrong with a seal, apart from its rows. */
export function chainFault(
  { seal, isAsRead }: ReadSeal,
  before: Before,
  keys: SealKeys,
  newest: number | undefined,
): string | undefined {
  if (seal.number !== before.number + 1) {
    return seal.number < 1
      ? 'no seal has this number'
      : `the seals before it, from ${before.number + 1} on, are missing`;
  }
  if (!isAsRead) return 'it is stored in a form that the service does not write: it was changed';
  if (!keys.knows(seal.key_id)) return 'it was made with a key that AUDIT_SEAL_KEY does not name';
  if (seal.until_id < before.until_id) return 'it ends before the seal before it';
  if (seal.purged < before.purged || seal.purged >= seal.number)
    return 'what it says of deleted events cannot be';
  if (keys.seal(seal, before.hash) !== seal.hash)
    return 'it was changed, or the seal before it was: its hash does not fit';
  if (seal.number === newest && seal.key_id === '' && keys.current !== '')
    return 'the newest seal was made without the key of AUDIT_SEAL_KEY; if the key is new, wait for the next seal';
  return undefined;
}

/** What is wrong with a row that a seal covers by itself. @param deleted the end of what the retention may have deleted. */
export function lateFault(
  { entry: { id, row_hash }, row }: LateEvent,
  { number }: KnownSeal,
  before: Before,
  looks: Looks,
  deleted: string,
): string | undefined {
  if (!isEventId(id)) return `is covered by seal ${number}, which the service cannot have done`;
  if (!row) return id < deleted ? undefined : `was taken out: seal ${number} covers it as one that came late`;
  if (hashOfRow(row) !== row_hash)
    return `was changed: seal ${number} covers it, as one that came late, with another hash`;
  if (isAhead(id, looks.current)) return `was inserted: its time had not come when seal ${number} was made`;
  if (
    id >= before.until_id ||
    looks.before === undefined ||
    id < firstId(toMillis(looks.before) - LATE_MILLIS)
  )
    return `was inserted: seal ${number} covers it, but it is older than the look at the audit before that seal`;
  return undefined;
}

/** Whether an id is of the future at a look. */
export const isAhead = (id: string, look: DbTime | undefined): boolean =>
  look !== undefined && millisOf(id) > toMillis(look) + LATE_MILLIS;
