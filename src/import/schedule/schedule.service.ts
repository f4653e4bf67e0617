import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Cron } from 'croner';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../access/actor.js';
import { Log } from '../../platform/telemetry/log.js';
import { ProblemError, errorCode } from '../../platform/common/errors.js';
import { toProblemError } from '../../platform/http/problem.js';
import { type DbTime, now, secondsFrom, toIso, toMillis } from '../../platform/common/time.js';
import { Env } from '../../platform/config/env.js';
import { FileStore } from '../file/file-store.js';
import { RunQueue } from '../apply/run-queue.service.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { RUNNABLE, FINAL } from '../runs/run-states.js';
import { Leases } from '../../platform/database/leases/leases.service.js';
import { ChangedFile, type ClaimedFile, DropFolder, type WaitingFile } from './drop-folder.js';
import { Refusal } from './held-folder.js';
import { assertForSchedule, scheduleOptions, scheduleQuery } from './schedule-options.js';

/** Names that are logged one by one. A folder may hold any number of files. */
const MAX_NAMES = 100;

/** What is logged of the names in a folder that is looked at again and again: each once, for as long as it is there. */
export class Notices {
  private known: ReadonlyMap<string, string> = new Map();
  private seen = new Map<string, string>();
  private more = 0;
  private knownMore = false;

  /** @param folder as the operator knows it. */
  constructor(
    private readonly log: Log,
    private readonly folder: string,
  ) {}

  /** Begins to look at the folder. */
  begin(): void {
    this.seen = new Map();
    this.more = 0;
  }

  add(file: string, reason: string): void {
    if (this.seen.size >= MAX_NAMES) this.more++;
    else {
      const isNew = this.known.get(file) !== reason;
      this.seen.set(file, reason);
      if (isNew) this.log.warning('file left alone', { folder: this.folder, file, reason });
    }
  }

  /** The folder was looked at as a whole: what was not there is logged anew when it returns. */
  end(): void {
    if (this.more > 0 && !this.knownMore)
      this.log.warning('more files left alone', { folder: this.folder, files: this.more });
    this.knownMore = this.more > 0;
    this.known = this.seen;
  }
}

const LEASE = 'schedule';
const LEASE_SECONDS = 30;
/** A lease that no instance holds: its end is the time of the last tick. */
const TICK = 'schedule.tick';
/** A tick that is noted further ahead than clocks of several machines differ was noted by a clock that has been set back. */
const AHEAD_SECONDS = 60;
/** How long a tick waits for files that are still being written. */
const MAX_WAIT_MILLIS = 10 * 60 * 1000;
const TURN_MILLIS = 5000;
/** Files that are claimed and not yet imported at a time; each is a run, and each turn reads all of them. */
const MAX_CLAIMED = 100;
const CALLER: Caller = { actor: { kind: 'system', id: null }, requestId: 'schedule', ip: '' };

/**
 * Imports the files of `IMPORT_FOLDER` at the times of `IMPORT_CRON`. One instance of several does so, and makes up for
 * any number of missed ticks once. A file that cannot be imported or moved is logged and never holds up another.
 */
@Injectable()
export class ScheduleService implements BeforeApplicationShutdown {
  private readonly folder: DropFolder | undefined;
  private readonly stopping = new AbortController();
  private readonly dropped: Notices;
  private readonly processing: Notices;
  /** Claimed files that were written to while they were read; they are read again once they do not change any more. */
  private readonly unsettled = new Set<string>();
  private cron: Cron | undefined;
  private timer: NodeJS.Timeout | undefined;
  private busy: Promise<void> | undefined;
  /** When a sweep first found incomplete files, by the monotonic clock. */
  private waitingSince: number | undefined;
  private lastFault: string | undefined;

  constructor(
    private readonly env: Env,
    private readonly queue: RunQueue,
    private readonly store: FileStore,
    private readonly runs: ImportRunsRepository,
    private readonly leases: Leases,
    private readonly log: Log,
  ) {
    scheduleOptions(env); // a mistake shows at start, not at night
    const { IMPORT_FOLDER, IMPORT_PATTERN, IMPORT_WORK_FOLDER } = env;
    if (IMPORT_FOLDER !== undefined)
      this.folder = new DropFolder(IMPORT_FOLDER, IMPORT_PATTERN, IMPORT_WORK_FOLDER);
    this.dropped = new Notices(log, 'IMPORT_FOLDER');
    this.processing = new Notices(log, 'processing');
  }

  /** @throws Error when files cannot move to IMPORT_WORK_FOLDER. A folder that is away may come back. */
  async start(): Promise<void> {
    const { folder } = this;
    if (!folder) return;
    await folder.prepare().catch((error: unknown) => {
      if (errorCode(error) === undefined) throw error;
      this.report(error);
    });
    this.cron = new Cron(this.env.IMPORT_CRON, { timezone: this.env.IMPORT_TIME_ZONE, unref: true }, () => {
      this.work(folder);
    });
    this.timer = setInterval(() => {
      this.work(folder);
    }, TURN_MILLIS).unref();
    this.work(folder);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    this.cron?.stop();
    clearInterval(this.timer);
    await this.busy;
  }

  private work(folder: DropFolder): void {
    if (this.busy || this.stopping.signal.aborted) return;
    this.busy = this.turn(folder)
      .then(
        () => (this.lastFault = undefined),
        (error: unknown) => {
          this.report(error);
        },
      )
      .then(() => {
        this.busy = undefined;
      });
  }

