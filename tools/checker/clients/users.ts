import type { Fields } from '../history.js';
import { nextPathOf } from '../final-state.js';
import { type ClientContext, isDone, numberOf } from '../world.js';

/** One step of a client. */
export type Step = () => Promise<unknown>;

/** One step of a client that reads or changes users of the list. */
export type UserStep = (world: ClientContext, users: readonly string[]) => Promise<unknown>;

/** Creates users as a connector does, and reads them from random instances by UUID and name. */
export async function createUser(world: ClientContext): Promise<void> {
  const token = world.createToken();
  // Several creators request the same few external ids.
  const contended = world.hasChance(20) ? `E-${world.random(40)}` : token;
  const user = await world.create({ known_as: token, external_id: contended });
  if (user === '') return;
  const seen = await world.read(user);
  if (seen && world.hasChance(50)) await findByName(world, user, String(seen.fields['username']));
}

/** Searches a user by name. No client changes the name, so the search must find the user. */
async function findByName(world: ClientContext, user: string, username: string): Promise<void> {
  const instance = world.pickInstance();
  const found = await world.search(`username=${encodeURIComponent(username)}`, instance);
  if (found && !found.users.some(({ uuid }) => uuid === user)) {
    const { begin, end } = found;
    world.history.add({ kind: 'read', user, instance, begin, end, fields: undefined });
  }
}

/** Reads a user and writes with `If-Match`. Each write increases the number in `about_me` by one. */
export async function countUp(world: ClientContext, users: readonly string[]): Promise<void> {
  const user = world.pick(users);
  const seen = await world.read(user);
  if (!seen) return;
  const next = numberOf(seen.fields['about_me']) + 1;
  await world.change(user, { about_me: `${next} ${world.createToken()}` }, { seen });
}

/** Writes to the users of the counters without `If-Match`. */
export async function overwrite(world: ClientContext, users: readonly string[]): Promise<void> {
  const user = world.pick(users);
  const fields: Fields = world.hasChance(30)
    ? { known_as: world.createToken(), phone: world.createToken() }
    : { known_as: world.createToken() };
  await world.change(user, fields);
  await world.read(user);
}

/** Gives users names that other users may have. The same name may be a username and an e-mail address. */
export async function takeName(world: ClientContext, users: readonly string[]): Promise<void> {
  const name = `name-${world.random(users.length * 3)}@pool.example.org`;
  const spelled = world.hasChance(30) ? name.toUpperCase() : name;
  await world.change(world.pick(users), { [world.pick(['username', 'email'])]: spelled });
}

/** Lets one user give up a name while two other users request it. */
export async function swapName(world: ClientContext, users: readonly string[]): Promise<void> {
  const [from, ...others] = shuffle(world, users);
  const seen = from === undefined ? undefined : await world.read(from);
  if (from === undefined || !seen) return;
  const name = seen.fields['username'];
  const give = world.change(from, { username: `${world.createToken()}@pool.example.org` });
  if (world.hasChance(50)) await give;
  await Promise.all([give, ...others.slice(0, 2).map((to) => world.change(to, { username: name }))]);
}

/** Sends changes of managers that are valid alone but form a circle together. */
export async function closeManagerCircle(world: ClientContext, users: readonly string[]): Promise<void> {
  const [a, b, c] = shuffle(world, users);
  if (a === undefined || b === undefined || c === undefined) return;
  const ring = world.hasChance(30) ? [a, b, c] : [a, b];
  await Promise.all(
    ring.map((user, index) => world.change(user, { manager_uuid: ring[(index + 1) % ring.length] })),
  );
  await Promise.all(ring.map((user) => world.read(user)));
  if (world.hasChance(60)) await world.change(world.pick(ring), { manager_uuid: null });
}

/** Changes statuses and roles. */
export async function changeStatus(world: ClientContext, users: readonly string[]): Promise<void> {
  const fields = world.hasChance(60)
    ? { status: world.pick(['Active', 'Blocked']) }
    : { roles: [world.pick(['Author', 'Editor', 'Organisational user'])] };
  await world.change(world.pick(users), fields);
}

/**
 * Demotes or blocks the only two Webmasters at the same time, through two instances. One of the changes must be
 * refused.
 */
export async function startWebmasterDuel(world: ClientContext, pair: readonly string[]): Promise<void> {
  const changes = [];
  for (const user of pair) changes.push(await world.change(user, { roles: ['Webmaster'], status: 'Active' }));
  if (!changes.every(({ call }) => isDone(call))) return;
  const first = world.pickInstance();
  await Promise.all(
    pair.map((user, index) => {
      const lose = world.hasChance(50) ? { status: 'Blocked' } : { roles: ['Author'] };
      return world.change(user, lose, { instance: (first + index) % world.sender.instances });
    }),
  );
  await world.search(`role=Webmaster&status=Active`);
  await Promise.all(pair.map((user) => world.read(user)));
}

/** Reads, searches and counts users. */
export async function readUsers(world: ClientContext, users: readonly string[]): Promise<unknown> {
  if (world.hasChance(60)) return world.read(world.pick(users));
  const status = world.pick(['', '', 'Active', 'Blocked']);
  const instance = world.pickInstance();
  const found = await world.search(`limit=5${status === '' ? '' : `&status=${status}`}`, instance);
  if (!found) return undefined;
  const { answer, begin, end } = found;
  const count = Number(answer.body['Count']);
  return world.history.add({ kind: 'count', instance, begin, end, status, count });
}

/** Walks all users by cursor or offset, in the order of their creation. */
export async function walkUsers(world: ClientContext): Promise<void> {
  const instance = world.pickInstance();
  const how = world.hasChance(60) ? 'cursor' : 'offset';
  const walked = await walk(world, how, instance);
  if (walked) world.history.add({ kind: 'walk', how, instance, ...walked });
}

/** Reads all pages of a walk. @returns undefined if a page failed. */
async function walk(
  world: ClientContext,
  how: 'cursor' | 'offset',
  instance: number,
): Promise<{ users: string[]; begin: number; end: number } | undefined> {
  const users: string[] = [];
  let begin: number | undefined;
  const first = 'sort=created&order=asc&limit=100';
  for (let query: string | undefined = first; ;) {
    const page = await world.search(query, instance);
    if (!page) return undefined;
    begin ??= page.begin;
    users.push(...page.users.map(({ uuid }) => String(uuid)));
    if (how === 'cursor') query = nextPathOf(page.answer.headers.link);
    else query = page.users.length < 100 ? undefined : `${first}&offset=${users.length}`;
    if (query === undefined) return { users, begin, end: page.end };
  }
}

function shuffle<T>(world: ClientContext, list: readonly T[]): T[] {
  const left = [...list];
  return list.map(() => left.splice(world.random(left.length), 1)[0] as T);
}
