import { statSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError, type Fault } from '../engine/database-error.js';
import type { LogState } from './database-files.js';
import type { ReadWorker, RunCheckpoint } from './read-worker.js';
import type { SqliteConnection } from './sqlite-connection.js';
import type { WriteLock } from './write-lock.js';

const PAGE_BYTES = 4096;
/** Number of pages in the log (8 MiB) at which a checkpoint starts. A checkpoint takes some milliseconds. */
const CHECKPOINT_PAGES = 2048;
/** Minimum of this number, used if the disk is nearly full. */
const MIN_CHECKPOINT_PAGES = 64;
/** Part of the free disk space that the log may use before a checkpoint starts. */
const FREE_SPACE_SHARE = 1 / 8;
/** Number of pages (32 MiB) at which a checkpoint waits for running reads, because they prevent a restart of the log. */
const LONG_PAGES = 4 * CHECKPOINT_PAGES;
/** Number of pages (64 MiB) at which imports wait for the end of a backup. After the backup, the log is truncated. */
const MAX_PAGES = 8 * CHECKPOINT_PAGES;
/** Maximum size of the log's file while nothing is written. */
const MAX_IDLE_BYTES = 16 * 1024 ** 2;
/** Free disk space that a long log must leave, in bytes. On a small disk, a tenth of the disk. */
const RESERVE_BYTES = 1024 ** 3;

const DISK_FAULTS: readonly Fault[] = ['full', 'disk_error'];

const WATCH_MILLIS = 1000;
const PAUSE_MILLIS = 100;
/** Time for which a write waits for free disk space. */
const MAX_WAIT_MILLIS = 5000;

/**
 * The write-ahead log of a SQLite database. Checks the database's files at each commit, and checkpoints the log: SQLite
 * itself would checkpoint inside a COMMIT and block the thread.
 */
export class WriteAheadLog {
  private checkpointPages = CHECKPOINT_PAGES;
  /** Number of pages that are not checkpointed yet at which the next checkpoint starts. */
  private nextPages = CHECKPOINT_PAGES;
  private isCheckpointing = false;
  /** True if a commit has failed on a full disk since the last checkpoint. */
  private isDiskFull = false;
  /** Number of pages in the log when it was last read. */
  private pages = 0;
  private watchedPages = 0;
  private readonly timer: NodeJS.Timeout | undefined;

  /**
   * @param readers worker processes that read the file. The first one runs the checkpoints. Without readers, this process
   * runs them.
   */
  constructor(
    private readonly file: string,
    private readonly connection: SqliteConnection,
    private readonly lock: WriteLock,
    private readonly readers: readonly ReadWorker[],
  ) {
    const { files } = lock;
    files?.startChecks(this.readVersion());
    if (files?.isOwner) this.timer = setInterval(() => void this.watch(), WATCH_MILLIS).unref();
  }

  /** Files to check. Undefined if no process of this service has claimed the database. */
  private get files() {
    return this.lock.files?.stamp && this.lock.files;
  }

  /**
   * Checks the index of the log. Call it under the write lock, before a transaction begins.
   * @throws DatabaseError `replaced` if the index was overwritten.
   */
  assertIndexUnchanged(): void {
    this.files?.assertIndexUnchanged(this.readState());
  }

  /**
   * Runs `commit` and checks the files after it. Starts a checkpoint if the log is long.
   * @throws DatabaseError `replaced` if a file is no longer the one that SQLite has open, or the error of `commit`.
   */
  runCommit<T>(commit: () => T): T {
    const result = this.runAndRecordFullDisk(commit);
    const state = this.readState();
    this.files?.recordCommit(state);
    const { frames, checkpointed } = state;
    if (frames - checkpointed >= this.nextPages) this.startCheckpoint(false);
    return result;
  }

  /** @throws the error of the first failed check, because the database may contain other data now. */
  assertUsable(): void {
    if (this.lock.files?.fault) throw this.lock.files.fault;
  }

  /**
   * Waits while a backup keeps the log from restarting. An import waits if the log is long, another write only if free
   * disk space runs out.
   * @throws DatabaseError `full` if free disk space does not return.
   */
  async waitForSpace(): Promise<void> {
    const until = performance.now() + MAX_WAIT_MILLIS;
    while (this.pages > MAX_PAGES) {
      const { frames, checkpointed } = this.readState();
      const isImport = !this.lock.isOwner;
      if (frames === checkpointed || (!isImport && this.hasReserve())) return;
      if (!isImport && performance.now() > until)
        throw new DatabaseError('full', new Error('The write-ahead log would use the reserved disk space.'));
      await delay(PAUSE_MILLIS);
    }
  }

