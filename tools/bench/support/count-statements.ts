import type { Service } from '../../servers.js';
import type { BenchEngine } from './engine.js';
import type { RequestOf } from './requests.js';
import { fetchText } from './send.js';

const REQUESTS = 50;

/**
 * Returns the number of statements that the database server runs for one request, or undefined if it has no counter.
 */
export async function countStatements(
  engine: BenchEngine,
  { url }: Service,
  next: () => ReturnType<RequestOf>,
): Promise<number | undefined> {
  const first = engine.countStatements();
  const before = engine.countStatements();
  if (first === undefined || before === undefined) return undefined;
  for (let sent = 0; sent < REQUESTS; sent++) {
    await fetchText(url, next());
  }
  // Reading the counter is a statement, too.
  return ((engine.countStatements() ?? 0) - before - (before - first)) / REQUESTS;
}
