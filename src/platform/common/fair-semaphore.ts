/** Function that releases a slot. Further calls do nothing. */
export type Release = () => void;

/** Limits of a semaphore. A missing limit means unlimited. */
interface SemaphoreLimits {
  slots: number;
  /** Maximum number of slots for callers with the same key. */
  slotsPerKey?: number;
  waiting?: number;
  /** Maximum number of waiting callers with the same key. */
  waitingPerKey?: number;
  waitMillis?: number;
}

/** Thrown if a caller gets no slot, because the queue is full or the caller has waited too long. */
export class NoSlotError extends Error {
  /** @param isOwn true if callers with the same key occupy the slots or fill the queue. */
  constructor(readonly isOwn: boolean) {
    super('no slot');
  }
}

interface Waiter {
  keys: readonly string[];
  grant: (release: Release) => void;
  refuse: (error: unknown) => void;
}

/**
 * Semaphore with a queue that is fair between keys, such as accounts. A free slot goes to the waiting caller whose key
 * was served longest ago, so a key with many callers delays only its own callers. Callers without a key are served in
 * order of arrival.
 *
 * A caller may have several keys, from narrow to wide, such as an account and its network. In a full queue, a new
 * caller replaces the last waiting caller of the key that has the most waiting callers. If a wide key of the new caller
 * has reached its limit, the new caller can replace only callers with this key.
 */
export class FairSemaphore {
  private readonly queue: Waiter[] = [];
  private readonly waitingBy = new KeyCounts();
  private readonly takenBy = new KeyCounts();
  private takenSlots = 0;
  grantCount = 0;
  /** Maps each key to the value of `grantCount` when it was last served. The oldest entries come first. */
  private readonly lastGrants = new Map<string, number>();

  constructor(private readonly limits: SemaphoreLimits) {}

  get waiting(): number {
    return this.queue.length;
  }

  /** Runs `work` in a slot, and releases the slot. @throws the errors of `acquire` and `work`. */
  async run<T>(keys: readonly string[], work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    // Starts the work at once if a slot is free.
    const release = this.hasFreeSlot(keys) ? this.grantSlot(keys) : await this.wait(keys, signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /**
   * Waits for a slot.
   * @throws NoSlotError, or the reason of the signal if the signal ends the wait.
   */
  async acquire(keys: readonly string[] = [], signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    return this.hasFreeSlot(keys) ? this.grantSlot(keys) : this.wait(keys, signal);
  }

  private async wait(keys: readonly string[], signal: AbortSignal | undefined): Promise<Release> {
    this.evictIfFull(keys);
    const { promise, resolve, reject } = Promise.withResolvers<Release>();
    const waiter: Waiter = { keys, grant: resolve, refuse: reject };
    const abort = (): void => {
      this.rejectWaiter(waiter, signal?.reason);
    };
    const expire = (): void => {
      this.rejectWaiter(waiter, new NoSlotError(keys.some((key) => this.takenBy.get(key) > 0)));
    };
    const { waitMillis } = this.limits;
    const timer = waitMillis === undefined ? undefined : setTimeout(expire, waitMillis);
    signal?.addEventListener('abort', abort, { once: true });
    this.queue.push(waiter);
    this.waitingBy.add(keys, 1);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /**
   * Returns true if a caller with these keys gets a slot at once. The queue is not checked: if a slot is free, every
   * waiting caller has a key at its limit.
   */
  private hasFreeSlot(keys: readonly string[]): boolean {
    const { slots, slotsPerKey = Infinity } = this.limits;
    return this.takenSlots < slots && keys.every((key) => this.takenBy.get(key) < slotsPerKey);
  }

  private grantSlot(keys: readonly string[]): Release {
    this.takenSlots++;
    this.grantCount++;
    if (keys.length > 0) this.recordGrant(keys);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.takenSlots--;
      if (keys.length > 0) this.takenBy.add(keys, -1);
      if (this.queue.length > 0) this.serveQueue();
    };
  }

  private recordGrant(keys: readonly string[]): void {
    this.takenBy.add(keys, 1);
    for (const key of keys) {
      this.lastGrants.delete(key);
      this.lastGrants.set(key, this.grantCount);
    }
    // Deletes the oldest entries, which limits memory. A key without an entry is treated as served longest ago.
    for (const key of this.lastGrants.keys()) {
      if (this.lastGrants.size <= 4 * (this.takenSlots + this.queue.length)) break;
      this.lastGrants.delete(key);
    }
  }

  private serveQueue(): void {
    for (let next = this.findNext(); next; next = this.findNext()) {
      this.removeWaiter(next);
      next.grant(this.grantSlot(next.keys));
    }
  }

  /**
   * Returns the next caller to serve, or undefined if no waiting caller can get a slot. Chooses the caller whose most
   * recently served key was served longest ago. If callers are equal, compares their other keys, then their arrival.
   */
  private findNext(): Waiter | undefined {
    let [chosen, latest, earliest]: [Waiter | undefined, number, number] = [undefined, Infinity, Infinity];
    for (const waiter of this.queue) {
      if (!this.hasFreeSlot(waiter.keys)) continue;
      if (waiter.keys.length === 0) return waiter;
      const grants = waiter.keys.map((key) => this.lastGrants.get(key) ?? 0);
      const [late, early] = [Math.max(...grants), Math.min(...grants)];
      if (late < latest || (late === latest && early < earliest)) {
        [chosen, latest, earliest] = [waiter, late, early];
      }
    }
    return chosen;
  }

  /**
   * Makes room for a new caller with these keys: if the queue is full, rejects a waiting caller.
   * @throws NoSlotError if the narrow key has reached its limit, or if every other key has at most one more waiting
   * caller than the keys of the new caller.
   */
  private evictIfFull(keys: readonly string[]): void {
    const { waiting = Infinity, waitingPerKey = Infinity } = this.limits;
    const count = (key = ''): number => this.waitingBy.get(key);
    const [narrow, ...wide] = keys;
    if (count(narrow) >= waitingPerKey) throw new NoSlotError(true);
    const full = wide.find((key) => count(key) >= waitingPerKey);
    if (full === undefined && this.queue.length < waiting) return;
    const rivals =
      full === undefined ? this.queue : this.queue.filter((waiter) => waiter.keys.includes(full));
    const countWaiters = (waiterKeys: readonly string[]): number =>
      full === undefined ? Math.max(...waiterKeys.map((key) => count(key))) : count(waiterKeys[0]);
    const most = Math.max(...rivals.map((waiter) => countWaiters(waiter.keys)));
    const last = rivals.findLast((waiter) => countWaiters(waiter.keys) === most);
    if (!last || most <= countWaiters(keys) + 1) throw new NoSlotError(false);
    this.rejectWaiter(last, new NoSlotError(true));
  }

  private rejectWaiter(waiter: Waiter, reason: unknown): void {
    if (this.removeWaiter(waiter)) waiter.refuse(reason);
  }

  private removeWaiter(waiter: Waiter): boolean {
    const at = this.queue.indexOf(waiter);
    if (at === -1) return false;
    this.queue.splice(at, 1);
    this.waitingBy.add(waiter.keys, -1);
    return true;
  }
}

class KeyCounts {
  private readonly counts = new Map<string, number>();

  get(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  add(keys: readonly string[], change: 1 | -1): void {
    for (const key of keys) {
      const count = this.get(key) + change;
      if (count > 0) this.counts.set(key, count);
      else this.counts.delete(key);
    }
  }
}
