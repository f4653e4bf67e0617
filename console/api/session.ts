import { store } from '../lib/store.js';
import { go, href } from '../lib/place.js';
import { isUnsaved } from '../lib/unsaved.js';
import { type User, api, ask, renewals, whenSignedOut } from './client.js';
import { Problem, problemOf } from './problem.js';

/** Who uses the console, as far as it is known. */
export type Who =
  | { state: 'unknown' }
  | { state: 'nobody' }
  | { state: 'user'; user: User }
  /** The session has ended while the page was open: it stays, with what was typed, until this user is back. */
  | { state: 'ended'; user: User }
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
    welcome(data);
  } catch (thrown) {
    const problem = problemOf(thrown);
    if (problem.status === 401) who.set({ state: 'nobody' });
    else if (!('user' in who.get())) who.set({ state: 'unreachable', problem });
  }
}

function welcome(user: User): void {
  const isBack = who.get().state === 'ended';
  who.set({ state: 'user', user });
  if (isBack) renewals.set(renewals.get() + 1);
}

/** @throws Problem where the service refuses the login. */
export async function signIn(username: string, password: string): Promise<void> {
  await ask(api.POST('/api/0.3/sessions/login', { body: { username, password } }));
  await findOut();
  otherTabs.postMessage(SIGNED_IN);
}

/** @throws Problem where the session goes on. */
export async function signOut(): Promise<void> {
  try {
    await ask(api.POST('/api/0.3/sessions/logout'));
  } catch (thrown) {
    const problem = problemOf(thrown);
    if (problem.status !== 401) throw problem; // else it has ended already
  }
  forget();
  go(href('/sign-in', { left: true }));
  otherTabs.postMessage(SIGNED_OUT);
}

/** Nobody is here any more: the page goes to where one signs in. */
export function forget(): void {
  who.set({ state: 'nobody' });
}

/** Tabs of a browser have one session: what one of them does to it, the others must know. */
const otherTabs = new BroadcastChannel('rollcall');
const SIGNED_IN = 'signed in';
const SIGNED_OUT = 'signed out';

/** Looks whether it is still the session of the same user. What cannot be asked is asked the next time. */
async function lookAgain(): Promise<void> {
  const known = who.get();
  if (known.state !== 'user' && known.state !== 'ended') return;
  const found = await ask(api.GET('/api/0.3/users/me')).catch(() => undefined);
  if (found && (known.state === 'ended' || found.data.uuid !== known.user.uuid)) welcome(found.data);
}

/** Follows what other tabs do, and looks again whenever somebody comes back to this one. */
export function followTabs(): void {
  otherTabs.onmessage = ({ data }: MessageEvent<string>) => {
    // Whoever signs out leaves nothing on any screen, unless it would be lost.
    if (data === SIGNED_OUT && !isUnsaved()) forget();
    else void lookAgain();
  };
  addEventListener('focus', () => void lookAgain());
}

whenSignedOut(() => {
  const known = who.get();
  if (known.state === 'user') who.set({ state: 'ended', user: known.user });
  else if (known.state !== 'ended') who.set({ state: 'nobody' });
});
