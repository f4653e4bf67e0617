import { setTimeout as delay } from 'node:timers/promises';
import type { Fields } from './history.js';
import type { Json, Sender } from './sender.js';
import { API, trackedOf } from './world.js';

/** An audit event as the API shows it. */
export interface AuditRow {
  id: string;
  action: string;
  actor: { kind: string; id: string | null };
  target: { kind: string; id: string };
  changes: readonly { field: string; old?: unknown; new?: unknown }[];
  request_id: string;
}

/** The data that one instance shows after recovery, when no client is running. */
export interface InstanceState {
  instance: number;
  /** Users in the order of a walk by cursor. A user who is seen twice is listed twice. */
  users: readonly { uuid: string; fields: Fields }[];
  /** UUIDs of a walk by offset. */
  byOffset: readonly string[];
  /** `Count` by status. The empty status stands for a search without a filter. */
  counts: Readonly<Record<string, number>>;
}

interface Run {
  state: string;
  file: string;
}

/** A search with the users that it must find. */
interface Lookup {
  query: string;
  expected: readonly string[];
  /** True if the search must not find other users. */
  exact: boolean;
  found: readonly string[];
}

export interface FinalState {
  seen: readonly InstanceState[];
  lookups: readonly Lookup[];
  /** Names of all API keys. */
  keys: readonly string[];
  /** Audit events, oldest first. */
  audit: readonly AuditRow[];
  runs: readonly Run[];
}

const PATIENCE = 30_000;
/** Number of users whose look-ups are checked. Clients change the first users most often. */
const CHANGED_MOST = 40;

/** Reads all data that the checks need. @throws Error if an instance does not respond for half a minute. */
export async function readFinalState(sender: Sender): Promise<FinalState> {
  const seen: InstanceState[] = [];
  for (let instance = 0; instance < sender.instances; instance++) {
    const users = await readPages(sender, instance, `${API}/users/search?sort=created&order=asc&limit=100`);
    const byOffset = await readList(sender, instance, `${API}/users/search?sort=created&order=asc&limit=100`);
    const counts: Record<string, number> = {};
    for (const status of ['', 'Active', 'Blocked']) {
      const filter = status === '' ? '' : `&status=${status}`;
      const body = await readBody(sender, instance, `${API}/users/search?limit=1${filter}`);
      counts[status] = Number(body['Count']);
    }
    const list = users.map((user) => ({ uuid: String(user['uuid']), fields: trackedOf(user) }));
    seen.push({ instance, users: list, byOffset: byOffset.map(({ uuid }) => String(uuid)), counts });
  }
  const last = sender.instances - 1;
  const audit = await readPages(sender, last, `${API}/audit?limit=100`);
  const runs = await readList(sender, last, `${API}/imports?limit=100`);
  const keys = await readList(sender, last, `${API}/api_keys?limit=100`);
  return {
    seen,
    lookups: await runLookups(sender, seen[0]?.users ?? []),
    keys: keys.map(({ name }) => String(name)),
    // A failed login names a user but changes nothing.
    audit: (audit as unknown[] as AuditRow[])
      .filter(({ action }) => action !== 'session.login_failed')
      .toReversed(),
    runs: runs.map(({ state, file }) => ({ state: String(state), file: String((file as Json)['name']) })),
  };
}

/** Reads a whole list by offset. @param query a path with a limit of 100. */
async function readList(sender: Sender, instance: number, query: string): Promise<Json[]> {
  const found: Json[] = [];
  for (let more = true; more;) {
    const page = (await readBody(sender, instance, `${query}&offset=${found.length}`))['Results'] as Json[];
    found.push(...page);
    more = page.length === 100;
  }
  return found;
}

/** Searches users by names, words and roles, whose look-up tables must match the users. */
async function runLookups(sender: Sender, users: InstanceState['users']): Promise<Lookup[]> {
  const found: Lookup[] = [];
  const search = async (query: string, expected: string[], exact: boolean): Promise<void> => {
    const results = await readPages(sender, 0, `${API}/users/search?limit=100&${query}`);
    found.push({ query, expected, exact, found: results.map(({ uuid }) => String(uuid)) });
  };
  for (const { uuid, fields } of users.slice(0, CHANGED_MOST)) {
    for (const field of ['username', 'email', 'external_id']) {
      const value = fields[field];
      if (typeof value === 'string') await search(`${field}=${encodeURIComponent(value)}`, [uuid], true);
    }
    const { known_as: word } = fields;
    if (typeof word === 'string') await search(`fulltext_search=${encodeURIComponent(word)}`, [uuid], false);
  }
  const roles = new Set(users.flatMap(({ fields }) => fields['roles'] as string[]));
  for (const role of [...roles].filter((one) => one !== 'Organisational user')) {
    const holders = users.filter(({ fields }) => (fields['roles'] as string[]).includes(role));
    const expected = holders.map(({ uuid }) => uuid);
    await search(`role=${encodeURIComponent(role)}`, expected, true);
  }
  return found;
}

async function readPages(sender: Sender, instance: number, first: string): Promise<Json[]> {
  const found: Json[] = [];
  for (let path: string | undefined = first; path !== undefined;) {
    const { body, link } = await readPage(sender, instance, path);
    found.push(...(body['Results'] as Json[]));
    path = link;
  }
  return found;
}

const readBody = async (sender: Sender, instance: number, path: string): Promise<Json> =>
  (await readPage(sender, instance, path)).body;

async function readPage(
  sender: Sender,
  instance: number,
  path: string,
): Promise<{ body: Json; link: string | undefined }> {
  const until = performance.now() + PATIENCE;
  for (;;) {
    const [{ status, body, headers, code }] = await sender.send({ method: 'GET', path, instance });
    if (status === 200) return { body, link: nextPathOf(headers['link']) };
    if (performance.now() > until) throw new Error(`instance ${instance}: ${status} ${code} for ${path}`);
    await delay(250);
  }
}

/** Returns the path of the next page from a `Link` header, or undefined. */
export function nextPathOf(link: string | string[] | undefined): string | undefined {
  const target = /<([^>]+)>; rel="next"/.exec(String(link ?? ''))?.[1];
  if (target === undefined) return undefined;
  const { pathname, search } = new URL(target, 'http://localhost');
  return pathname.startsWith(API) ? pathname + search : API + pathname + search;
}
