import { type ClientContext, API, isDone, textOf } from '../world.js';
import type { Step } from './users.js';

const createPassword = (world: ClientContext): string => `correct horse ${world.createToken()}`;

/** Logs a user in and records the session. @returns the session, or the status of a failed login. */
async function login(
  world: ClientContext,
  owner: string,
  body: { username: unknown; password: string },
): Promise<{ credential: string; cookie: string } | number> {
  const path = `${API}/sessions/login`;
  const { answer, call } = await world.call({ method: 'POST', path, body, keyed: false });
  const cookie = (answer.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
  if (!isDone(call) || cookie === '') return answer.status;
  const credential = world.createToken();
  world.history.add({ kind: 'issue', call, credential, owner, name: '' });
  return { credential, cookie };
}

/**
 * Logs in, uses the session on random instances, ends it in one of several ways, and uses it again on every instance.
 */
export const createSessionUser = (world: ClientContext): Step => {
  let user = '';
  let known = '';
  const renew = async (): Promise<void> => {
    known = createPassword(world);
    user = await world.create({ password: known, username: world.createToken() });
  };
  return async () => {
    if (user === '') await renew();
    if (user === '') return undefined;
    const read = await world.read(user);
    if (!read) return undefined;
    const { username, status } = read.fields;
    if (status !== 'Active') return world.change(user, { status: 'Active' });
    const session = await login(world, user, { username, password: known });
    if (typeof session === 'number') {
      if (session === 401) user = ''; // the outcome of a password change was unknown
      return undefined;
    }
    const { credential, cookie } = session;
    await Promise.all([world.use(credential, { cookie }), world.use(credential, { cookie })]);
    const changed = await endSession(world, user, credential, cookie);
    await world.useEverywhere(credential, { cookie });
    if (changed !== undefined) known = changed;
    return undefined;
  };
};

/** Ends a session in a random way. @returns the new password if it was changed. */
async function endSession(
  world: ClientContext,
  user: string,
  credential: string,
  cookie: string,
): Promise<string | undefined> {
  const way = world.pick(['logout', 'all', 'block', 'password'] as const);
  if (way === 'logout') {
    const path = `${API}/sessions/logout`;
    const { call } = await world.call({ method: 'POST', path, headers: { cookie }, keyed: false });
    world.history.add({ kind: 'end', call, credential, owner: undefined });
  } else if (way === 'all') {
    const path = `${API}/users/${user}/sessions`;
    const { call } = await world.call({ method: 'DELETE', path });
    world.history.add({ kind: 'end', call, credential: undefined, owner: user });
  } else {
    const fresh = createPassword(world);
    const fields = way === 'block' ? { status: 'Blocked' } : { password: fresh };
    const { call } = await world.change(user, fields);
    world.history.add({ kind: 'end', call, credential: undefined, owner: user });
    return way === 'password' && call.effect !== 'none' ? fresh : undefined;
  }
  return undefined;
}

/** Logs a user in while the same user is blocked. No session may be left, whichever request comes first. */
export const createBlockedLogin = (world: ClientContext): Step => {
  let user = '';
  let known = '';
  return async () => {
    if (user === '') {
      known = createPassword(world);
      user = await world.create({ password: known });
    }
    const read = user === '' ? undefined : await world.read(user);
    if (!read) return undefined;
    const { username, status } = read.fields;
    if (status !== 'Active') return world.change(user, { status: 'Active' });
    const [session, { call: blocking }] = await Promise.all([
      login(world, user, { username, password: known }),
      world.change(user, { status: 'Blocked' }),
    ]);
    world.history.add({ kind: 'end', call: blocking, credential: undefined, owner: user });
    if (typeof session === 'number') return undefined;
    return world.useEverywhere(session.credential, { cookie: session.cookie });
  };
};

/** Creates an API key, uses it, revokes it, and uses it again on every instance. */
export async function useNewKey(world: ClientContext): Promise<void> {
  const body = { name: world.createToken() };
  const { answer, call } = await world.call({ method: 'POST', path: `${API}/api_keys`, body });
  const { id, key } = answer.body;
  const credential = textOf(id) || world.createToken();
  world.history.add({ kind: 'issue', call, credential, owner: '', ...body });
  if (!isDone(call) || typeof key !== 'string') return;
  const headers = { 'x-api-key': key };
  await Promise.all([world.use(credential, headers), world.use(credential, headers)]);
  const path = `${API}/api_keys/${credential}`;
  const { call: revoking } = await world.call({ method: 'DELETE', path });
  world.history.add({ kind: 'end', call: revoking, credential, owner: undefined });
  await world.useEverywhere(credential, headers);
}
