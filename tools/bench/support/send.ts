import { Agent } from 'node:http';
import { type Answer, send } from '../../send.js';
import type { RequestOf } from './requests.js';

/**
 * Agent with one connection per request, because servers close idle connections while this process waits for a database
 * command.
 */
const agent = new Agent();

/** Sends a request. Returns the text of the response. @throws Error for any status except 2xx. */
export async function fetchText(
  url: string,
  { method, path, body }: { method: string; path: string; body?: object | string },
  headers: Record<string, string> = {},
  connections = agent,
): Promise<string> {
  const { status, text }: Answer = await send(url, method, path, body, { agent: connections, headers });
  if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text}`);
  return text;
}

/** Sends a request. Returns the response as JSON. */
export async function fetchJson<T>(url: string, request: ReturnType<RequestOf>): Promise<T> {
  return JSON.parse(await fetchText(url, request)) as T;
}
