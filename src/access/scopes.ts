import type { DbTime } from '../platform/common/time.js';

/** What an API key may be limited to. No scope implies another, but `imports:write` holds every data set. */
export const SCOPES = [
  'users:read',
  'users:write',
  'groups:read',
  'groups:write',
  'imports:read',
  'imports:write',
  'audit:read',
  'keys:write',
  /** Needed in addition to make, change, block or delete a Webmaster, or to end one's sessions. */
  'webmasters',
] as const;
export type NamedScope = (typeof SCOPES)[number];
/** `imports:write:<dataset>` is limited to the runs of one data set. */
export type Scope = NamedScope | `${typeof OF_DATASET}${string}`;

const OF_DATASET = 'imports:write:';
const DATASET = /^[A-Za-z0-9._-]{1,64}$/;
/** Characters of the longest scope. */
export const MAX_SCOPE = OF_DATASET.length + 64;

export function isScope(text: string): text is Scope {
  if (text.startsWith(OF_DATASET)) return DATASET.test(text.slice(OF_DATASET.length));
  return SCOPES.some((scope) => scope === text);
}

/** The scope that runs of a data set need to be changed. */
export function datasetScope(dataset: string): Scope {
  return `${OF_DATASET}${dataset}`;
}

/** What an API key may do, from where and until when. null is no limit: the full Webmaster level, anywhere, for ever. */
export interface KeyRights {
  scopes: readonly Scope[] | null;
  /** Networks in CIDR notation, as `access/networks.ts` writes them. */
  networks: readonly string[] | null;
  expires: DbTime | null;
}

export const FULL_RIGHTS: KeyRights = { scopes: null, networks: null, expires: null };
/** Of a key whose rights are not known. */
export const NO_RIGHTS: KeyRights = { ...FULL_RIGHTS, scopes: [] };

/** Whether these scopes permit what needs `wanted`. */
export function covers(held: KeyRights['scopes'], wanted: Scope): boolean {
  if (held === null || held.includes(wanted)) return true;
  return wanted.startsWith(OF_DATASET) && held.includes('imports:write');
}

/** As `covers`, where one data set will do: which one a request is about is known later, and judged by `assertScope`. */
export function coversSome(held: KeyRights['scopes'], wanted: NamedScope): boolean {
  if (covers(held, wanted)) return true;
  return wanted === 'imports:write' && held?.some((scope) => scope.startsWith(OF_DATASET)) === true;
}
