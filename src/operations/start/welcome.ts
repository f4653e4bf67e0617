import { VERSION } from '../../platform/common/version.js';
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
