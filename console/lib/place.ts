import { store, useStore } from './store.js';
import { isUnsaved, unlessUnsaved } from './unsaved.js';

/** Where the service has the console. */
const BASE = '/console';

/** What the address says: everything that a page shows can be told from it, so that it can be shared and reloaded. */
export interface Place {
  /** Below `/console`, with a slash in front and none behind: `/users`. */
  path: string;
  query: URLSearchParams;
}

/** Values of the query to set; undefined, '' and false remove one. */
export type Changes = Record<string, string | readonly string[] | boolean | undefined>;

function read(): Place {
  const path = location.pathname.slice(BASE.length).replace(/\/+$/, '');
  return { path: path || '/', query: new URLSearchParams(location.search) };
}

const place = store(read());

/** What the browser shows, to come back to when somebody who has gone back or forward wants to stay. */
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

/** The address of a page of the console. */
export function href(path: string, changes: Changes = {}): string {
  const query = withChanges(new URLSearchParams(), changes).toString();
  return `${BASE}${path === '/' ? '' : path}${query && `?${query}`}`;
}

/**
 * Goes to an address of the console; where something is typed and not saved, after a question.
 * @param replace the address instead of adding one to the history, without a question.
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

/** The address that is shown now, to come back to. */
export function here(): string {
  return location.pathname + location.search;
}

/** Whether an address leads to a page of the console: what stands in a query may be written by anybody. */
export function isOurs(address: string): boolean {
  const { origin, pathname } = new URL(address, location.origin);
  return origin === location.origin && (pathname === BASE || pathname.startsWith(`${BASE}/`));
}

/** Changes the query of the page that is shown. */
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

/** Links of the console change the page without loading another one; what opens a tab or a file is left to the browser. */
export function followLinks(): void {
  addEventListener('click', (event) => {
    const { target, button } = event;
    const link = target instanceof Element ? target.closest('a') : null;
    const isPlain = button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!link || !isPlain || link.target || link.hasAttribute('download') || !isOurs(link.href)) return;
    if (link.hash !== '') return; // a place in the page: the browser goes there
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
