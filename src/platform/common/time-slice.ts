import { setImmediate } from 'node:timers/promises';

/** Time for which long work may run before it yields to the event loop. */
const SLICE_MILLIS = 10;

/**
 * Time slice of long work on the event loop. Check it between the steps of the work, so that other requests are not
 * blocked: `if (slice.isOver) await slice.startNext()`.
 */
export class TimeSlice {
  private began = performance.now();

  get isOver(): boolean {
    return performance.now() - this.began > SLICE_MILLIS;
  }

  async startNext(): Promise<void> {
    await setImmediate();
    this.began = performance.now();
  }
}
