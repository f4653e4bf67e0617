import createClient from 'openapi-fetch';
import type { components, paths } from './generated.js';
import { store } from '../lib/store.js';
import { Problem } from './problem.js';

type Schemas = components['schemas'];
export type User = Schemas['UserDto'];
export type UserInput = Schemas['ChangedUserInput'];
export type Session = Schemas['SessionDto'];
export type HistoryEvent = Schemas['HistoryEventDto'];
export type Run = Schemas['ImportRunDto'];
export type Row = Schemas['ImportRowDto'];
export type Guard = Schemas['ImportGuardDto'];
export type Outcome = Row['outcome'];

/** Counts the sessions that followed one that had ended: what was refused meanwhile is asked for again. */
export const renewals = store(0);

/** Told when the service no longer knows the session. */
let onSignedOut: () => void = () => undefined;
export const whenSignedOut = (listener: () => void): void => {
  onSignedOut = listener;
};

const SESSION = { credentials: 'same-origin', cache: 'no-store' } as const;
const SAFE = ['GET', 'HEAD'];
/** A login needs no key, and its password is not to be kept; a look at a file changes nothing. */
const WITHOUT_KEY = /\/(sessions\/login|preview)(\?|$)/;

/** Requests that change something and have no answer yet, each with its key. */
const unanswered = new Map<string, string>();

/**
 * Sends a request so that it takes effect once: whoever repeats what has lost its answer gets the first answer (docs/interface.md,
 * `Idempotency-Key`).
 */
async function once(request: Request): Promise<Response> {
  const { method, url, headers, signal } = request;
  if (SAFE.includes(method) || WITHOUT_KEY.test(url)) return fetch(request);
  const file = headers.get('x-file-name');
  const body = file === null ? await request.text() : '';
  const name = JSON.stringify([method, url, headers.get('if-match'), file ?? body]);
  const key = unanswered.get(name) ?? crypto.getRandomValues(new Uint32Array(4)).join('-');
  unanswered.set(name, key);
  headers.set('Idempotency-Key', key);
  const response = await (file === null
    ? fetch(url, { method, headers, signal, ...SESSION, ...(body && { body }) })
    : fetch(request));
  if (response.status < 500) unanswered.delete(name);
  return response;
}

/** The interface of the service, typed by `docs/openapi.json`. The browser adds the cookie of the session. */
export const api = createClient<paths>({
  baseUrl: '',
  ...SESSION,
  fetch: once,
});

export interface Answer<T> {
  data: T;
  headers: Headers;
}

/** An answer that is no JSON is not from the service. */
const FOREIGN = {
  code: 'foreign_answer',
  title: 'Something else than the service has answered',
  detail:
    'A proxy or a login page of the network may stand between. Open the service in a new tab, then try again.',
};

/** The answer to a call of `api`. @throws Problem as the service describes it. */
export async function ask<T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<Answer<NonNullable<T>>> {
  const { data, error, response } = await call.catch((fault: unknown) => {
    if (fault instanceof DOMException && fault.name === 'AbortError') throw fault;
    throw fault instanceof SyntaxError ? new Problem(0, FOREIGN) : new Problem(0, undefined);
  });
  const { status, ok, headers } = response;
  if (ok) return { data: (data ?? {}) as NonNullable<T>, headers };
  const problem = new Problem(status, error, headers);
  if (problem.code === 'unauthenticated') onSignedOut();
  throw problem;
}

/** The header by which the audit learns why something is done; none where nothing was said. */
export const because = (reason: string): { headers?: Record<string, string> } =>
  reason.trim() === '' ? {} : { headers: { 'X-Audit-Reason': encodeURIComponent(reason.trim()) } };

/** The cursor of the next page, from the header `Link: <…?after=…>; rel="next"`; '' at the end. */
export function nextOf(headers: Headers): string {
  const address = /<([^>]+)>;\s*rel="next"/.exec(headers.get('link') ?? '')?.[1];
  return (address && new URL(address, location.origin).searchParams.get('after')) ?? '';
}
