import { VERSION } from '../../platform/common/version.js';
import type { Env } from '../../platform/config/env.js';
import type { Log } from '../../platform/telemetry/log.js';

/**
 * Logs that the service has started, and that it ends when its process does: by a signal, or with an error. A process that
 * is killed says nothing.
 * @param url where it listens. @param sqlite the version of an embedded database.
 */
export function logLife(
  log: Log,
  { databaseUrl, baseUrl, WORKERS: workers }: Env,
  url: string,
  sqlite?: string,
): void {
  const [engine = ''] = databaseUrl.split(':', 1); // the rest has a password
  log.event('service started', {
    version: VERSION,
    node: process.version,
    engine,
    ...(sqlite !== undefined && { sqlite }),
    url,
    base_url: baseUrl,
    workers,
  });
  // Before the last try of the log to write what waits.
  process.prependOnceListener('exit', (exit) => {
    log.event('service ended', { exit });
  });
}
