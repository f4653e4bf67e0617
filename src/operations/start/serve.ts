import { HttpAdapterHost } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Env } from '../../platform/config/env.js';
import type { FastExpressAdapter } from '../../platform/http/express.adapter.js';
import { DATABASE, type Database, readSqliteVersion } from '../../platform/database/engine/database.js';
import { type FirstCredentials, FirstStart } from './first-start.service.js';
import { WriteLock } from '../../platform/database/sqlite/write-lock.js';
import { Log } from '../../platform/telemetry/log.js';
import { openServiceSocket } from './private-socket.js';
import { logStartAndEnd, formatWelcome } from './welcome.js';

/** Time to send the responses to open requests after a file of the database was replaced. */
const ANSWER_MILLIS = 200;

/** Creates the application, which does not listen yet. */
export type CreateApp = (env: Env) => Promise<NestExpressApplication>;

/** Runs the service as a single process and prints the welcome text to standard error. @throws Error if it cannot start. */
export async function runSingleProcess(env: Env, createApp: CreateApp): Promise<void> {
  const app = await createApp(env);
  const log = app.get(Log);
  endWhenFilesChange(app.get(WriteLock), log);
  const first = await completeStart(app, env, app.listen(env.PORT, env.HOST));
  const url = await app.getUrl();
  logStartAndEnd(log, env, url, await readSqliteVersion(app.get<Database>(DATABASE)));
  // Standard output is reserved for log lines.
  process.stderr.write(formatWelcome(url, env.CONSOLE_ENABLED, first));
}

/**
 * Ends this process if a file of the database was replaced. Does not close the database, because SQLite would write the
 * log to the new file.
 */
function endWhenFilesChange({ files }: WriteLock, log: Log): void {
  if (!files) return;
  if (files.loss !== undefined) log.error('changes lost', { reason: files.loss });
  files.onFault = (reason) => {
    log.error('database replaced', { reason });
    setTimeout(() => process.exit(1), ANSWER_MILLIS);
  };
}

/**
 * Waits until the port is bound, then creates the first credentials and opens the private socket. Requests wait until
 * the first credentials exist.
 * @returns the first credentials, if this start created them.
 * @throws Error from `listening`, or from creating the first credentials.
 */
export async function completeStart(
  app: NestExpressApplication,
  env: Env,
  listening: Promise<unknown>,
): Promise<FirstCredentials | undefined> {
  const started = listening.then(() => app.get(FirstStart).createCredentials());
  app.get<HttpAdapterHost<FastExpressAdapter>>(HttpAdapterHost).httpAdapter.delayRequestsUntil(started);
  const first = await started;
  await openServiceSocket(app, env);
  return first;
}
