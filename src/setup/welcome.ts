import type { FirstCredentials } from './first-start.service.js';

/** What stands on the terminal after a start: where everything is and, the first time, how to get in. */
export function welcome(url: string, first: FirstCredentials | undefined): string {
  const api = `${url}/api/0.3`;
  const lines = ['', 'Rollcall is running.', `  API         ${api}`, `  Swagger UI  ${url}/docs`];
  if (first) lines.push('', ...credentials(first), '', ...trial(api, first));
  return `${lines.join('\n')}\n\n`;
}

/** The first way in; what came from the settings is not shown. */
export function credentials({ username, password, apiKey }: FirstCredentials): string[] {
  return [
    'First start. What was made at random is shown this once; keep it:',
    `  Webmaster   ${username}`,
    `  Password    ${password ?? '(from BOOTSTRAP_WEBMASTER_PASSWORD)'}`,
    `  API key     ${apiKey ?? '(from BOOTSTRAP_API_KEY)'}`,
  ];
}

function trial(api: string, { apiKey }: FirstCredentials): string[] {
  // A key from the settings is not shown; whoever set it knows where it is.
  const header = apiKey === undefined ? '"X-API-Key: $BOOTSTRAP_API_KEY"' : `'X-API-Key: ${apiKey}'`;
  return ['Try it:', `  curl -H ${header} '${api}/users/search'`];
}
