import { VERSION } from '../../platform/common/version.js';
import type { Env } from '../../platform/config/env.js';
import type { Log } from '../../platform/telemetry/log.js';
import type { FirstCredentials } from './first-start.service.js';

/**
 * Formats the text that is shown after a start, but not logged: the addresses and, after the first start, the
 * credentials.
 */
export function formatWelcome(url: string, hasConsole: boolean, first: FirstCredentials | undefined): string {
  const api = `${url}/api/0.3`;
  const lines = [
    '',
    `Rollcall ${VERSION} is running.`,
    ...(hasConsole ? [`  Console     ${url}/console`] : []),
    `  Swagger UI  ${url}/docs`,
    `  API         ${api}`,
  ];
  if (first) lines.push('', ...formatCredentials(first), '', ...formatExample(api, first));
  return `${lines.join('\n')}\n\n`;
}

/** Formats the first credentials. Secrets from the settings are not shown. */
export function formatCredentials({ username, password, apiKey }: FirstCredentials): string[] {
  return [
    'First start. Generated values are shown only once, so store them now:',
    `  Webmaster   ${username}`,
    `  Password    ${password ?? '(from BOOTSTRAP_WEBMASTER_PASSWORD)'}`,
    `  API key     ${apiKey ?? '(from BOOTSTRAP_API_KEY)'}`,
  ];
}

/** Formats an example request. A key from the settings is replaced by a shell variable that the user sets. */
function formatExample(api: string, { apiKey }: FirstCredentials): string[] {
  const set = apiKey === undefined ? ['  KEY=...   # the API key'] : [];
  const header = apiKey === undefined ? '"X-API-Key: $KEY"' : `'X-API-Key: ${apiKey}'`;
  return ['Try it:', ...set, `  curl -H ${header} '${api}/users/search'`];
}

/**
 * Logs the start of the service now, and its end when the process exits.
 * @param sqlite version of SQLite, if it is the database.
 */
export function logStartAndEnd(
  log: Log,
  { databaseUrl, baseUrl, WORKERS: workers }: Env,
  url: string,
  sqlite?: string,
): void {
  // Log only the engine, because the rest of the URL may contain a password.
  const [engine = ''] = databaseUrl.split(':', 1);
  log.info('service started', {
    version: VERSION,
    node: process.version,
    engine,
    ...(sqlite !== undefined && { sqlite }),
    url,
    base_url: baseUrl,
    workers,
  });
  // The listener is prepended, so that the end is logged before the log is flushed for the last time.
  process.prependOnceListener('exit', (exit) => {
    log.info('service ended', { exit });
  });
}
