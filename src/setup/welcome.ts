import type { Env } from '../config/env.js';
import type { FirstCredentials } from './first-start.service.js';

/** What stands on the terminal after a start: where everything is and, the first time, how to get in. */
export function welcome(env: Env, url: string, first: FirstCredentials | undefined): string {
  const api = `${url}/api/0.3`;
  const lines = ['', 'Rollcall is running.', `  API         ${api}`, `  Swagger UI  ${url}/docs`];
  if (first) lines.push('', ...credentials(env, api, first));
  return `${lines.join('\n')}\n\n`;
}

function credentials(env: Env, api: string, { username, password, apiKey }: FirstCredentials): string[] {
  const lines = ['First start. What was made at random is shown this once; keep it:'];
  lines.push(`  Webmaster   ${username}`);
  lines.push(`  Password    ${password ?? '(from BOOTSTRAP_WEBMASTER_PASSWORD)'}`);
  lines.push(`  API key     ${apiKey ?? '(from BOOTSTRAP_API_KEY)'}`);
  const key = apiKey ?? '$KEY';
  lines.push('', 'Try it:', `  curl -H 'X-API-Key: ${key}' '${api}/users/search'`);
  return env.BOOTSTRAP_API_KEY === undefined
    ? lines
    : lines.map((line) => line.replaceAll(`'X-API-Key: ${key}'`, `"X-API-Key: ${key}"`));
}
