import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Cron } from 'croner';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Caller } from '../../access/actor.js';
import { Log } from '../../platform/telemetry/log.js';
import { ProblemError, errorCodeOf } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/secrets.js';
import { toProblemError } from '../../platform/http/problem.js';
import { type DbTime, now, toMillis } from '../../platform/common/time.js';
import { Env } from '../../platform/config/env.js';
import { FileStore } from '../file/file-store.js';
import { RunQueue } from '../apply/run-queue.service.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { RUNNABLE, FINAL } from '../runs/run-states.js';
import { Leases } from '../../platform/database/leases/leases.service.js';
import { FileChangedError, type ProcessingFile, DropFolder, type FolderFile } from './drop-folder.js';
import { EntryError } from './open-folder.js';
import { assertSchedulable, readScheduleOptions, getRawOptions } from './schedule-options.js';

/** Maximum number of files that are logged individually. */
const MAX_NAMES = 100;

/** Logs skipped files of a folder that is read repeatedly. Logs the same file with the same reason only once. */
class SkippedFileLog {
  private logged: ReadonlyMap<string, string> = new Map();
  private current = new Map<string, string>();
  private unlisted = 0;
  private hasLoggedUnlisted = false;

  constructor(
    private readonly log: Log,
    private readonly folder: string,
  ) {}

  startPass(): void {
    this.current = new Map();
    this.unlisted = 0;
  }

  add(file: string, reason: string): void {
    if (this.current.size >= MAX_NAMES) this.unlisted++;
    else {
      const isNew = this.logged.get(file) !== reason;
      this.current.set(file, reason);
      if (isNew) this.log.warn('file skipped', { folder: this.folder, file, reason });
    }
  }

  /**
   * Ends a pass. Forgets files that were not skipped in this pass, so that they are logged if they are skipped again.
   */
  endPass(): void {
    if (this.unlisted > 0 && !this.hasLoggedUnlisted)
      this.log.warn('more files skipped', { folder: this.folder, files: this.unlisted });
    this.hasLoggedUnlisted = this.unlisted > 0;
    this.logged = this.current;
  }
}

const LEASE = 'schedule';
const LEASE_SECONDS = 30;
/** Name of the lease that stores the time of the last tick. No instance ever holds it. */
const TICK = 'schedule.tick';
/** Maximum time for which a tick waits for incomplete files. */
const MAX_WAIT_MILLIS = 10 * 60 * 1000;
const INTERVAL_MILLIS = 5000;
/** Maximum time for which the schedule waits for a folder, whose file server may be unreachable. */
const RESPONSE_MILLIS = 10_000;
/** Interval between two checks for finished runs while the maximum number of files is in `processing/`. */
const POLL_MILLIS = 250;
/** Maximum number of files in `processing/` whose runs are queued or in progress. Each pass reads all of these runs. */
const MAX_PROCESSING = 100;
const CALLER: Caller = { actor: { kind: 'system', id: null }, requestId: 'schedule', ip: '' };

/**
 * Imports the files in `IMPORT_FOLDER` at the times of `IMPORT_CRON`, on one instance at a time. After several missed
 * ticks, imports the files only once. A file that cannot be imported or moved is logged and does not block other files.
 */
@Injectable()
export class ScheduleService implements BeforeApplicationShutdown {
  private readonly folder: DropFolder | undefined;
  private readonly stopping = new AbortController();
  private readonly dropFolderLog = new SkippedFileLog(this.log, 'IMPORT_FOLDER');
  private readonly processingLog = new SkippedFileLog(this.log, 'processing');
  /** Run ids of files that changed during reading. These files are read again when they are complete. */
  private readonly changing = new Set<string>();
  private cron: Cron | undefined;
  private timer: NodeJS.Timeout | undefined;
  private currentPass: Promise<void> | undefined;
  /** Monotonic time at which the current tick first found incomplete files. Undefined if it waits for no files. */
  private waitingSince: number | undefined;
  private lastFault: string | undefined;
  private pendingCheck: Promise<void> | undefined;
  /** Name of the lease that stores when the work folder was first used. */
  private readonly firstUseLease: string;
  /** True if the work folder was never used, so that it may be empty. */
  private isNew = false;
  /** Reason why the drop folder is unavailable, or undefined if it is available. */
  folderFault: string | undefined;
  /** Time at which this instance last found the drop folder available, or null before the first time. */
  lastAvailable: DbTime | null = null;

