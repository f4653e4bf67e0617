import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { loadEnv } from '../../../src/platform/config/env.js';
import { WriteLock } from '../../../src/platform/database/sqlite/write-lock.js';
import { claimDatabase } from '../../../src/operations/start/open-installation.js';
import { type Database, openDatabase } from '../../../src/platform/database/engine/database.js';
import { ImportsService } from '../../../src/import/imports.service.js';
import { API_KEY, TestApp } from '../app/app.js';
import { Client, type Json } from '../app/client.js';
import { type TestDatabase, createDatabase } from '../app/database.js';
import { type DatabaseImage, readImage } from '../app/database-image.js';
import { NIGHTS, saveProfiles } from '../data/import-nights.js';
import { awaitRun } from '../app/imports.js';
import { KillSwitch, type Moment } from '../../../tools/kill-switch.js';
import { Process, childrenOf, envOf } from './process.js';

/** Result of the nightly imports. */
export interface NightsResult {
  /** The final state of each run, with the number of its statements and commits. */
  steps: { name: string; state: string; statements: number; commits: number }[];
  image: DatabaseImage;
  /** The report of each run for an operator. */
  reports: string[];
  /** The step and the statement of each kill, or "at rest" if the run had already ended. */
  kills: string[];
}

/** Runs the nightly imports on a new database. @param kills the moments of kills, by the number of the step. */
export async function runNights(
  kills: ReadonlyMap<number, readonly Moment[]> = new Map(),
): Promise<NightsResult> {
  const database = await createDatabase('tables');
  try {
    const service = await KilledService.start(database);
    try {
      return await runSteps(database, service, kills);
    } finally {
      await service.end();
    }
  } finally {
    await database.drop();
  }
}

async function runSteps(
  database: TestDatabase,
  service: KilledService,
  kills: ReadonlyMap<number, readonly Moment[]>,
): Promise<NightsResult> {
  await saveProfiles(service.client);
  const steps: NightsResult['steps'] = [];
  const killed: string[] = [];
  const runs: Json[] = [];
  for (const [number, { name, begin }] of NIGHTS.entries()) {
    const id = await begin(service.client, runs);
    const { run, victims } = await service.waitForRun(id, kills.get(number) ?? []);
    killed.push(...victims.map((victim) => `${name}: ${victim}`));
    runs.push(run);
    const { statements, commits } = service.killSwitch;
    steps.push({ name, state: run.state, statements, commits });
  }
  const ids = [...new Set(runs.map(({ id }) => id as string))];
  const reports = await Promise.all(ids.map((id) => readReport(service.client, id)));
  await service.end();
  // A service that is killed after the end of a run, before it deletes the file of the run, leaves the file to the next
  // purge.
  const next = await TestApp.startOn(database);
  await next.app.get(ImportsService).purge();
  await next.stop();
  return { steps, reports, kills: killed, image: await service.withDatabase(readImage) };
}

async function readReport(client: Client, id: string): Promise<string> {
  const { state, counts, missing, guards, problems } = (await client.get(`/imports/${id}`)).body;
  const { text } = await client.get(`/imports/${id}/failed.csv`);
  const uuids = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  return JSON.stringify({ state, counts, missing, guards, problems, text }).replace(uuids, 'a uuid');
}

/** A service that is killed and restarted. */
class KilledService {
  private constructor(
    private readonly settings: Record<string, string>,
    readonly killSwitch: KillSwitch,
    private process: Process,
  ) {}

  static async start(database: TestDatabase): Promise<KilledService> {
    const killSwitch = new KillSwitch(database.folder);
    const settings = {
      ...envOf(database),
      BOOTSTRAP_API_KEY: API_KEY,
      BOOTSTRAP_WEBMASTER_PASSWORD: 'paint the garden fence',
      LOG_LEVEL: 'warn',
      ...killSwitch.settings,
    };
    return new KilledService(settings, killSwitch, await Process.startService(settings));
  }

  get client(): Client {
    return new Client(this.process.url, { 'x-api-key': API_KEY });
  }

  /**
   * Waits until a run has ended or waits for an operator.
   * @param moments the moments of successive kills.
   * @returns the run and the statement of each kill.
   */
  async waitForRun(id: string, moments: readonly Moment[]): Promise<{ run: Json; victims: string[] }> {
    const victims: string[] = [];
    this.killSwitch.set(moments[0]);
    for (const [index, moment] of moments.entries()) {
      const others = childrenOf(this.process.pid);
      const run = await awaitRun(this.client, id).catch(() => undefined); // the connection ends with the service
      const { victim } = this.killSwitch;
      this.killSwitch.set(moments[index + 1]);
      if (run && victim === '') this.process.signal('SIGKILL');
      if (!run || victim === '') await this.restart(others);
      victims.push(`${JSON.stringify(moment)} ${victim || 'at rest'}`);
    }
    return { run: await awaitRun(this.client, id), victims };
  }

  async end(): Promise<void> {
    await this.process.stop();
  }

  async withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const env = loadEnv(this.settings);
    const files = await claimDatabase(env, 'read');
    const database = await openDatabase(env, { lock: new WriteLock(undefined, files) });
    try {
      return await work(database);
    } finally {
      await database.close();
      files?.release();
    }
  }

  /** Restarts the service. Expires the lease of the killed process instead of waiting, which other tests cover. */
  private async restart(others: readonly number[]): Promise<void> {
    await this.process.exit;
    while (others.some((pid) => existsSync(`/proc/${pid}`))) await setImmediate();
    await this.withDatabase((database) => database.execute("DELETE FROM leases WHERE name = 'imports'", []));
    this.process = await Process.startService(this.settings);
  }
}
