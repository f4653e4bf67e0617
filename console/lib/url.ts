import { createStore, useStore } from './store.js';
import { hasUnsavedForms, confirmIfUnsaved } from './unsaved.js';

/** Base path of the console. */
const BASE = '/console';

/** The parts of the current URL that determine what a page shows, so that it can be shared and reloaded. */
export interface ConsoleUrl {
  /** Path below `/console`, with a leading slash and no trailing slash: `/users`. */
  path: string;
  query: URLSearchParams;
}

/** Query parameters to set. The values undefined, '' and false remove a parameter. */
export type QueryChanges = Record<string, string | readonly string[] | boolean | undefined>;

function readUrl(): ConsoleUrl {
  const path = location.pathname.slice(BASE.length).replace(/\/+$/, '');
  return { path: path || '/', query: new URLSearchParams(location.search) };
}

const currentUrl = createStore(readUrl());

/** The displayed history entry. It is restored if the user cancels leaving a page with unsaved changes. */
let displayedEntry: { address: string; state: unknown } = { address: getCurrentHref(), state: history.state };

function updateCurrentUrl(): void {
  displayedEntry = { address: getCurrentHref(), state: history.state };
  currentUrl.set(readUrl());
}

addEventListener('popstate', () => {
  if (!hasUnsavedForms()) {
    updateCurrentUrl();
    return;
  }
  history.pushState(displayedEntry.state, '', displayedEntry.address);
  confirmIfUnsaved(() => history.back());
});

export const useUrl = (): ConsoleUrl => useStore(currentUrl);

/** Builds the URL of a console page. */
export function toHref(path: string, changes: QueryChanges = {}): string {
  const query = applyChanges(new URLSearchParams(), changes).toString();
  return `${BASE}${path === '/' ? '' : path}${query && `?${query}`}`;
}

/**
 * Navigates to a console URL. Asks for confirmation first if there are unsaved changes.
 * @param replace true replaces the history entry without asking.
 */
export function navigate(
  address: string,
  { replace = false, state = {} }: { replace?: boolean; state?: object } = {},
) {
  const go = (): void => {
    history[replace ? 'replaceState' : 'pushState'](state, '', address);
    updateCurrentUrl();
  };
  if (replace) go();
  else confirmIfUnsaved(go);
}

/** Returns the path and query of the current URL. */
export function getCurrentHref(): string {
  return location.pathname + location.search;
}

/** Returns true if a URL points to the console. URLs in a query are untrusted. */
export function isConsoleUrl(address: string): boolean {
  const { origin, pathname } = new URL(address, location.origin);
  return origin === location.origin && (pathname === BASE || pathname.startsWith(`${BASE}/`));
}

/** Changes query parameters of the current URL. */
export function setQuery(changes: QueryChanges, options: { replace?: boolean; state?: object } = {}): void {
  const query = applyChanges(new URLSearchParams(location.search), changes).toString();
  navigate(`${location.pathname}${query && `?${query}`}`, options);
}

function applyChanges(query: URLSearchParams, changes: QueryChanges): URLSearchParams {
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const each of [value].flat()) if (each) query.append(name, String(each));
  }
  return query;
}

/** Handles clicks on console links without a page load. New tabs and downloads are left to the browser. */
export function interceptLinkClicks(): void {
  addEventListener('click', (event) => {
    const { target, button } = event;
    const link = target instanceof Element ? target.closest('a') : null;
    const isPlain = button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!link || !isPlain || link.target || link.hasAttribute('download') || !isConsoleUrl(link.href)) return;
    if (link.hash !== '') return; // the browser scrolls to the anchor
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}