  constructor(
    private readonly env: Env,
    private readonly queue: RunQueue,
    private readonly store: FileStore,
    private readonly runs: ImportRunsRepository,
    private readonly leases: Leases,
    private readonly log: Log,
  ) {
    // Report invalid options at startup.
    readScheduleOptions(env);
    const { IMPORT_FOLDER, IMPORT_PATTERN, IMPORT_WORK_FOLDER } = env;
    if (IMPORT_FOLDER !== undefined)
      this.folder = new DropFolder(IMPORT_FOLDER, IMPORT_PATTERN, IMPORT_WORK_FOLDER);
    const hash = sha256(resolve(IMPORT_WORK_FOLDER ?? IMPORT_FOLDER ?? ''));
    this.firstUseLease = `${LEASE}.folder.${hash.slice(0, 16)}`;
  }

  /**
   * Starts the schedule. If a folder is unavailable, logs the error.
   * @throws Error if IMPORT_WORK_FOLDER is on another file system than IMPORT_FOLDER.
   */
  async start(): Promise<void> {
    const { folder } = this;
    if (!folder) return;
    this.isNew = (await this.leases.findRecordedTime(this.firstUseLease)) === undefined;
    if (await this.isAvailable(folder))
      await folder.probeWorkFolder().catch((error: unknown) => {
        if (errorCodeOf(error) === undefined) throw error;
        this.logError(error);
      });
    const run = async () => {
      if (await this.isAvailable(folder)) this.startPass(folder);
    };
    this.cron = new Cron(this.env.IMPORT_CRON, { timezone: this.env.IMPORT_TIME_ZONE, unref: true }, run);
    this.timer = setInterval(() => void run(), INTERVAL_MILLIS).unref();
    await run();
  }

  /** Ends the pass, but does not wait for a folder that does not respond. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    this.cron?.stop();
    clearInterval(this.timer);
    await Promise.race([this.currentPass, delay(RESPONSE_MILLIS, undefined, { ref: false })]);
  }

  /** Checks the folders, even during a pass. If they are not available, logs the error and sets `folderFault`. */
  private async isAvailable(folder: DropFolder): Promise<boolean> {
    // Do not start a second check while one is pending, because a check without an answer occupies a thread.
    this.pendingCheck ??= folder.check(this.isNew).finally(() => (this.pendingCheck = undefined));
    const timeout = new Promise<never>((_, reject) => {
      setTimeout(reject, RESPONSE_MILLIS, new EntryError('drop folder', 'not responding')).unref();
    });
    try {
      await Promise.race([this.pendingCheck, timeout]);
      if (this.isNew) await this.leases.recordTime(this.firstUseLease, now());
    } catch (error) {
      this.folderFault = reasonOf(error);
      this.logError(error);
      return false;
    }
    if (this.folderFault !== undefined) this.log.info('drop folder available');
    this.isNew = false;
    this.folderFault = undefined;
    this.lastAvailable = now();
    return true;
  }

  private startPass(folder: DropFolder): void {
    if (this.currentPass || this.stopping.signal.aborted) return;
    this.currentPass = this.runPass(folder)
      .then(() => (this.lastFault = undefined), this.logError.bind(this))
      .finally(() => (this.currentPass = undefined));
  }

  /** Logs an error, unless the previous pass ended with the same error. */
  private logError(error: unknown): void {
    const text =
      error instanceof EntryError ? error.message : (errorCodeOf(error) ?? toProblemError(error).code);
    if (text === this.lastFault) return;
    this.lastFault = text;
    if (error instanceof EntryError) this.log.warn('drop folder unusable', { reason: text });
    else this.log.logFault(LEASE, toProblemError(error).code, error);
  }

  /**
   * Runs one pass while the lease is held. Archives files of finished runs, imports files in `processing/` without a
   * run, and imports new files if a tick is due.
   */
  private async runPass(folder: DropFolder): Promise<void> {
    await this.leases.runUnderLease(LEASE, LEASE_SECONDS, async () => {
      await this.resumeOrArchiveAll(folder);
      const time = now();
      const last = await this.leases.findRecordedTime(TICK);
      // Record the tick after the import of its files, so that it stays due if the process is killed.
      if (last === undefined || (this.isDue(last, time) && (await this.importDroppedFiles(folder))))
        await this.leases.recordTime(TICK, time);
    });
  }

  private isDue(last: DbTime, time: DbTime): boolean {
    const next = this.cron?.nextRun(new Date(toMillis(last)));
    return next !== null && next !== undefined && next.getTime() <= toMillis(time);
  }

