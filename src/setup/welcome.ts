import type { FirstCredentials } from './first-start.service.js';

/** What stands on the terminal after a start: where everything is and, the first time, how to get in. */
export function welcome(url: string, first: FirstCredentials | undefined): string {
  const api = `${url}/api/0.3`;
  const lines = ['', 'Rollcall is running.', `  API         ${api}`, `  Swagger UI  ${url}/docs`];
  if (first) lines.push('', ...credentials(api, first));
  return `${lines.join('\n')}\n\n`;
}

function credentials(api: string, { username, password, apiKey }: FirstCredentials): string[] {
  const lines = ['First start. What was made at random is shown this once; keep it:'];
  lines.push(`  Webmaster   ${username}`);
  lines.push(`  Password    ${password ?? '(from BOOTSTRAP_WEBMASTER_PASSWORD)'}`);
  lines.push(`  API key     ${apiKey ?? '(from BOOTSTRAP_API_KEY)'}`);
  // A key from the settings is not shown; whoever set it knows where it is.
  const header = apiKey === undefined ? '"X-API-Key: $BOOTSTRAP_API_KEY"' : `'X-API-Key: ${apiKey}'`;
  return [...lines, '', 'Try it:', `  curl -H ${header} '${api}/users/search'`];
}
