import type { Answer, Client, Json } from './client.js';
import { aUser } from '../data/factories.js';

export type Query = Record<string, string | number | boolean | readonly string[]>;

/** Builds the query string of a search. A list repeats its parameter. */
export function queryOf(query: Query): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of [value].flat()) pairs.append(name, String(item));
  }
  return pairs.toString();
}

export function search(client: Client, query: Query | string = {}): Promise<Answer> {
  return client.get(`/users/search?${typeof query === 'string' ? query : queryOf(query)}`);
}

/** Returns the sorted usernames that a search finds. @throws Error if `Count` differs from their number. */
export async function findNames(client: Client, query: Query | string): Promise<string[]> {
  const response = await search(client, query);
  if (response.status !== 200) throw new Error(`search: ${response.status} ${response.text}`);
  const { Count, Results } = response.body as { Count: number; Results: { username: string }[] };
  if (Count !== Results.length) throw new Error(`Count ${Count} of ${Results.length} Results`);
  return Results.map(({ username }) => username).sort();
}

/** Returns the path of the next page for `Client.get`, or undefined on the last page. */
export function nextOf({ headers }: Answer): string | undefined {
  const link = /^<\/api\/0\.3(\/[A-Za-z/0-9-]+\?[^>]+)>; rel="next"$/.exec(headers['link'] ?? '');
  if (headers['link'] !== undefined && !link) throw new Error(`invalid Link: ${headers['link']}`);
  return link?.[1];
}

/**
 * Reads all users of a search by its Link headers.
 * @throws Error if a page before the last is not full, or if there are more users than `Count`.
 */
export async function walkByLink(client: Client, query: Query): Promise<Json[]> {
  const users: Json[] = [];
  let path: string | undefined = `/users/search?${queryOf(query)}`;
  while (path) {
    const page: Answer = await client.get(path);
    if (page.status !== 200) throw new Error(`${path}: ${page.status} ${page.text}`);
    users.push(...page.body.Results);
    path = nextOf(page);
    if (path && page.body.Results.length !== Number(query['limit']))
      throw new Error('a page before the last is not full');
    if (users.length > page.body.Count) throw new Error(`${users.length} users of ${page.body.Count}`);
  }
  return users;
}

/** Reads all users of a search by `offset`. */
export async function walkByOffset(client: Client, query: Query): Promise<Json[]> {
  const users: Json[] = [];
  for (;;) {
    const page = await search(client, { ...query, offset: users.length });
    if (page.status !== 200) throw new Error(`offset ${users.length}: ${page.status} ${page.text}`);
    if (page.body.Results.length === 0) return users;
    users.push(...page.body.Results);
  }
}

/** Creates many users, 20 at a time. @returns their UUIDs in the order of the bodies. */
export async function createMany(
  client: Client,
  overrides: readonly Record<string, unknown>[],
): Promise<string[]> {
  const uuids: string[] = [];
  for (let from = 0; from < overrides.length; from += 20) {
    const responses = await Promise.all(
      overrides.slice(from, from + 20).map((override) => client.post('/users', aUser(override))),
    );
    for (const { status, text, body } of responses) {
      if (status !== 201) throw new Error(`create: ${status} ${text}`);
      uuids.push(body.uuid as string);
    }
  }
  return uuids;
}