  /**
   * Imports the complete files in the folder, which it lists once.
   * @returns true if the tick is done. Returns false if the next pass must continue, because of remaining files,
   * incomplete files or a shutdown.
   */
  private async importDroppedFiles(folder: DropFolder): Promise<boolean> {
    let isUnfinished = false;
    this.dropFolderLog.startPass();
    let capacity = await this.waitForCapacity(folder);
    for await (const file of folder.listDropped()) {
      if (this.stopping.signal.aborted) return false;
      if (file.rejection) this.dropFolderLog.add(file.name, file.rejection.reason);
      else if (!file.isComplete || !(await this.importDroppedFile(folder, file))) isUnfinished = true;
      // Wait here, so that the next file is inspected after the wait.
      else if (--capacity <= 0) capacity = await this.waitForCapacity(folder);
    }
    this.dropFolderLog.endPass();
    if (isUnfinished) {
      this.waitingSince ??= performance.now();
      if (performance.now() - this.waitingSince < MAX_WAIT_MILLIS) return false;
    }
    this.waitingSince = undefined;
    return true;
  }

  /** Waits until fewer than MAX_PROCESSING files wait for their runs. @returns the number of files to import next. */
  private async waitForCapacity(folder: DropFolder): Promise<number> {
    const { signal } = this.stopping;
    for (;;) {
      const capacity = MAX_PROCESSING - (await this.resumeOrArchiveAll(folder));
      if (capacity > 0 || signal.aborted) return capacity;
      await delay(POLL_MILLIS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Moves a file to `processing/` and imports it. @returns false if the file cannot be moved. */
  private async importDroppedFile(folder: DropFolder, { name }: FolderFile): Promise<boolean> {
    const id = await this.runs.createId();
    let file;
    try {
      file = await folder.moveToProcessing(name, id);
    } catch (error) {
      this.dropFolderLog.add(name, `cannot be moved to processing (${reasonOf(error)})`);
      return false;
    }
    if (file) await this.submit(folder, file);
    return true;
  }

  /**
   * Archives files in `processing/` whose runs have ended, and imports files without a run.
   * @returns the number of files whose runs are queued or in progress.
   */
  private async resumeOrArchiveAll(folder: DropFolder): Promise<number> {
    let waiting = 0;
    this.processingLog.startPass();
    for await (const file of folder.listProcessing()) {
      if (this.stopping.signal.aborted) return waiting;
      if (file.rejection) this.processingLog.add(file.entry, file.rejection.reason);
      else if (await this.resumeOrArchive(folder, file)) waiting++;
    }
    this.processingLog.endPass();
    return waiting;
  }

  /**
   * Archives a file in `processing/` if its run has ended, and imports it if a crash has left it without a run.
   * @returns true if the run of the file is queued or in progress.
   */
  private async resumeOrArchive(folder: DropFolder, file: ProcessingFile & FolderFile): Promise<boolean> {
    const run = await this.runs.find(file.runId);
    if (run && FINAL.includes(run.state))
      await this.archive(folder, file, run.state.startsWith('completed') ? 'done' : 'failed');
    else if (!run && (file.isComplete || !this.changing.has(file.runId))) await this.submit(folder, file);
    return !run || RUNNABLE.includes(run.state);
  }

  /** Queues a file in `processing/` as a run. After a permanent error, moves the file to `failed/`. */
  private async submit(folder: DropFolder, file: ProcessingFile): Promise<void> {
    const { signal } = this.stopping;
    this.changing.delete(file.runId);
    try {
      const settings = getRawOptions(this.env);
      const requested = await this.queue.readOptionsForFile(file.name, settings, CALLER);
      assertSchedulable(requested.options);
      const stored = await this.store.store(file.name, folder.read(file, signal), file.runId);
      const bytes = this.store.read(stored.runId);
      const { options, profile } = await this.queue.adaptToFile(requested, settings, CALLER, bytes);
      await this.queue.submit(stored, options, CALLER, profile);
    } catch (error) {
      if (signal.aborted && error === signal.reason) return;
      if (error instanceof EntryError) this.processingLog.add(file.entry, error.reason);
      else if (error instanceof FileChangedError) {
        this.changing.add(file.runId);
        this.processingLog.add(file.entry, 'still being written');
      } else {
        this.log.logFault(LEASE, toProblemError(error).code, error);
        // This failure is temporary, so the next pass tries again.
        if (toProblemError(error).status === 503) return;
        this.log.warn('file failed', { file: file.entry, reason: reasonOf(error) });
        await this.archive(folder, file, 'failed');
      }
    }
  }

  private async archive(folder: DropFolder, file: ProcessingFile, stage: 'done' | 'failed'): Promise<void> {
    try {
      await folder.archive(file, stage);
    } catch (error) {
      this.processingLog.add(file.entry, `cannot be moved to ${stage} (${reasonOf(error)})`);
    }
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof EntryError || error instanceof ProblemError
    ? error.message
    : (errorCodeOf(error) ?? 'error');
