import { toMillis } from '../platform/common/time.js';
import { MINUTE_MILLIS, isEventId, millisOf } from './event-id.js';
import type { ReadRow } from './sealed-rows.repository.js';

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
