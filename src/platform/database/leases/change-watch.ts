/**
 * Detects values that have stopped changing, such as heartbeats. Measures on the monotonic clock of this process, because
 * the clocks of machines and databases may be set.
 */
export class ChangeWatch {
  private readonly seen = new Map<string, { value: string; since: number }>();

  /** Returns true if the value of a name has not changed for `seconds` since this instance first saw it. */
  hasStopped(name: string, value: string, seconds: number): boolean {
    const seen = this.seen.get(name);
    if (seen?.value === value) return performance.now() - seen.since >= seconds * 1000;
    this.seen.set(name, { value, since: performance.now() });
    return false;
  }
}
