/**
 * Detects leases whose holder has stopped sending heartbeats. Measures on the monotonic clock of this process, because
 * the clocks of machines and databases may be set.
 */
export class HeartbeatWatch {
  private readonly seen = new Map<string, { heartbeat: string; since: number }>();

  /** Returns true if the heartbeat of a lease has not changed for `seconds` since this instance first saw it. */
  hasStopped(lease: string, heartbeat: string, seconds: number): boolean {
    const seen = this.seen.get(lease);
    if (seen?.heartbeat === heartbeat) return performance.now() - seen.since >= seconds * 1000;
    this.seen.set(lease, { heartbeat, since: performance.now() });
    return false;
  }
}