  /** Checkpoints the whole log and ends the checks. SQLite can then close the database without changing its file. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    if (this.lock.files?.isOwner && this.files)
      await this.checkpoint(true, []).catch(() => {
        this.assertUsable(); // other errors do not prevent the close
      });
    this.files?.endChecks();
  }

  /** Checks the files, and keeps the log small while nothing is written or if the disk is nearly full. */
  private async watch(): Promise<void> {
    try {
      const { frames, checkpointed } = await this.lock.runMaintenance(async () => {
        this.files?.assertUnchanged();
        const state = this.readState();
        this.files?.assertIndexUnchanged(state);
        return state;
      });
      const isIdle = frames === this.watchedPages;
      this.watchedPages = frames;
      const freePages = (this.readFreeBytes().free * FREE_SPACE_SHARE) / PAGE_BYTES;
      this.checkpointPages = Math.max(MIN_CHECKPOINT_PAGES, Math.min(CHECKPOINT_PAGES, freePages));
      const maxBytes = isIdle ? MAX_IDLE_BYTES : MAX_PAGES * PAGE_BYTES;
      const isLong = statSync(`${this.file}-wal`).size > maxBytes || (isIdle && this.isDiskFull);
      if (isLong || frames - checkpointed >= this.checkpointPages) this.startCheckpoint(true);
    } catch {
      // A failed check has been reported to the fault handler. Other errors concern the next statement too.
    }
  }

  private startCheckpoint(truncate: boolean): void {
    if (this.isCheckpointing) return;
    this.isCheckpointing = true;
    this.checkpoint(truncate, this.readers)
      .then(
        () => (this.isDiskFull = false),
        () => undefined, // the next commit starts a new attempt
      )
      .finally(() => {
        this.isCheckpointing = false;
      });
  }

  private async checkpoint(truncate: boolean, [reader, other]: readonly ReadWorker[]): Promise<void> {
    const run = (runCheckpoint: RunCheckpoint) =>
      this.lock.runMaintenance(() => this.checkpointUnderLock(truncate, runCheckpoint));
    if (!reader)
      return run(async (truncates) => {
        this.connection.runCheckpoint(truncates);
      });
    if (other && this.pages > LONG_PAGES) return other.pause(() => reader.runCheckpoint(run));
    return reader.runCheckpoint(run);
  }

  private async checkpointUnderLock(truncate: boolean, runCheckpoint: RunCheckpoint): Promise<void> {
    this.assertUsable();
    this.files?.beginCheckpoint(this.readState(), (version) => {
      this.connection.exec(`PRAGMA user_version = ${version}`);
    });
    await runCheckpoint(false);
    const { frames, checkpointed } = this.recordCheckpoint();
    // Truncate only after the checkpoint is recorded. A start after a kill would otherwise report an empty log as lost.
    if (truncate && frames === checkpointed) {
      await runCheckpoint(true);
      this.recordCheckpoint();
    }
    // Pages that a running read still needs stay in the log.
    this.nextPages = frames - checkpointed + this.checkpointPages;
  }

  private recordCheckpoint(): LogState {
    const state = this.readState();
    this.files?.endCheckpoint(state);
    return state;
  }

  /** Runs `commit`. If the disk is full, `watch` starts a checkpoint when nothing is written, to make space. */
  private runAndRecordFullDisk<T>(commit: () => T): T {
    try {
      return commit();
    } catch (error) {
      this.isDiskFull ||= error instanceof DatabaseError && DISK_FAULTS.includes(error.fault);
      throw error;
    }
  }

  private readVersion(): number {
    return (this.connection.queryOne('PRAGMA user_version', []) as { user_version: number }).user_version;
  }

  private readState(): LogState {
    const state = this.files?.readLogState() ?? this.readUncheckedState();
    this.pages = state.frames;
    return state;
  }

  /** Reads the state of an unclaimed database. The mode NOOP takes no lock and changes nothing. */
  private readUncheckedState(): LogState {
    const state = this.connection.queryOne('PRAGMA wal_checkpoint(NOOP)', []);
    const { log: frames, checkpointed } = state as { log: number; checkpointed: number };
    return { frames, checkpointed, salt: 0, checksum: [0, 0] };
  }

  private hasReserve(): boolean {
    const { free, total } = this.readFreeBytes();
    return free > Math.min(RESERVE_BYTES, total / 10);
  }

  private readFreeBytes(): { free: number; total: number } {
    const { bavail, blocks, bsize } = statfsSync(dirname(this.file));
    return { free: bavail * bsize, total: blocks * bsize };
  }
}
