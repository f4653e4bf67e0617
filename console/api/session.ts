import { createStore } from '../lib/store.js';
import { navigate, toHref } from '../lib/url.js';
import { hasUnsavedForms } from '../lib/unsaved.js';
import {
  type User,
  api,
  unwrap,
  sessionRenewals,
  sessionProblem,
  loadServiceInfo,
  serviceInfo,
} from './client.js';
import { ProblemError, toProblem } from './problem.js';

/** State of the session. */
export type SessionState =
  | { state: 'unknown' }
  | { state: 'signed-out' }
  | { state: 'user'; user: User }
  /** The session has ended while a page was open. The page and its form values stay until the user signs in again. */
  | { state: 'ended'; user: User }
  | { state: 'unreachable'; problem: ProblemError };

export const sessionState = createStore<SessionState>({ state: 'unknown' });

export const getAllRoles = (user: User): string[] => [...user.roles, ...user.group_roles];

/** Returns true for a Webmaster. The service checks permissions itself, so the console only hides what would be rejected. */
export const isWebmaster = (user: User): boolean => getAllRoles(user).includes('Webmaster');

/** Returns true if the user may read other users. */
export const canReadUsers = (user: User): boolean =>
  isWebmaster(user) || !getAllRoles(user).includes('External user');

/** Loads the user of the current session from the service. */
export async function loadSession(): Promise<void> {
  try {
    setSignedIn((await unwrap(api.GET('/api/0.3/users/me'))).data);
  } catch (thrown) {
    handleFailure(thrown);
  }
}

function handleFailure(thrown: unknown): void {
  const problem = toProblem(thrown);
  if (problem.status === 401) clearSession();
  else if (!('user' in sessionState.get())) sessionState.set({ state: 'unreachable', problem });
}

function setSignedIn(user: User): void {
  const isBack = sessionState.get().state === 'ended';
  sessionState.set({ state: 'user', user });
  if (isBack) sessionRenewals.set(sessionRenewals.get() + 1);
}

/** Loads the user when the console starts. Sends no failing request if the browser has no session. */
export const startSession = (): Promise<void> =>
  loadServiceInfo().then(
    () => (serviceInfo.get().has_session ? loadSession() : clearSession()),
    handleFailure,
  );

/** Signs in. @throws ProblemError if the service rejects the login. */
export async function signIn(username: string, password: string): Promise<void> {
  await unwrap(api.POST('/api/0.3/sessions/login', { body: { username, password } }));
  await loadSession();
  otherTabs.postMessage(SIGNED_IN);
}

/** Confirms the session with the password. @throws ProblemError if the service rejects the password. */
export async function confirmSession(password: string): Promise<void> {
  await unwrap(api.POST('/api/0.3/sessions/confirm', { body: { password } }));
}

/** Signs out. @throws ProblemError if the session could not be ended. */
export async function signOut(): Promise<void> {
  try {
    await unwrap(api.POST('/api/0.3/sessions/logout'));
  } catch (thrown) {
    const problem = toProblem(thrown);
    if (problem.status !== 401) throw problem; // with 401, the session has already ended
  }
  clearSession();
  navigate(toHref('/sign-in', { left: true }));
  otherTabs.postMessage(SIGNED_OUT);
}

/** Clears the session, so that the console shows the sign-in page. */
export function clearSession(): void {
  sessionState.set({ state: 'signed-out' });
}

/** Channel between the tabs of a browser, which share one session. */
const otherTabs = new BroadcastChannel('rollcall');
const SIGNED_IN = 'signed in';
const SIGNED_OUT = 'signed out';

/** Checks if the session still belongs to the same user. A failed request is ignored until the next check. */
async function recheckSession(): Promise<void> {
  const known = sessionState.get();
  if (known.state !== 'user' && known.state !== 'ended') return;
  const found = await unwrap(api.GET('/api/0.3/users/me')).catch(() => undefined);
  if (found && (known.state === 'ended' || found.data.uuid !== known.user.uuid)) setSignedIn(found.data);
}

/** Follows sign-ins and sign-outs in other tabs, and checks the session whenever this tab gets the focus. */
export function followOtherTabs(): void {
  otherTabs.onmessage = ({ data }: MessageEvent<string>) => {
    // Signing out clears all tabs except tabs with unsaved changes.
    if (data === SIGNED_OUT && !hasUnsavedForms()) clearSession();
    else void recheckSession();
  };
  addEventListener('focus', () => void recheckSession());
}

sessionProblem.subscribe(() => {
  const known = sessionState.get();
  if (known.state === 'user') sessionState.set({ state: 'ended', user: known.user });
  else if (known.state !== 'ended') sessionState.set({ state: 'signed-out' });
});
