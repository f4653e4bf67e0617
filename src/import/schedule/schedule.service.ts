import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Cron } from 'croner';
import { createReadStream } from 'node:fs';
import { parse } from 'node:querystring';
import { setTimeout as delay } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../access/actor.js';
import { RoleCatalogue } from '../../access/roles.js';
import { Log } from '../../telemetry/log.js';
import { toProblemError } from '../../http/problem.js';
import { type DbTime, now, toMillis } from '../../common/time.js';
import { Env } from '../../config/env.js';
import { ImportStore } from '../file/import-store.js';
import { RunQueue } from '../apply/run-queue.service.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { readInput } from '../../input/read-input.js';
import { ImportOptions } from '../runs/import-options.js';
import { isFinal } from '../runs/import-run.js';
import { Leases } from '../../leases/leases.service.js';
import { type ClaimedFile, DropFolder } from './drop-folder.js';

const LEASE = 'schedule';
const LEASE_SECONDS = 30;
/** A lease that nobody holds: its end is the time of the last tick. */
const TICK = 'schedule.tick';
/** How long a tick waits for files that are still being written. */
const MAX_WAIT_MILLIS = 10 * 60 * 1000;
const RECHECK_MILLIS = 1000;
const HOUSEKEEPING_MILLIS = 5000;
const CALLER: Caller = { actor: { kind: 'system', id: null }, requestId: 'schedule', ip: '' };

/** Options that a schedule may not set, because nobody watches its runs. */
const NEVER = ['allow_privileged', 'dry_run', 'expected_rows'];

/**
 * The options in `IMPORT_OPTIONS`, written as in the query of `POST /imports`.
 * @throws Error naming each option that is unknown or has a bad value.
 */
export function scheduleOptions({ IMPORT_OPTIONS, EXTRA_ROLES }: Env): ImportOptions {
  const query = { ...parse(IMPORT_OPTIONS) };
  const { value, errors } = readInput(ImportOptions, query);
  const roles = new RoleCatalogue(EXTRA_ROLES);
  const unknown = value.default_roles?.filter((role) => roles.find(role) === undefined) ?? [];
  const faults = [
    ...errors.map(({ field, message }) => `${field} ${message}`),
    ...unknown.map((role) => `default_roles names "${role}", which is not a role of this service`),
    ...NEVER.filter((name) => name in query).map((name) => `${name} is not for schedules`),
  ];
  if (faults.length > 0) throw new Error(`IMPORT_OPTIONS: ${faults.join('; ')}`);
  return value;
}

/**
 * Imports the files of `IMPORT_FOLDER` at the times of `IMPORT_CRON`. One instance of several does so, and makes up for
 * any number of missed ticks once.
 */
@Injectable()
export class ScheduleService implements BeforeApplicationShutdown {
  private readonly folder: DropFolder | undefined;
  private readonly stopping = new AbortController();
  private cron: Cron | undefined;
  private timer: NodeJS.Timeout | undefined;
  private busy: Promise<void> | undefined;

  constructor(
    private readonly env: Env,
    private readonly queue: RunQueue,
    private readonly store: ImportStore,
    private readonly runs: ImportRunsRepository,
    private readonly leases: Leases,
    private readonly log: Log,
  ) {
    scheduleOptions(env); // a mistake shows at start, not at night
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

  /** Under the lease: moves the files of finished runs, resumes claimed files without a run, and sweeps if a tick is due. */
  private async turn(folder: DropFolder): Promise<void> {
    await this.leases.hold(LEASE, LEASE_SECONDS, async () => {
      for (const file of await folder.claimed()) await this.follow(folder, file);
      const time = now();
      const last = await this.leases.lastNoted(TICK);
      // Noted once all files are claimed: a sweep that is killed, or finds no folder, is still due.
      if (last === undefined || (this.isDue(last, time) && (await this.sweep(folder))))
        await this.leases.note(TICK, time);
    });
  }

  /** Whether the schedule had a tick between `last` and `time`. */
  private isDue(last: DbTime, time: DbTime): boolean {
    const next = this.cron?.nextRun(new Date(toMillis(last)));
    return next !== null && next !== undefined && next.getTime() <= toMillis(time);
  }

  /** Imports all files in the folder, waiting for incomplete ones. @returns false when a shutdown interrupts it. */
  private async sweep(folder: DropFolder): Promise<boolean> {
    const until = Date.now() + MAX_WAIT_MILLIS;
    for (let files = await folder.waiting(); files.length > 0; files = await folder.waiting()) {
      for (const { name } of files.filter(({ ready }) => ready)) {
        const file = await folder.claim(name, uuidv7());
        if (file) await this.submit(folder, file);
      }
      if (files.every(({ ready }) => ready) || Date.now() > until) return true;
      if (this.stopping.signal.aborted) return false;
      await delay(RECHECK_MILLIS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
    return true;
  }

  /** Moves a claimed file whose run has ended; imports one that was claimed before a crash and has no run. */
  private async follow(folder: DropFolder, file: ClaimedFile): Promise<void> {
    const run = await this.runs.find(file.runId);
    if (!run) return this.submit(folder, file);
    if (!isFinal(run.state)) return;
    await folder.archive(file, run.state.startsWith('completed') ? 'done' : 'failed');
  }

  /** Imports a claimed file. One that cannot be read moves to `failed/`, so that it does not block the next one. */
  private async submit(folder: DropFolder, file: ClaimedFile): Promise<void> {
    try {
      const stored = await this.store.store(file.name, createReadStream(file.path), file.runId);
      await this.queue.submit(stored, scheduleOptions(this.env), CALLER);
    } catch (error) {
      this.log.fault(LEASE, toProblemError(error).code, error);
      if (toProblemError(error).status !== 503) await folder.archive(file, 'failed');
    }
  }
}
