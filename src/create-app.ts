import { NotFoundException } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express, NextFunction, Request, Response } from 'express';
import { AppModule } from './app.module.js';
import {
  createIdleCloser,
  limitConnections,
  createSecurityHeaders,
  readTlsOptions,
} from './platform/http/server.js';
import { ErrorFilter } from './platform/http/error.filter.js';
import { truncateForwardedFor } from './platform/http/request-headers.js';
import { FastExpressAdapter, buildRouteTree } from './platform/http/express.adapter.js';
import { Log } from './platform/telemetry/log.js';
import { Metrics } from './platform/telemetry/metrics.js';
import { observeRequests } from './platform/telemetry/observe.js';
import { BodyBudget } from './platform/http/body-reader.js';
import type { WorkerPrograms } from './platform/config/config.module.js';
import type { Env } from './platform/config/env.js';
import type { WriteLock } from './platform/database/sqlite/write-lock.js';
import { SHUTDOWN_SIGNALS } from './platform/common/signals.js';
import { Sealer } from './audit/sealer.service.js';
import { ImportWorker } from './import/apply/import-worker.service.js';
import { Alerts } from './import/alerts/alerts.service.js';
import { ScheduleService } from './import/schedule/schedule.service.js';
import { Readiness } from './operations/health/readiness.js';
import { serveDocs } from './openapi.js';
import { SCIM_PATH } from './scim/http/scim-format.js';
import { DEFAULT_AVATAR_PATH } from './users/rules/user-settings.js';

const API_PREFIX = 'api/0.3';

/** Routes without the API prefix: SCIM, probes, metrics, and pages for people. */
const UNPREFIXED = [
  `${SCIM_PATH}{/*path}`,
  'health/live',
  'health/ready',
  'metrics',
  '/',
  'guides{/:name}',
  'console{/*path}',
  'problems/:code',
  DEFAULT_AVATAR_PATH,
];

/**
 * Creates the application on a migrated schema (`migrateAtStart`). It does not listen yet.
 * @param options.programs paths of the worker programs. If the path of a program is missing, this process does its work.
 * @param options.lock write lock of a SQLite database that this process has claimed.
 * @param options.isService false for a command: the application starts no background work and ignores signals.
 * @throws Error if the application cannot start.
 */
export async function createApp(
  env: Env,
  {
    programs,
    lock,
    isService = true,
  }: { programs?: WorkerPrograms; lock?: WriteLock; isService?: boolean } = {},
): Promise<NestExpressApplication> {
  const httpsOptions = readTlsOptions(env);
  const adapter = new FastExpressAdapter();
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(env, programs, lock),
    adapter,
    {
      bodyParser: false, // `InputGuard` reads bodies after the credentials are checked
      logger: false, // `main.ts` reports a failed start on one line. Nest would print stacks and settings.
      abortOnError: false,
      ...(httpsOptions && { httpsOptions }),
    },
  );
  const end = createIdleCloser(app.getHttpServer());
  adapter.state = app.get(Readiness);
  limitConnections(app.getHttpServer(), env.MAX_CONNECTIONS, app.get(Log), app.get(Metrics));
  app.set('trust proxy', env.trustProxy);
  if (env.trustProxy !== false) adapter.trustProxies();
  app.disable('x-powered-by');
  app.disable('etag'); // The user routes set their own ETags (`users/user.view.ts`).
  // Stops Express from sending 304. Without this, `If-None-Match: *` would get 304 even on routes without an ETag.
  Object.defineProperty(adapter.getInstance<Express>().request, 'fresh', { value: false });
  adapter.preparations = [
    ...(env.trustProxy === false ? [] : [truncateForwardedFor]),
    observeRequests(app.get(Log), app.get(Metrics), end, app.get(BodyBudget)),
    createSecurityHeaders(env.baseUrl.startsWith('https:')),
  ];
  const errors = app.get(ErrorFilter);
  adapter.sendError = errors.sendError.bind(errors);
  app.setGlobalPrefix(API_PREFIX, { exclude: UNPREFIXED });
  if (isService) app.enableShutdownHooks([...SHUTDOWN_SIGNALS], { useProcessExit: true });
  await app.init();
  adapter.routes = buildRouteTree(adapter.getInstance<Express>());
  if (isService) await startService(app);
  // Nest handles unknown paths only under the API prefix. This handler responds to all other unknown paths.
  app.use((request: Request, response: Response) => {
    errors.sendError(new NotFoundException(), request, response);
  });
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    errors.sendError(error, request, response);
  });
  return app;
}

/**
 * Adds the documentation, which Express serves, and starts the background work. A command needs neither.
 */
async function startService(app: NestExpressApplication): Promise<void> {
  serveDocs(app);
  app.get(ImportWorker).wake();
  await app.get(ScheduleService).start();
  app.get(Alerts).start();
  app.get(Sealer).start();
}
