import { store } from '../lib/store.js';
import { go, href } from '../lib/place.js';
import { isUnsaved } from '../lib/unsaved.js';
import { type User, api, ask, renewals, whenSignedOut } from './client.js';
import { Problem, problemOf } from './problem.js';

/** State of the session. */
export type Who =
  | { state: 'unknown' }
  | { state: 'signed-out' }
  | { state: 'user'; user: User }
  /** The session has ended while a page was open. The page and its form values stay until the user signs in again. */
  | { state: 'ended'; user: User }
  | { state: 'unreachable'; problem: Problem };

export const who = store<Who>({ state: 'unknown' });

const held = (user: User): string[] => [...user.roles, ...user.group_roles];

/** Returns true for a Webmaster. The service checks permissions itself, so the console only hides what would be rejected. */
export const isWebmaster = (user: User): boolean => held(user).includes('Webmaster');

/** Returns true if the user may read other users. */
export const seesOthers = (user: User): boolean => isWebmaster(user) || !held(user).includes('External user');

/** Loads the user of the current session from the service. */
export async function findOut(): Promise<void> {
  try {
    const { data } = await ask(api.GET('/api/0.3/users/me'));
    welcome(data);
  } catch (thrown) {
    const problem = problemOf(thrown);
    if (problem.status === 401) who.set({ state: 'signed-out' });
    else if (!('user' in who.get())) who.set({ state: 'unreachable', problem });
  }
}

function welcome(user: User): void {
  const isBack = who.get().state === 'ended';
  who.set({ state: 'user', user });
  if (isBack) renewals.set(renewals.get() + 1);
}

/** Signs in. @throws ProblemError if the service rejects the login. */
export async function signIn(username: string, password: string): Promise<void> {
  await ask(api.POST('/api/0.3/sessions/login', { body: { username, password } }));
  await findOut();
  otherTabs.postMessage(SIGNED_IN);
}

/** Signs out. @throws ProblemError if the session could not be ended. */
export async function signOut(): Promise<void> {
  try {
    await ask(api.POST('/api/0.3/sessions/logout'));
  } catch (thrown) {
    const problem = problemOf(thrown);
    if (problem.status !== 401) throw problem; // with 401, the session has already ended
  }
  forget();
  go(href('/sign-in', { left: true }));
  otherTabs.postMessage(SIGNED_OUT);
}

/** Clears the session, so that the console shows the sign-in page. */
export function forget(): void {
  who.set({ state: 'signed-out' });
}

/** Channel between the tabs of a browser, which share one session. */
const otherTabs = new BroadcastChannel('rollcall');
const SIGNED_IN = 'signed in';
const SIGNED_OUT = 'signed out';

/** Checks if the session still belongs to the same user. A failed request is ignored until the next check. */
async function lookAgain(): Promise<void> {
  const known = who.get();
  if (known.state !== 'user' && known.state !== 'ended') return;
  const found = await ask(api.GET('/api/0.3/users/me')).catch(() => undefined);
  if (found && (known.state === 'ended' || found.data.uuid !== known.user.uuid)) welcome(found.data);
}

/** Follows sign-ins and sign-outs in other tabs, and checks the session whenever this tab gets the focus. */
export function followTabs(): void {
  otherTabs.onmessage = ({ data }: MessageEvent<string>) => {
    // Signing out clears all tabs except tabs with unsaved changes.
    if (data === SIGNED_OUT && !isUnsaved()) forget();
    else void lookAgain();
  };
  addEventListener('focus', () => void lookAgain());
}

whenSignedOut(() => {
  const known = who.get();
  if (known.state === 'user') who.set({ state: 'ended', user: known.user });
  else if (known.state !== 'ended') who.set({ state: 'signed-out' });
});
