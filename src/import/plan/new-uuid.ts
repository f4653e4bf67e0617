import { hash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

/**
 * The uuid that a run gives to the new user with this external id: a UUID of version 7 with the run's time, the rest
 * taken from run and external id. So a plan that is made again, after a kill or for an approval, is the same plan, and
 * a row can name a manager that only a later row creates.
 */
export function newUuid(run: { id: string; created: number }, externalIdKey: string): string {
  const random = hash('sha256', `${run.id}\0${externalIdKey}`, 'buffer').subarray(0, 16);
  return uuidv7({ msecs: run.created, random, seq: random.readUInt32BE(0) & 0x7fffffff });
}
