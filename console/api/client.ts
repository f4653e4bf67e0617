import createClient from 'openapi-fetch';
import type { components, paths } from './generated.js';
import { createStore } from '../lib/store.js';
import { ProblemError } from './problem.js';

type Schemas = components['schemas'];
export type User = Schemas['UserDto'];
export type UserInput = Schemas['ChangedUserInput'];
export type DeletedUser = Schemas['DeletedUserDto'];
export type Session = Schemas['SessionDto'];
export type AuditEvent = Schemas['AuditEventDto'];
export type Run = Schemas['ImportRunDto'];
export type Row = Schemas['ImportRowDto'];
export type Guard = Schemas['ImportGuardDto'];
export type Outcome = Row['outcome'];

/** Counts new sessions after an expired session. Requests that failed in between are repeated after each change. */
export const sessionRenewals = createStore(0);

/** Last problem with which the service rejected the session. */
export const sessionProblem = createStore<ProblemError | undefined>(undefined);

const SESSION = { credentials: 'same-origin', cache: 'no-store' } as const;
const SAFE_METHODS = ['GET', 'HEAD'];
/**
 * Requests without an idempotency key: requests and responses with a password, which must not be stored, and previews,
 * which change nothing.
 */
const WITHOUT_IDEMPOTENCY_KEY = /\/(sessions\/(login|confirm)|users\/[^/]+\/password|preview)(\?|$)/;

/** Idempotency keys of changes that have no response yet. */
const pendingKeys = new Map<string, string>();

/**
 * Sends a request that takes effect only once. If the response was lost, repeating the request returns the first response
 * (docs/interface.md, `Idempotency-Key`).
 */
async function fetchOnce(request: Request): Promise<Response> {
  const { method, url, headers, signal } = request;
  if (SAFE_METHODS.includes(method) || WITHOUT_IDEMPOTENCY_KEY.test(url)) return fetch(request);
  const file = headers.get('x-file-name');
  const body = file === null ? await request.text() : '';
  const name = JSON.stringify([method, url, headers.get('if-match'), file ?? body]);
  const key = pendingKeys.get(name) ?? crypto.getRandomValues(new Uint32Array(4)).join('-');
  pendingKeys.set(name, key);
  headers.set('Idempotency-Key', key);
  const response = await (file === null
    ? fetch(url, { method, headers, signal, ...SESSION, ...(body && { body }) })
    : fetch(request));
  if (response.status < 500) pendingKeys.delete(name);
  return response;
}

export type Confirmation = (isConfirmed: boolean) => void;

/** Called after the user has confirmed the session with the password, or has cancelled (`SessionConfirmation`). */
export const pendingConfirmation = createStore<Confirmation | undefined>(undefined);

/** Waits until the user has confirmed the session. @returns false if the user cancels. */
const confirmWithPassword = (): Promise<boolean> =>
  new Promise((resolve) => {
    const earlier = pendingConfirmation.get();
    pendingConfirmation.set((isConfirmed) => {
      pendingConfirmation.set(undefined);
      earlier?.(isConfirmed);
      resolve(isConfirmed);
    });
  });

/** Sends a request. If the service requires a confirmed session, confirms it and repeats the request. */
async function fetchConfirmed(request: Request): Promise<Response> {
  // A file is not sent again, because uploads need no confirmation and the copy would stay in memory.
  const copy = request.headers.has('x-file-name') ? undefined : request.clone();
  const response = await fetchOnce(request);
  if (!copy || response.status !== 403) return response;
  const { code } = (await response.clone().json()) as { code?: string };
  if (code !== 'reauthentication_required' || !(await confirmWithPassword())) return response;
  return fetchOnce(copy);
}

/** Settings of the service that texts contain, and if the browser has a session. Loaded before the first page. */
export const serviceInfo = createStore({ has_session: false, password_min_length: 0, deleted_days: 0 });

/** Loads `serviceInfo`. Unlike a request of the API, this request succeeds without a session. */
export async function loadServiceInfo(): Promise<void> {
  const response = await fetch('/console/session', { cache: 'no-store' }).catch(() => undefined);
  if (!response?.ok) throw new ProblemError(response?.status ?? 0, undefined);
  serviceInfo.set((await response.json()) as ReturnType<typeof serviceInfo.get>);
}

/** Client of the API, typed by `docs/openapi.json`. The browser adds the session cookie. */
export const api = createClient<paths>({ ...SESSION, fetch: fetchConfirmed });

/** Problem for a response that is not JSON and therefore not from the service. */
const UNEXPECTED_RESPONSE = {
  code: 'foreign_answer',
  title: 'Unexpected response',
  detail:
    'The response probably came from a proxy or a network login page instead of the service. Open the service in a new tab, then try again.',
};

type Call<T> = Promise<{ data?: T; error?: unknown; response: Response }>;

/** Returns the response to a call of `api`. @throws ProblemError for an error response or a failed connection. */
export async function unwrap<T>(call: Call<T>): Promise<{ data: NonNullable<T>; headers: Headers }> {
  const { data, error, response } = await call.catch((fault: unknown) => {
    if (fault instanceof DOMException && fault.name === 'AbortError') throw fault;
    throw new ProblemError(0, fault instanceof SyntaxError ? UNEXPECTED_RESPONSE : undefined);
  });
  const { status, ok, headers } = response;
  if (ok) return { data: (data ?? {}) as NonNullable<T>, headers };
  const problem = new ProblemError(status, error, headers);
  if (problem.code === 'unauthenticated') sessionProblem.set(problem);
  throw problem;
}

/** Builds the header with the audit reason of a change. Returns no header for an empty reason. */
export const toReasonHeader = (reason: string): { headers?: Record<string, string> } =>
  reason.trim() === '' ? {} : { headers: { 'X-Audit-Reason': encodeURIComponent(reason.trim()) } };

/** A page of a list. */
export interface ListPage<T> {
  count: number;
  /** False if there may be more rows than `count`. */
  isExact?: boolean;
  rows: T[];
  /** Cursor or offset of the next page. Empty on the last page. */
  next: string;
  /** Filter whose text does not find exactly one user. */
  unknown?: string;
}

/**
 * Loads a page of a list.
 * @param offset number of rows before the page, for a list without cursors.
 */
export async function loadPage<T>(
  call: Call<{ Count: number; CountIsExact?: boolean; Results: T[] }>,
  offset?: number,
): Promise<ListPage<T>> {
  const { data, headers } = await unwrap(call);
  const { Count: count, CountIsExact: isExact = true, Results: rows } = data;
  const end = (offset ?? 0) + rows.length;
  const next = offset === undefined ? getNextCursor(headers) : end < count ? String(end) : '';
  return { count, isExact, rows, next };
}

/** Returns the cursor from the header `Link: <…?after=…>; rel="next"`, or '' on the last page. */
export function getNextCursor(headers: Headers): string {
  const address = /<([^>]+)>;\s*rel="next"/.exec(headers.get('link') ?? '')?.[1];
  return (address && new URL(address, location.origin).searchParams.get('after')) ?? '';
}
