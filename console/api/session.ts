import { store } from '../lib/store.js';
import { go, here, href } from '../lib/place.js';
import { type User, api, ask, whenSignedOut } from './client.js';
import { Problem, problemOf } from './problem.js';

/** Who uses the console, as far as it is known. */
export type Who =
  | { state: 'unknown' }
  | { state: 'nobody' }
  | { state: 'user'; user: User }
  | { state: 'unreachable'; problem: Problem };

export const who = store<Who>({ state: 'unknown' });

const held = (user: User): string[] => [...user.roles, ...user.group_roles];

/** Whether the service lets this user do everything. It decides; the console only leaves out what would be refused. */
export const isWebmaster = (user: User): boolean => held(user).includes('Webmaster');

/** Whether the user may look at others. */
export const seesOthers = (user: User): boolean => isWebmaster(user) || !held(user).includes('External user');

/** Asks the service whose session it is. */
export async function findOut(): Promise<void> {
  try {
    const { data } = await ask(api.GET('/api/0.3/users/me'));
    who.set({ state: 'user', user: data });
  } catch (thrown) {
    const problem = problemOf(thrown);
    who.set(problem.status === 401 ? { state: 'nobody' } : { state: 'unreachable', problem });
  }
}

/** @throws Problem where the service refuses the login. */
export async function signIn(username: string, password: string): Promise<void> {
  await ask(api.POST('/api/0.3/sessions/login', { body: { username, password } }));
  await findOut();
}

export async function signOut(): Promise<void> {
  await ask(api.POST('/api/0.3/sessions/logout')).catch(() => undefined); // it has ended anyway
  who.set({ state: 'nobody' });
  go(href('/sign-in'));
}

whenSignedOut(() => {
  const wasIn = who.get().state === 'user';
  who.set({ state: 'nobody' });
  if (wasIn) go(href('/sign-in', { back: here(), ended: true }), { replace: true });
});
