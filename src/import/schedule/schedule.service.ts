import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Cron } from 'croner';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Caller } from '../../access/actor.js';
import { Log } from '../../platform/telemetry/log.js';
import { ProblemError, createUnavailableError, errorCodeOf } from '../../platform/common/errors.js';
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
import { SkippedFileLog } from './skipped-file-log.js';
import { assertSchedulable, readScheduleOptions, getRawOptions } from './schedule-options.js';

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
const RETRY_SECONDS = 30;
const READY = 'complete, waits for the next check';
const CHANGING = 'changed within the last 10 seconds, without a marker file';
/** Maximum number of files in `processing/` whose runs are queued or in progress. Each pass reads all of these runs. */
const MAX_PROCESSING = 100;
const CALLER: Caller = { actor: { kind: 'system', id: null }, requestId: 'schedule', ip: '' };

/** Maximum number of files in the report of the drop folder. */
export const MAX_FILES = 100;

/** A file that the schedule has taken. If the file was refused without a run, `run` is null and `reason` is set. */
export interface TakenFile {
  name: string;
  run: string | null;
  reason: string;
}

interface Taken {
  files: TakenFile[];
  /** True if files remain that the same tick should import. */
  isUnfinished: boolean;
}

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
  private readonly cron: Cron;
  private timer: NodeJS.Timeout | undefined;
  private currentPass: Promise<unknown> | undefined;
  /** Monotonic time at which the current tick first found incomplete files. Undefined if it waits for no files. */
  private waitingSince: number | undefined;
  private lastFault: string | undefined;
  private pendingCheck: Promise<void> | undefined;
  /** Name of the lease that stores when the work folder was first used. */
  private readonly firstUseLease: string;
  /** True if the work folder was never used, so that it may be empty. */
  private isNew: boolean | undefined;
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
    this.cron = new Cron(env.IMPORT_CRON, { timezone: env.IMPORT_TIME_ZONE, unref: true });
  }

  /**
   * Starts the schedule. If a folder is unavailable, logs the error.
   * @throws Error if IMPORT_WORK_FOLDER is on another file system than IMPORT_FOLDER.
   */
  async start(): Promise<void> {
    const { folder } = this;
    if (!folder) return;
    if (await this.isAvailable(folder))
      await folder.probeWorkFolder().catch((error: unknown) => {
        if (errorCodeOf(error) === undefined) throw error;
        this.logError(error);
      });
    const run = async () => {
      if (await this.isAvailable(folder)) this.startPass(folder);
    };
    this.cron.schedule(run);
    this.timer = setInterval(() => void run(), INTERVAL_MILLIS).unref();
    await run();
  }

  /** Ends the pass, but does not wait for a folder that does not respond. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    this.cron.stop();
    clearInterval(this.timer);
    await Promise.race([this.currentPass, delay(RESPONSE_MILLIS, undefined, { ref: false })]);
  }

  /**
   * Returns the drop folder.
   * @throws ProblemError `wrong_state` if there is no schedule, `unavailable` if the folder is not available on this
   * instance.
   */
  async getFolder(): Promise<DropFolder> {
    if (!this.folder)
      throw new ProblemError('wrong_state', 'There is no schedule. Set IMPORT_FOLDER and IMPORT_CRON first.');
    if (await this.isAvailable(this.folder)) return this.folder;
    throw createUnavailableError(`The drop folder is unavailable: ${this.folderFault ?? ''}.`, RETRY_SECONDS);
  }

  /** Returns the times of the schedule and the files in its folder, with the reason why each file waits. */
  async readState() {
    const { folder } = this;
    if (!folder) return undefined;
    const files: { file: FolderFile; reason: string }[] = [];
    if (await this.isAvailable(folder)) {
      for await (const file of folder.listDropped(folder.isFileName.bind(folder))) {
        const waiting = file.isComplete ? READY : CHANGING;
        files.push({ file, reason: file.rejection?.reason ?? this.dropFolderLog.find(file.name) ?? waiting });
        if (files.length === MAX_FILES) break;
      }
    }
    const last = await this.leases.findRecordedTime(TICK);
    return { files, fault: this.folderFault, next: this.cron.nextRun(), last: last ?? null };
  }

  /**
   * Imports the complete files now, without waiting for other files or for capacity.
   * @throws ProblemError `unavailable` if files are already being taken, or an error of `getFolder`.
   */
  async takeFiles(): Promise<TakenFile[]> {
    const folder = await this.getFolder();
    let result: Taken | undefined;
    for (let waited = 0; !result && waited < RESPONSE_MILLIS; waited += POLL_MILLIS) {
      if (waited > 0) await delay(POLL_MILLIS);
      if (this.stopping.signal.aborted) break;
      if (this.currentPass) continue;
      const taking = this.leases.runUnderLease(LEASE, LEASE_SECONDS, async () => {
        result = await this.importDroppedFiles(folder, false);
        if (!result.isUnfinished) await this.leases.recordTime(TICK, now());
      });
      this.setCurrentPass(taking.catch(() => undefined));
      await taking;
    }
    if (result) return result.files;
    throw createUnavailableError(
      'The schedule is taking files at the moment. Try again later.',
      RETRY_SECONDS,
    );
  }

  /** Checks the folders, even during a pass. If they are not available, logs the error and sets `folderFault`. */
  private async isAvailable(folder: DropFolder): Promise<boolean> {
    this.isNew ??= (await this.leases.findRecordedTime(this.firstUseLease)) === undefined;
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
    this.setCurrentPass(
      this.runPass(folder).then(() => (this.lastFault = undefined), this.logError.bind(this)),
    );
  }

  private setCurrentPass(pass: Promise<unknown>): void {
    this.currentPass = pass.finally(() => (this.currentPass = undefined));
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
      if (last === undefined || (this.isDue(last, time) && (await this.runTick(folder))))
        await this.leases.recordTime(TICK, time);
    });
  }

  private isDue(last: DbTime, time: DbTime): boolean {
    const next = this.cron.nextRun(new Date(toMillis(last)));
    return next !== null && next.getTime() <= toMillis(time);
  }

  /** @returns true if the tick is done, false if the next pass must continue with remaining files. */
  private async runTick(folder: DropFolder): Promise<boolean> {
    const { isUnfinished } = await this.importDroppedFiles(folder, true);
    if (this.stopping.signal.aborted) return false;
    if (isUnfinished) {
      this.waitingSince ??= performance.now();
      if (performance.now() - this.waitingSince < MAX_WAIT_MILLIS) return false;
    }
    this.waitingSince = undefined;
    return true;
  }

  /**
   * Imports the complete files in the folder, which it lists once.
   * @param waits true to wait for capacity, false to leave the remaining files.
   */
  private async importDroppedFiles(folder: DropFolder, waits: boolean): Promise<Taken> {
    const taken: Taken = { files: [], isUnfinished: false };
    this.dropFolderLog.startPass();
    let capacity = await this.findCapacity(folder, waits);
    for await (const file of folder.listDropped()) {
      if (this.stopping.signal.aborted || capacity <= 0) return { ...taken, isUnfinished: true };
      if (file.rejection) this.dropFolderLog.add(file.name, file.rejection.reason);
      else if (!file.isComplete || !(await this.importDroppedFile(folder, file, taken.files)))
        taken.isUnfinished = true;
      // Wait here, so that the next file is inspected after the wait.
      else if (--capacity <= 0) capacity = await this.findCapacity(folder, waits);
    }
    this.dropFolderLog.endPass();
    return taken;
  }

  /**
   * Returns the number of files to import next, so that at most MAX_PROCESSING files wait for their runs.
   * @param waits true to wait until the number is positive.
   */
  private async findCapacity(folder: DropFolder, waits: boolean): Promise<number> {
    const { signal } = this.stopping;
    for (;;) {
      const capacity = MAX_PROCESSING - (await this.resumeOrArchiveAll(folder));
      if (capacity > 0 || signal.aborted || !waits) return capacity;
      await delay(POLL_MILLIS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Moves a file to `processing/`, imports it and adds it to `taken`. @returns false if the file cannot be moved. */
  private async importDroppedFile(
    folder: DropFolder,
    { name }: FolderFile,
    taken: TakenFile[],
  ): Promise<boolean> {
    const id = await this.runs.createId();
    let file;
    try {
      file = await folder.moveToProcessing(name, id);
    } catch (error) {
      this.dropFolderLog.add(name, `cannot be moved to processing (${reasonOf(error)})`);
      return false;
    }
    const fault = file && (await this.submit(folder, file));
    if (file) taken.push({ name, run: fault === undefined ? id : null, reason: fault ?? '' });
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

  /**
   * Queues a file in `processing/` as a run. After a permanent error, moves the file to `failed/`.
   * @returns the reason why there is no run yet, or undefined.
   */
  private async submit(folder: DropFolder, file: ProcessingFile): Promise<string | undefined> {
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
      return undefined;
    } catch (error) {
      if (signal.aborted && error === signal.reason) return 'shutdown';
      if (error instanceof EntryError) this.processingLog.add(file.entry, error.reason);
      else if (error instanceof FileChangedError) {
        this.changing.add(file.runId);
        this.processingLog.add(file.entry, error.message);
      } else {
        this.log.logFault(LEASE, toProblemError(error).code, error);
        // This failure is temporary, so the next pass tries again.
        if (toProblemError(error).status === 503) return reasonOf(error);
        this.log.warn('file failed', { file: file.entry, reason: reasonOf(error) });
        await this.archive(folder, file, 'failed');
      }
      return reasonOf(error);
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
  error instanceof EntryError || error instanceof FileChangedError || error instanceof ProblemError
    ? error.message
    : (errorCodeOf(error) ?? 'error');
