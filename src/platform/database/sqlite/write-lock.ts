import { FairSemaphore, type Release } from '../../common/fair-semaphore.js';

/** The calls with which another process of the service takes and releases the write lock. */
export interface WriteLockCalls {
  /**
   * Waits until the caller holds the lock. Returns the number of times that other callers have held the lock since
   * the last call of this caller.
   */
  acquireLock: () => Promise<number>;
  releaseLock: () => void;
}

/** `WriteLockCalls` as the calling process sees them: each call returns a promise. */
interface LockOwner {
  acquireLock(): Promise<number>;
  releaseLock(): Promise<void>;
}

/**
 * The write lock of a SQLite database, which has one writer at a time. The processes of a service take it in the order
 * of their requests, so that no thread blocks inside SQLite.
 */
export class WriteLock {
  private readonly slot = new FairSemaphore({ slots: 1 });
  private otherHolders = 0;

  /** @param owner the process that manages the lock. Undefined if this process manages the lock. */
  constructor(private readonly owner?: LockOwner) {}

  /** Number of waiting writers of this process. */
  get waiting(): number {
    return this.slot.waiting;
  }

  get takeCount(): number {
    return this.slot.grantCount;
  }

  /**
   * True if other writers need the lock. In the process that manages the lock, this means that writers wait. In another
   * process, it means that other writers held the lock between the last two writes of that process.
   */
  get isContended(): boolean {
    return this.owner ? this.otherHolders > 0 : this.slot.waiting > 0;
  }

  /** Takes the lock as soon as all earlier callers have released it. */
  acquire(): Promise<Release> {
    return this.owner ? this.acquireFrom(this.owner) : this.slot.acquire();
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }

  private async acquireFrom(owner: LockOwner): Promise<Release> {
    const release = await this.slot.acquire();
    this.otherHolders = await owner.acquireLock();
    return () => {
      void owner.releaseLock();
      release();
    };
  }
}

/**
 * Creates the calls with which one other process takes and releases the lock. Call `end` when that process has ended,
 * so that a lock that it still holds is released.
 */
export function createWriteLockCalls(lock: WriteLock): { calls: WriteLockCalls; end: () => void } {
  let release: Release | undefined;
  let isGone = false;
  let before = lock.takeCount;
  const acquireLock = async (): Promise<number> => {
    release = await lock.acquire();
    if (isGone) release();
    const others = lock.takeCount - before - 1;
    before = lock.takeCount;
    return others;
  };
  const releaseLock = (): void => release?.();
  const end = (): void => {
    isGone = true;
    releaseLock();
  };
  return { calls: { acquireLock, releaseLock }, end };
}
