import { setImmediate } from 'node:timers/promises';

/** Of the event loop: what takes longer gives way to other requests. */
const TURN_MILLIS = 10;

/** Long work in this thread, whose steps may cost very different amounts: `if (turn.isOver) await turn.next()`. */
export class Turn {
  private began = performance.now();

  get isOver(): boolean {
    return performance.now() - this.began > TURN_MILLIS;
  }

  /** Lets others have their turn. */
  async next(): Promise<void> {
    await setImmediate();
    this.began = performance.now();
  }
}
