import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { now, addSeconds } from '../../../src/platform/common/time.js';
import { loadEnv } from '../../../src/platform/config/env.js';
import { RunQueue } from '../../../src/import/apply/run-queue.service.js';
import { FileStore } from '../../../src/import/file/file-store.js';
import { ImportRunsRepository } from '../../../src/import/runs/import-runs.repository.js';
import { ScheduleService } from '../../../src/import/schedule/schedule.service.js';
import { DATABASE } from '../../../src/platform/database/engine/database.js';
import { Leases } from '../../../src/platform/database/leases/leases.service.js';
import { Log } from '../../../src/platform/telemetry/log.js';
import { TestApp } from './app.js';
import type { Client, Json } from './client.js';
import { speedUpIntervals } from './clock.js';
import { csv } from './imports.js';
import { databaseOf } from './people.js';

/** Creates a drop folder for a test file. */
export function setUpDropFolder(): TestDropFolder {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-schedule-'));
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });
  return new TestDropFolder(join(folder, 'drop'));
}

/** Settings of a schedule that never fires by itself, on a drop folder for a test file. */
export const setUpSchedule = ({ folder } = setUpDropFolder()): Record<string, string> => ({
  IMPORT_FOLDER: folder,
  IMPORT_CRON: '0 0 1 1 *',
});

/** Uploads a file into the drop folder of a service. */
export const addScheduledFile = (name: string, client: Client, content: string, headers = {}) =>
  client.send(
    'POST',
    '/imports/schedule/files',
    `--x\r\nContent-Disposition: form-data; name="file"; filename*=UTF-8''${encodeURIComponent(name)}\r\n\r\n${content}\r\n--x--\r\n`,
    { 'content-type': 'multipart/form-data; boundary=x', ...headers },
  );

/** A drop folder with its work folders, which are inside the drop folder by default. */
export class TestDropFolder {
  constructor(
    readonly folder: string,
    readonly work = folder,
  ) {
    for (const path of [folder, ...['processing', 'done', 'failed'].map((part) => join(work, part))])
      mkdirSync(path, { recursive: true });
  }

  list(part = ''): string[] {
    return readdirSync(part === '' ? this.folder : join(this.work, part)).sort();
  }

  /** Writes a complete file of one new user. The id is also the name of the file. */
  addUser(id: string): void {
    this.addFile(`${id}.csv`, `${id},${id},${id}@example.org`);
    this.markDone(`${id}.csv`);
  }

  addFile(name: string, ...lines: string[]): void {
    writeFileSync(join(this.folder, name), csv('ExternalId,Username,Email', ...lines));
  }

  markDone(name: string): void {
    writeFileSync(join(this.folder, `${name}.done`), '');
  }

  /** Waits until a condition holds. It is checked at once and after each change of `done` and `failed`. */
  async waitUntil(done: () => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      const check = () => {
        if (!done()) return;
        for (const watcher of watchers) watcher.close();
        resolve();
      };
      const watchers = ['done', 'failed'].map((part) => watch(join(this.work, part), check));
      check();
    });
  }
}

/**
 * One application for all tests of a file. Each test has its own drop folder and starts its own schedules, which act
 * like further instances. Each test begins after a missed tick and without runs.
 */
export class ScheduleFixture {
  app!: TestApp;
  drop!: TestDropFolder;
  private schedules: ScheduleService[] = [];

  constructor(settings: Record<string, string> = {}) {
    speedUpIntervals();
    beforeAll(async () => void (this.app = await TestApp.start(settings)));
    beforeEach(async () => {
      this.drop = new TestDropFolder(join(this.createFolder(), 'drop'));
      await databaseOf(this.app).execute('DELETE FROM import_runs');
      await missTick(this.app);
    });
    afterEach(async () => {
      for (const schedule of this.schedules.splice(0)) await this.stop(schedule);
    });
    afterAll(() => this.app.end());
  }

  createFolder(): string {
    return mkdtempSync(join(this.app.database.folder, 'test-'));
  }

  /**
   * Starts a schedule on the drop folder.
   * @param settings in addition to the folders and to a cron expression that does not tick for months.
   */
  async start(settings: Record<string, string> = {}): Promise<ScheduleService> {
    const { app, database } = this.app;
    const env = loadEnv({
      DATABASE_URL: database.url,
      IMPORT_FOLDER: this.drop.folder,
      IMPORT_WORK_FOLDER: this.drop.work,
      IMPORT_CRON: '0 0 1 1 *',
      ...settings,
    });
    const schedule = new ScheduleService(
      env,
      app.get(RunQueue),
      app.get(FileStore),
      app.get(ImportRunsRepository),
      new Leases(app.get(DATABASE)),
      app.get(Log),
    );
    this.schedules.push(schedule);
    await schedule.start();
    return schedule;
  }

  /** Stops a schedule after its first check. */
  async stop(schedule: ScheduleService): Promise<void> {
    await schedule.beforeApplicationShutdown();
  }

  /** Waits until `done` and `failed` contain these numbers of files. */
  async waitForFiles(done: number, failed = 0): Promise<void> {
    await this.drop.waitUntil(
      () => this.drop.list('done').length === done && this.drop.list('failed').length === failed,
    );
  }

  async listRuns(): Promise<Json[]> {
    return (await this.app.key.get('/imports?limit=100')).body.Results;
  }
}

/** Stores a time in the past or future as the last tick of the schedule. */
export const recordTick = ({ app }: TestApp, seconds: number): Promise<void> =>
  app.get(Leases).recordTime('schedule.tick', addSeconds(now(), seconds));

/** Stores a last tick long ago, so that the schedule has missed a tick. */
export const missTick = (app: TestApp): Promise<void> => recordTick(app, -400 * 24 * 3600);
