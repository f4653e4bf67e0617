import { setTimeout as delay } from 'node:timers/promises';
import { unavailable } from '../platform/common/errors.js';

/** Between two logins of one network. */
const SPACING_MILLIS = 1000;
/** Logins that wait do no work, but hold a connection each. */
const LONGEST_MILLIS = 10_000;

/** Lets the logins of a network begin one by one, a second apart. Each process has its own order. */
export class LoginDelay {
  /** Network → when the last login of its line begins. */
  private readonly lines = new Map<string, number>();

  constructor(
    private readonly clock: () => number = () => performance.now(),
    private readonly sleep: (millis: number, signal?: AbortSignal) => Promise<unknown> = (millis, signal) =>
      delay(millis, undefined, { signal }).catch(() => {
        throw unavailable('The client has left.', 1);
      }),
  ) {}

  /** Waits for its turn, a second or more. @returns false at once when the line is too long. @throws ProblemError `unavailable` when the client has left. */
  async turn(network: string, signal?: AbortSignal): Promise<boolean> {
    const time = this.clock();
    for (const [other, last] of this.lines) if (last < time) this.lines.delete(other);
    const begins = Math.max(time, this.lines.get(network) ?? 0) + SPACING_MILLIS;
    if (begins - time > LONGEST_MILLIS) return false;
    this.lines.set(network, begins);
    await this.sleep(begins - time, signal);
    return true;
  }
}
