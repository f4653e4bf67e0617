import { setImmediate } from 'node:timers/promises';

/** Waits until a condition holds, and lets the service work in between. Only the time limit of the test ends the wait. */
export async function waitUntil(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await setImmediate();
}
