import type { Json } from './client.js';
import type { ScimClient } from './scim.js';
import { type Query, queryOf } from './search.js';

/** Returns a page of `/Users` or `/Groups`. An empty path lists both. */
export async function fetchList(scim: ScimClient, path: string, query: Query): Promise<Json> {
  const { status, body, text } = await scim.get(`${path}?${queryOf(query)}`);
  if (status !== 200) throw new Error(`${status} ${text}`);
  return body;
}

/** Reads all resources of a list by `startIndex`. @throws Error if a page has a wrong index or a different total. */
export async function walkByIndex(
  scim: ScimClient,
  path: string,
  query: Query & { count: number },
): Promise<Json[]> {
  const resources: Json[] = [];
  for (let startIndex = 1, total = 1; startIndex <= total; startIndex += query.count) {
    const page = await fetchList(scim, path, { ...query, startIndex });
    if (page.startIndex !== startIndex)
      throw new Error(`startIndex ${page.startIndex} of page ${startIndex}`);
    if (startIndex > 1 && page.totalResults !== total)
      throw new Error(`${page.totalResults}, before ${total}`);
    total = page.totalResults;
    resources.push(...page.Resources);
  }
  return resources;
}

/**
 * Reads all resources of a list by `cursor`.
 * @throws Error if a page has an index, or a total that differs from the number of resources.
 */
export async function walkByCursor(scim: ScimClient, path: string, query: Query): Promise<Json[]> {
  const resources: Json[] = [];
  const totals: number[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const page = await fetchList(scim, path, { ...query, cursor });
    if (page.startIndex !== undefined) throw new Error(`startIndex ${page.startIndex} with a cursor`);
    if (page.totalResults !== undefined) totals.push(page.totalResults);
    resources.push(...page.Resources);
    cursor = page.nextCursor;
  }
  if (totals.some((total) => total !== resources.length))
    throw new Error(`${resources.length} resources, but totals of ${totals.join(', ')}`);
  return resources;
}