  /** Logs what stops a whole turn, once for as long as it lasts. */
  private report(error: unknown): void {
    const fault = error instanceof Refusal ? error.message : (errorCode(error) ?? toProblemError(error).code);
    if (fault === this.lastFault) return;
    this.lastFault = fault;
    if (error instanceof Refusal) this.log.warning('schedule waits', { reason: fault });
    else this.log.fault(LEASE, toProblemError(error).code, error);
  }

  /** Under the lease: moves the files of finished runs, resumes claimed files without a run, and sweeps if a tick is due. */
  private async turn(folder: DropFolder): Promise<void> {
    await this.leases.hold(LEASE, LEASE_SECONDS, async () => {
      const room = MAX_CLAIMED - (await this.followAll(folder));
      const time = now();
      const last = await this.lastTick(time);
      // Noted once all files are claimed: a sweep that is killed, or finds no folder, is still due.
      if (last === undefined || (this.isDue(last, time) && (await this.sweep(folder, room))))
        await this.leases.note(TICK, time);
    });
  }

  /** When the last tick was; now, where that is in the future: the schedule would be silent until then. */
  private async lastTick(time: DbTime): Promise<DbTime | undefined> {
    const last = await this.leases.lastNoted(TICK);
    if (last === undefined || last <= secondsFrom(time, AHEAD_SECONDS)) return last;
    this.log.warning('clock set back', { last_tick: toIso(last) });
    await this.leases.note(TICK, time);
    return time;
  }

  /** Whether the schedule had a tick between `last` and `time`. */
  private isDue(last: DbTime, time: DbTime): boolean {
    const next = this.cron?.nextRun(new Date(toMillis(last)));
    return next !== null && next !== undefined && next.getTime() <= toMillis(time);
  }

  /**
   * Imports the complete files in the folder, at most `room` of them.
   * @returns false while the tick is not over: more files are there, or incomplete ones (for MAX_WAIT_MILLIS), or the
   * service shuts down.
   */
  private async sweep(folder: DropFolder, room: number): Promise<boolean> {
    let left = false;
    this.dropped.begin();
    for await (const file of folder.waiting()) {
      if (this.stopping.signal.aborted) return false;
      if (file.refused) this.dropped.add(file.name, file.refused.reason);
      else if (file.ready && room-- <= 0) {
        this.waitingSince = undefined;
        return false;
      } else if (!file.ready || !(await this.take(folder, file))) left = true;
    }
    this.dropped.end();
    if (left) {
      this.waitingSince ??= performance.now();
      if (performance.now() - this.waitingSince < MAX_WAIT_MILLIS) return false;
    }
    this.waitingSince = undefined;
    return true;
  }

  /** @returns false when the file cannot be moved. */
  private async take(folder: DropFolder, { name }: WaitingFile): Promise<boolean> {
    let file;
    try {
      file = await folder.claim(name, uuidv7());
    } catch (error) {
      this.dropped.add(name, `not movable to processing (${reasonOf(error)})`);
      return false;
    }
    if (file) await this.submit(folder, file);
    return true;
  }

  /** @returns the number of claimed files that wait for the importer; not those that wait for an operator. */
  private async followAll(folder: DropFolder): Promise<number> {
    let waiting = 0;
    this.processing.begin();
    for await (const file of folder.claimed()) {
      if (this.stopping.signal.aborted) return waiting;
      if (file.refused) this.processing.add(file.entry, file.refused.reason);
      else if (await this.follow(folder, file)) waiting++;
    }
    this.processing.end();
    return waiting;
  }

  /**
   * Moves a claimed file whose run has ended; imports one that was claimed before a crash and has no run.
   * @returns whether its run waits for the importer.
   */
  private async follow(folder: DropFolder, file: ClaimedFile & WaitingFile): Promise<boolean> {
    const run = await this.runs.find(file.runId);
    if (run && FINAL.includes(run.state))
      await this.archive(folder, file, run.state.startsWith('completed') ? 'done' : 'failed');
    else if (!run && (file.ready || !this.unsettled.has(file.runId))) await this.submit(folder, file);
    return !run || RUNNABLE.includes(run.state);
  }

  /** Imports a claimed file. One that cannot be read moves to `failed/`. */
  private async submit(folder: DropFolder, file: ClaimedFile): Promise<void> {
    const { signal } = this.stopping;
    this.unsettled.delete(file.runId);
    try {
      const { options, profile } = await this.queue.requestFor(file.name, scheduleQuery(this.env), CALLER);
      assertForSchedule(options);
      const stored = await this.store.store(file.name, folder.read(file, signal), file.runId);
      await this.queue.submit(stored, options, CALLER, profile);
    } catch (error) {
      if (signal.aborted && error === signal.reason) return;
      if (error instanceof Refusal) this.processing.add(file.entry, error.reason);
      else if (error instanceof ChangedFile) {
        this.unsettled.add(file.runId);
        this.processing.add(file.entry, 'still written to');
      } else {
        this.log.fault(LEASE, toProblemError(error).code, error);
        if (toProblemError(error).status === 503) return; // it is tried again
        this.log.warning('file failed', { file: file.entry, reason: reasonOf(error) });
        await this.archive(folder, file, 'failed');
      }
    }
  }

  private async archive(folder: DropFolder, file: ClaimedFile, into: 'done' | 'failed'): Promise<void> {
    try {
      await folder.archive(file, into);
    } catch (error) {
      this.processing.add(file.entry, `not movable to ${into} (${reasonOf(error)})`);
    }
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Refusal || error instanceof ProblemError ? error.message : (errorCode(error) ?? 'error');
