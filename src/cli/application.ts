import type { INestApplication } from '@nestjs/common';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import type { SealRef } from '../audit/seal-faults.js';
import { SealVerifier, type AuditReport } from '../audit/seal-verifier.service.js';
import { openInstallation } from '../operations/start/open-installation.js';
import { connectInternally, findConnector } from '../operations/start/private-socket.js';
import type { Env } from '../platform/config/env.js';
import { readSettings } from '../platform/config/settings.js';
import { type EntityClasses, migrateAtStart } from '../platform/database/data-source.js';
import { databaseNameOf, sqliteFileOf } from '../platform/database/engine/connection-options.js';
import { WriteLock } from '../platform/database/sqlite/write-lock.js';
import { LOCAL_USER_HEADER, parseReason } from '../platform/http/request-headers.js';
import { Log } from '../platform/telemetry/log.js';
import { ServiceClient } from './service-client.js';
import { type Target, readKey } from './target.js';

/** Gives commands access to a running service or to an application that is created for the command. */
export class Application {
  /** @param create creates an application that starts no background work. */
  constructor(
    readonly entities: EntityClasses,
    private readonly create: (env: Env, lock: WriteLock) => Promise<INestApplication>,
  ) {}

  /**
   * Runs `work` with a client of the service at `--url`. Without `--url`, uses the running service with the same
   * settings. If no such service is running, starts an application for this command. Prints the name of the service
   * or database on standard error.
   * @throws Error for invalid settings, an unusable database or a missing key, and any error of `work`.
   */
  async runWithClient(target: Target, work: (service: ServiceClient) => Promise<void>): Promise<void> {
    const reason = parseReason(target.reason ?? '', '--reason');
    const headers = { ...(reason !== undefined && { 'x-audit-reason': encodeURIComponent(reason) }) };
    const { url } = target;
    if (url !== undefined) {
      const service = new ServiceClient({ url, headers: { ...headers, 'x-api-key': await readKey(target) } });
      if (!target.json) process.stderr.write(`Service: ${service.name}\n`);
      return work(service);
    }
    const env = readSettings();
    const localHeaders = { ...headers, 'x-request-id': 'cli', [LOCAL_USER_HEADER]: getUserName() };
    const runWithConnection = (connect: () => Duplex): Promise<void> =>
      work(new ServiceClient({ headers: localHeaders, connect }));
    const connect = await findConnector(env);
    if (!connect) assertDatabaseExists(env);
    if (!target.json) process.stderr.write(`Database: ${databaseNameOf(env).fullName}\n`);
    return connect
      ? runWithConnection(connect)
      : this.openApp(env, (app) => runWithConnection(() => connectInternally(app)));
  }

  /**
   * Verifies the audit directly in the database, without using a running service.
   * @throws Error for invalid settings or an unusable database.
   */
  async verifyAudit({ json }: Pick<Target, 'json'> = {}, expected?: SealRef): Promise<AuditReport> {
    const env = readSettings();
    assertDatabaseExists(env);
    if (!json) process.stderr.write(`Database: ${databaseNameOf(env).fullName}\n`);
    const isServed = (await findConnector(env)) !== undefined;
    return this.openApp(env, (app) => app.get(SealVerifier).verify(expected), isServed);
  }

  /**
   * Creates an application, runs `work` with it, and closes it. The application logs to standard error, and only if
   * `LOG_LEVEL` is set.
   * @param isServed true if a service uses the database at the same time.
   */
  private async openApp<T>(
    env: Env,
    work: (app: INestApplication) => Promise<T>,
    isServed = false,
  ): Promise<T> {
    if (!process.env['LOG_LEVEL']) env.LOG_LEVEL = 'silent';
    // No load balancer sends requests to this application, so it can shut down immediately.
    env.SHUTDOWN_DELAY_SECONDS = 0;
    env.TLS_CERT_FILE = undefined;
    env.TLS_KEY_FILE = undefined;
    const runMigrations = () => migrateAtStart(env, this.entities);
    const lock = isServed
      ? await runMigrations().then(() => new WriteLock())
      : await openInstallation(env, runMigrations);
    try {
      const app = await this.create(env, lock);
      app.get(Log).useStderr();
      return await work(app).finally(() => app.close());
    } finally {
      lock.files?.release();
    }
  }
}

/**
 * Prevents a mistyped file name from creating an empty database.
 * @throws Error if the database file is missing.
 */
export function assertDatabaseExists(env: Env): void {
  const file = sqliteFileOf(env);
  if (file === undefined || existsSync(file)) return;
  throw new Error(
    `There is no database at ${resolve(file)} (DATABASE_URL, DATA_DIR). Create one with "rollcall start", or an empty one with "rollcall migrate".`,
  );
}

/**
 * Returns the name of the user who runs this command, even with `sudo`. Replaces characters that a header cannot
 * contain.
 */
export function getUserName(): string {
  const name = process.env['SUDO_USER'] ?? getSystemUserName();
  return name.replace(/[^!-~]/g, '?').slice(0, 59);
}

function getSystemUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? ''}`; // in a container, the user may have no name
  }
}
