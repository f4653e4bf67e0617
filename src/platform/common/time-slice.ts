import { setImmediate } from 'node:timers/promises';

/** Time for which long work may run before it yields to the event loop. */
const TURN_MILLIS = 10;

/**
 * Time slice of long work on the event loop. Check it between the steps of the work, so that other requests are not
 * blocked: `if (slice.isOver) await slice.startNext()`.
 */
export class Turn {
  private began = performance.now();

  get isOver(): boolean {
    return performance.now() - this.began > TURN_MILLIS;
  }

  /** Yields to the event loop, and then starts the next slice. */
  async next(): Promise<void> {
    await setImmediate();
    this.began = performance.now();
  }
}
