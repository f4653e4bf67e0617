import type { Service } from '../faults/servers.js';
import type { BenchEngine } from './engine.js';
import { JSON_HEADERS, type RequestOf } from './requests.js';

const REQUESTS = 50;

/** Statements that the database's server runs for one request; undefined where nothing counts them. */
export async function countStatements(
  { statements }: BenchEngine,
  { url }: Service,
  next: () => ReturnType<RequestOf>,
): Promise<number | undefined> {
  const first = statements();
  const before = statements();
  if (first === undefined || before === undefined) return undefined;
  for (let sent = 0; sent < REQUESTS; sent++) {
    const { method, path, body } = next();
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: JSON_HEADERS,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  }
  // Asking costs statements too.
  return ((statements() ?? 0) - before - (before - first)) / REQUESTS;
}
