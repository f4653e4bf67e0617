import { store, useStore } from './store.js';
import { isUnsaved, unlessUnsaved } from './unsaved.js';

/** Base path of the console. */
const BASE = '/console';

/** The parts of the current URL that determine what a page shows, so that it can be shared and reloaded. */
export interface Place {
  /** Path below `/console`, with a leading slash and no trailing slash: `/users`. */
  path: string;
  query: URLSearchParams;
}

/** Query parameters to set. The values undefined, '' and false remove a parameter. */
export type Changes = Record<string, string | readonly string[] | boolean | undefined>;

function read(): Place {
  const path = location.pathname.slice(BASE.length).replace(/\/+$/, '');
  return { path: path || '/', query: new URLSearchParams(location.search) };
}

const place = store(read());

/** The displayed history entry. It is restored if the user cancels leaving a page with unsaved changes. */
let shown: { address: string; state: unknown } = { address: here(), state: history.state };

function show(): void {
  shown = { address: here(), state: history.state };
  place.set(read());
}

addEventListener('popstate', () => {
  if (!isUnsaved()) {
    show();
    return;
  }
  history.pushState(shown.state, '', shown.address);
  unlessUnsaved(() => {
    history.back();
  });
});

export const usePlace = (): Place => useStore(place);

/** Builds the URL of a console page. */
export function href(path: string, changes: Changes = {}): string {
  const query = withChanges(new URLSearchParams(), changes).toString();
  return `${BASE}${path === '/' ? '' : path}${query && `?${query}`}`;
}

/**
 * Navigates to a console URL. Asks for confirmation first if there are unsaved changes.
 * @param replace true replaces the history entry without asking.
 */
export function go(
  address: string,
  { replace = false, state = {} }: { replace?: boolean; state?: object } = {},
) {
  if (replace) {
    history.replaceState(state, '', address);
    show();
    return;
  }
  unlessUnsaved(() => {
    history.pushState(state, '', address);
    show();
  });
}

/** Returns the path and query of the current URL. */
export function here(): string {
  return location.pathname + location.search;
}

/** Returns true if a URL points to the console. URLs in a query are untrusted. */
export function isOurs(address: string): boolean {
  const { origin, pathname } = new URL(address, location.origin);
  return origin === location.origin && (pathname === BASE || pathname.startsWith(`${BASE}/`));
}

/** Changes query parameters of the current URL. */
export function setQuery(changes: Changes, options: { replace?: boolean; state?: object } = {}): void {
  const query = withChanges(new URLSearchParams(location.search), changes).toString();
  go(`${location.pathname}${query && `?${query}`}`, options);
}

function withChanges(query: URLSearchParams, changes: Changes): URLSearchParams {
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const each of [value].flat()) if (each) query.append(name, String(each));
  }
  return query;
}

/** Handles clicks on console links without a page load. New tabs and downloads are left to the browser. */
export function followLinks(): void {
  addEventListener('click', (event) => {
    const { target, button } = event;
    const link = target instanceof Element ? target.closest('a') : null;
    const isPlain = button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!link || !isPlain || link.target || link.hasAttribute('download') || !isOurs(link.href)) return;
    if (link.hash !== '') return; // the browser scrolls to the anchor
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
