import { VERSION } from '../../platform/common/version.js';
import type { Env } from '../../platform/config/env.js';
import type { Log } from '../../platform/telemetry/log.js';
import type { FirstCredentials } from './first-start.service.js';

/** The text for people after a start: the addresses and, the first time, the credentials. It is no part of the log. */
export function welcome(url: string, hasConsole: boolean, first: FirstCredentials | undefined): string {
  const api = `${url}/api/0.3`;
  const lines = [
    '',
    `Rollcall ${VERSION} is running.`,
    ...(hasConsole ? [`  Console     ${url}/console`] : []),
    `  Swagger UI  ${url}/docs`,
    `  API         ${api}`,
  ];
  if (first) lines.push('', ...credentials(first), '', ...trial(api, first));
  return `${lines.join('\n')}\n\n`;
}

/** The lines that show the first credentials, without those that come from the settings. */
export function credentials({ username, password, apiKey }: FirstCredentials): string[] {
  return [
    'First start. Random values are shown only this once; keep them:',
    `  Webmaster   ${username}`,
    `  Password    ${password ?? '(from BOOTSTRAP_WEBMASTER_PASSWORD)'}`,
    `  API key     ${apiKey ?? '(from BOOTSTRAP_API_KEY)'}`,
  ];
}

/** The settings of the service are no variables of a terminal: a key that comes from them is a blank to fill in. */
function trial(api: string, { apiKey }: FirstCredentials): string[] {
  const set = apiKey === undefined ? ['  KEY=...   # the API key'] : [];
  const header = apiKey === undefined ? '"X-API-Key: $KEY"' : `'X-API-Key: ${apiKey}'`;
  return ['Try it:', ...set, `  curl -H ${header} '${api}/users/search'`];
}

/**
 * Logs that the service has started, and that it ends when its process does: by a signal, or with an error. A killed
 * process logs nothing.
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
