import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Cron } from 'croner';
import { createReadStream } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../access/actor.js';
import { Log } from '../../telemetry/log.js';
import { toProblemError } from '../../http/problem.js';
import { type DbTime, now, toMillis } from '../../common/time.js';
import { Env } from '../../config/env.js';
import { ImportStore } from '../file/import-store.js';
import { ImportsService } from '../imports.service.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { isFinal } from '../runs/import-run.js';
import { Leases } from '../../leases/leases.service.js';
import { type ClaimedFile, DropFolder } from './drop-folder.js';
import { scheduleOptions } from './schedule-options.js';

const LEASE = 'schedule';
const LEASE_SECONDS = 30;
/** The lease whose end is the time of the last tick. */
const TICK = 'schedule.tick';
/** How long a tick waits for files that are still being written. */
const PATIENCE_MILLIS = 10 * 60 * 1000;
const LOOK_MILLIS = 1000;
const HOUSEKEEPING_MILLIS = 5000;
const CALLER: Caller = { actor: { kind: 'system', id: null }, requestId: 'schedule', ip: '' };

/** Imports what lies in `IMPORT_FOLDER` at the times of `IMPORT_CRON`: one instance of several, a missed tick once. */
@Injectable()
export class ScheduleService implements BeforeApplicationShutdown {
  private readonly folder: DropFolder | undefined;
  private readonly stopping = new AbortController();
  private cron: Cron | undefined;
  private timer: NodeJS.Timeout | undefined;
  private busy: Promise<void> | undefined;

  constructor(
    private readonly env: Env,
    private readonly imports: ImportsService,
    private readonly store: ImportStore,
    private readonly runs: ImportRunsRepository,
    private readonly leases: Leases,
    private readonly log: Log,
  ) {
    scheduleOptions(env.IMPORT_OPTIONS); // a mistake shows at start, not at night
    if (env.IMPORT_FOLDER !== undefined) this.folder = new DropFolder(env.IMPORT_FOLDER, env.IMPORT_PATTERN);
  }

  start(): void {
    const { folder } = this;
    if (!folder) return;
    this.cron = new Cron(this.env.IMPORT_CRON, { timezone: this.env.IMPORT_TIME_ZONE, unref: true }, () => {
      this.work(folder);
    });
    this.timer = setInterval(() => {
      this.work(folder);
    }, HOUSEKEEPING_MILLIS).unref();
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
      .catch((error: unknown) => {
        this.log.fault(LEASE, toProblemError(error).code, error);
      })
      .finally(() => {
        this.busy = undefined;
      });
  }

  /** One instance at a time: puts away what has ended, takes up what was left behind, and fires where a tick is due. */
  private async turn(folder: DropFolder): Promise<void> {
    await this.leases.hold(LEASE, LEASE_SECONDS, async () => {
      for (const file of await folder.claimed()) await this.follow(folder, file);
      const time = now();
      const last = await this.leases.lastNoted(TICK);
      // Noted when all is claimed: a sweep that is killed, or finds no folder, is due still.
      if (last === undefined || (this.isDue(last, time) && (await this.sweep(folder))))
        await this.leases.note(TICK, time);
    });
  }

  /** Whether there was a tick since the last one, or any number of them; never for the time before the first start. */
  private isDue(last: DbTime, time: DbTime): boolean {
    const next = this.cron?.nextRun(new Date(toMillis(last)));
    return next !== null && next !== undefined && next.getTime() <= toMillis(time);
  }

  /** @returns whether it came to its end: false when the service ends meanwhile. */
  private async sweep(folder: DropFolder): Promise<boolean> {
    const until = Date.now() + PATIENCE_MILLIS;
    for (let files = await folder.waiting(); files.length > 0; files = await folder.waiting()) {
      for (const { name } of files.filter(({ ready }) => ready)) {
        const file = await folder.claim(name, uuidv7());
        if (file) await this.take(folder, file);
      }
      if (files.every(({ ready }) => ready) || Date.now() > until) return true;
      if (this.stopping.signal.aborted) return false;
      await delay(LOOK_MILLIS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
    return true;
  }

  /** A file that has been claimed: of a run that has ended, or one that was killed before it was a run. */
  private async follow(folder: DropFolder, file: ClaimedFile): Promise<void> {
    const run = await this.runs.find(file.runId);
    if (!run) return this.take(folder, file);
    if (!isFinal(run.state)) return;
    await folder.file(file, run.state.startsWith('completed') ? 'done' : 'failed');
  }

  /** A file that cannot be read is put aside, so that it does not block the next one. */
  private async take(folder: DropFolder, file: ClaimedFile): Promise<void> {
    try {
      const stored = await this.store.store(file.name, createReadStream(file.path), file.runId);
      await this.imports.start(stored, scheduleOptions(this.env.IMPORT_OPTIONS), CALLER);
    } catch (error) {
      this.log.fault(LEASE, toProblemError(error).code, error);
      if (toProblemError(error).code !== 'unavailable') await folder.file(file, 'failed');
    }
  }
}
