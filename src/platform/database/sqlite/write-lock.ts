import { FairSemaphore, type Release } from '../../common/fair-semaphore.js';

/** The calls by which another process of the service takes the write lock. */
export interface WriteLockCalls {
  /** Resolves when the caller may write, to the number of other holders since its last call. */
  takeLock: () => Promise<number>;
  releaseLock: () => void;
}

/** The same calls, as they are made from there. */
interface LockOwner {
  takeLock(): Promise<number>;
  releaseLock(): Promise<void>;
}

/**
 * The write lock of a database that has one writer at a time. The processes of a service share it, in the order of their
 * requests, so that none of them waits inside the database with its thread stopped.
 */
export class WriteLock {
  private readonly slot = new FairSemaphore({ slots: 1 });
  private others = 0;

  /** @param owner the process that has the lock, where that is another process. Calls arrive there in their order. */
  constructor(private readonly owner?: LockOwner) {}

  /** Writers of this process that wait. */
  get waiting(): number {
    return this.slot.waiting;
  }

  /** How often the lock was taken. */
  get taken(): number {
    return this.slot.granted;
  }

  /** True where writers wait, or other processes have written since the last write of this process. */
  get isContended(): boolean {
    return this.owner ? this.others > 0 : this.slot.waiting > 0;
  }

  /** Resolves when all who called before have released the lock. */
  take(): Promise<Release> {
    return this.owner ? this.takeFrom(this.owner) : this.slot.acquire();
  }

  /** Runs `work` with the lock. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.take();
    try {
      return await work();
    } finally {
      release();
    }
  }

  private async takeFrom(owner: LockOwner): Promise<Release> {
    const release = await this.slot.acquire();
    this.others = await owner.takeLock();
    return () => {
      void owner.releaseLock();
      release();
    };
  }
}

/** Lends the lock to one other process, which has one connection that writes. `end` takes it back from a process that ended. */
export function lendWriteLock(lock: WriteLock): { calls: WriteLockCalls; end: () => void } {
  let release: Release | undefined;
  let isGone = false;
  let before = lock.taken;
  const takeLock = async (): Promise<number> => {
    release = await lock.take();
    if (isGone) release();
    const others = lock.taken - before - 1;
    before = lock.taken;
    return others;
  };
  const releaseLock = (): void => release?.();
  const end = (): void => {
    isGone = true;
    releaseLock();
  };
  return { calls: { takeLock, releaseLock }, end };
}
