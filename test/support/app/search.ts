import type { Answer, Client, Json } from './client.js';
import { aUser } from '../data/factories.js';

export type Query = Record<string, string | number | boolean | readonly string[]>;

/** Query string of a search; a list repeats its parameter. */
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

/** The usernames that a search finds, sorted; `Count` must agree with them. */
export async function found(client: Client, query: Query | string): Promise<string[]> {
  const answer = await search(client, query);
  if (answer.status !== 200) throw new Error(`search: ${answer.status} ${answer.text}`);
  const { Count, Results } = answer.body as { Count: number; Results: { username: string }[] };
  if (Count !== Results.length) throw new Error(`Count ${Count} of ${Results.length} Results`);
  return Results.map(({ username }) => username).sort();
}

/** Path of the next page as `Client.get` takes it; undefined on the last page. */
export function nextOf({ headers }: Answer): string | undefined {
  const link = /^<\/api\/0\.3(\/[A-Za-z/0-9-]+\?[^>]+)>; rel="next"$/.exec(headers['link'] ?? '');
  if (headers['link'] !== undefined && !link) throw new Error(`odd Link: ${headers['link']}`);
  return link?.[1];
}

/** All users of a search by its Link headers. Every page must be full except the last, and have the same Count. */
export async function walkByLink(client: Client, query: Query): Promise<Json[]> {
  const users: Json[] = [];
  let path: string | undefined = `/users/search?${queryOf(query)}`;
  while (path) {
    const page: Answer = await client.get(path);
    if (page.status !== 200) throw new Error(`${path}: ${page.status} ${page.text}`);
    users.push(...page.body.Results);
    path = nextOf(page);
    if (path && page.body.Results.length !== Number(query['limit']))
      throw new Error('a short page is not the last');
    if (users.length > page.body.Count) throw new Error(`${users.length} users of ${page.body.Count}`);
  }
  return users;
}

/** All users of a search by `offset`. */
export async function walkByOffset(client: Client, query: Query): Promise<Json[]> {
  const users: Json[] = [];
  for (;;) {
    const page = await search(client, { ...query, offset: users.length });
    if (page.status !== 200) throw new Error(`offset ${users.length}: ${page.status} ${page.text}`);
    if (page.body.Results.length === 0) return users;
    users.push(...page.body.Results);
  }
}

/** Creates many users, some at a time. @returns their uuids in the order of the bodies. */
export async function createMany(
  client: Client,
  overrides: readonly Record<string, unknown>[],
): Promise<string[]> {
  const uuids: string[] = [];
  for (let from = 0; from < overrides.length; from += 20) {
    const answers = await Promise.all(
      overrides.slice(from, from + 20).map((override) => client.post('/users', aUser(override))),
    );
    for (const { status, text, body } of answers) {
      if (status !== 201) throw new Error(`create: ${status} ${text}`);
      uuids.push(body.uuid as string);
    }
  }
  return uuids;
}
