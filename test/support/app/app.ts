import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { WorkerPrograms } from '../../../src/platform/config/config.module.js';
import { createApp } from '../../../src/create-app.js';
import { type Env, loadEnv } from '../../../src/platform/config/env.js';
import { migrateAtStart } from '../../../src/platform/database/data-source.js';
import { ENTITIES } from '../../../src/entities.js';
import { Sealer } from '../../../src/audit/sealer.service.js';
import { FirstStart } from '../../../src/operations/start/first-start.service.js';
import { Client } from './client.js';
import { type TestDatabase, createDatabase } from './database.js';
import { ROOT } from '../process/process.js';
import { ADMIN_PASSWORD, API_KEY } from './template.js';

export { ADMIN_PASSWORD, API_KEY };

/** The base URL that tests expect in `user_avatar` and other URLs. */
export const BASE_URL = 'http://rollcall.test';

/** Longer than any test takes. */
const KEEP_ALIVE_MILLIS = 600_000;

/**
 * The real application on a new database, listening on a free port of 127.0.0.1. Usually one instance runs in a
 * process. Several instances must share one database, because passport keeps its strategies per process, so the
 * instance that started last validates the credentials of all instances.
 */
export class TestApp {
  /** Further instances on the same database. */
  private readonly others: TestApp[] = [];

  private constructor(
    readonly app: NestExpressApplication,
    readonly database: TestDatabase,
    readonly url: string,
  ) {}

  /**
   * Starts the application on a new database.
   * @param settings environment variables in addition to the defaults of all tests.
   */
  static async start(settings: Record<string, string> = {}, programs?: WorkerPrograms): Promise<TestApp> {
    return TestApp.open(await createDatabase('first-start'), settings, programs);
  }

  /** Starts the application with the built read worker. */
  static async startWithReader(settings: Record<string, string> = {}): Promise<TestApp> {
    return TestApp.start(settings, { reader: join(ROOT, 'dist/read-worker.js') });
  }

  /** Starts another instance on an existing database. */
  static async startOn(database: TestDatabase, settings: Record<string, string> = {}): Promise<TestApp> {
    await migrateAtStart(TestApp.buildSettings(database, settings), ENTITIES);
    return TestApp.open(database, settings);
  }

  /** Starts another instance on the same database, which `end` stops. */
  async startOther(settings: Record<string, string> = {}): Promise<TestApp> {
    const other = await TestApp.startOn(this.database, settings);
    this.others.push(other);
    return other;
  }

  private static buildSettings(database: TestDatabase, settings: Record<string, string>): Env {
    return loadEnv({
      BASE_URL,
      PORT: '0',
      DATA_DIR: database.folder,
      DATABASE_URL: database.url,
      MIGRATE_ON_START: 'true',
      BOOTSTRAP_API_KEY: API_KEY,
      BOOTSTRAP_WEBMASTER_PASSWORD: ADMIN_PASSWORD,
      LOG_LEVEL: 'silent',
      SESSION_RATE_LIMIT_PER_MINUTE: '0', // a test sends more requests than a person
      IMPORT_GUARD_CREATED_ROWS: '1000', // many tests create users with several files of one data set
      ...settings,
    });
  }

  /** Starts the application on a database with tables. */
  private static async open(
    database: TestDatabase,
    settings: Record<string, string>,
    programs?: WorkerPrograms,
  ): Promise<TestApp> {
    const app = await createApp(TestApp.buildSettings(database, settings), { ...(programs && { programs }) });
    // Tests seal at times of their own. The sealer would seal at the real time one second after the start.
    clearInterval(Reflect.get(app.get(Sealer), 'timer') as NodeJS.Timeout);
    await app.get(FirstStart).createCredentials();
    await app.listen(0, '127.0.0.1');
    // Client and service share a thread. After a long pause, the timer that closes idle connections would run before
    // the service reads a waiting request.
    const server: Server = app.getHttpServer();
    server.keepAliveTimeout = KEEP_ALIVE_MILLIS;
    return new TestApp(app, database, (await app.getUrl()).replace('[::1]', '127.0.0.1'));
  }

  /** Client without credentials. */
  get guest(): Client {
    return new Client(this.url);
  }

  /** Client with the first API key. */
  get key(): Client {
    return new Client(this.url, { 'x-api-key': API_KEY });
  }

  /** Logs a user in. Returns a client with the session. */
  async login(username = 'admin', password = ADMIN_PASSWORD): Promise<Client> {
    const response = await this.guest.post('/sessions/login', { username, password });
    if (response.status !== 200) throw new Error(`login of ${username}: ${response.status} ${response.text}`);
    return new Client(this.url, { cookie: response.cookie });
  }

  async stop(): Promise<void> {
    await this.app.close();
  }

  /** Stops the application and its other instances, and removes the database. */
  async end(): Promise<void> {
    for (const other of this.others) await other.stop();
    await this.stop();
    await this.database.drop();
  }
}

/** Starts the application before the tests of a file and ends it after them. @param settings as in `TestApp.start`. */
export function setUpApp(settings?: Record<string, string>): TestApp {
  const app = Object.create(TestApp.prototype) as TestApp;
  beforeAll(async () => void Object.assign(app, await TestApp.start(settings)));
  afterAll(() => app.end());
  return app;
}

/** Starts a new application before each test and ends it after the test. @param settings as in `TestApp.start`. */
export function setUpFreshApp(settings?: Record<string, string>): TestApp {
  const app = Object.create(TestApp.prototype) as TestApp;
  beforeEach(async () => void Object.assign(app, await TestApp.start(settings)));
  afterEach(() => app.end());
  return app;
}
