import type { DatabaseFiles, FileStamp } from './database-files.js';
import { FairSemaphore, type Release } from '../../common/fair-semaphore.js';

/** The calls with which another process of the service takes and releases the write lock. */
export interface WriteLockCalls {
  /**
   * Waits for the lock. Returns how many times other callers have acquired it since this caller last acquired it, and the
   * state of the database's files.
   */
  acquireLock: () => Promise<{ others: number; stamp: FileStamp | undefined }>;
  releaseLock: (stamp: FileStamp | undefined) => void;
}

interface LockOwner extends Pick<WriteLockCalls, 'acquireLock'> {
  releaseLock(stamp: FileStamp | undefined): Promise<void>;
}

/**
 * The write lock of a SQLite database, which has one writer at a time. The processes of a service take it in the order
 * of their requests, so that no thread blocks inside SQLite.
 */
export class WriteLock {
  private readonly slot = new FairSemaphore({ slots: 1 });
  private otherHolders = 0;
  private maintenanceCount = 0;

  /**
   * @param owner the process that manages the lock. Undefined if this process manages the lock.
   * @param files the files that writers check. Undefined if this process has not claimed the database.
   */
  constructor(
    private readonly owner?: LockOwner,
    readonly files?: DatabaseFiles,
  ) {}

  /** True if this process manages the lock. */
  get isOwner(): boolean {
    return this.owner === undefined;
  }

  get waiting(): number {
    return this.slot.waiting;
  }

  /** Number of times that writers have taken the lock. */
  get takeCount(): number {
    return this.slot.grantCount - this.maintenanceCount;
  }

  /**
   * True if other writers need the lock: they wait for it, or have held it since the previous write of this process.
   */
  get isContended(): boolean {
    return this.owner ? this.otherHolders > 0 : this.slot.waiting > 0;
  }

  acquire(): Promise<Release> {
    return this.owner ? this.requestFromOwner(this.owner) : this.slot.acquire();
  }

  /** Runs maintenance under the lock, such as a checkpoint. It does not count as a write. */
  async runMaintenance<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    this.maintenanceCount++;
    try {
      return await work();
    } finally {
      release();
    }
  }

  private async requestFromOwner(owner: LockOwner): Promise<Release> {
    const release = await this.slot.acquire();
    const { files } = this;
    const { others, stamp } = await owner.acquireLock();
    this.otherHolders = others;
    if (files) files.stamp = stamp;
    return () => {
      void owner.releaseLock(files?.stamp);
      release();
    };
  }
}

/**
 * Creates the calls with which one other process takes and releases the lock. Call `end` when that process has ended,
 * to release a lock that it still holds.
 */
export function createWriteLockCalls(lock: WriteLock): { calls: WriteLockCalls; end: () => void } {
  let release: Release | undefined;
  let isGone = false;
  let before = lock.takeCount;
  const acquireLock = async () => {
    release = await lock.acquire();
    if (isGone) release();
    const others = lock.takeCount - before - 1;
    before = lock.takeCount;
    return { others, stamp: lock.files?.stamp };
  };
  const releaseLock = (stamp: FileStamp | undefined): void => {
    if (lock.files) lock.files.stamp = stamp;
    release?.();
    release = undefined;
  };
  const end = (): void => {
    isGone = true;
    // The process may have ended during a checkpoint.
    if (release) lock.files?.forgetStamp();
    if (release) releaseLock(lock.files?.stamp);
  };
  return { calls: { acquireLock, releaseLock }, end };
}
