import { api, loadPage, unwrap, toReasonHeader } from '../../api/client.js';
import type { components } from '../../api/generated.js';

export type Key = components['schemas']['ApiKeyDto'];
export type NewKey = components['schemas']['NewApiKeyDto'];
type KeyInput = components['schemas']['ApiKeyInput'];

const PAGE = 50;
const toParams = (id: string) => ({ params: { path: { key_id: id } } });

/** Scopes of keys (docs/interface.md, "Credentials"). */
export const SCOPES: readonly (readonly [scope: string, meaning: string])[] = [
  ['users:read', 'find and read users'],
  ['users:write', 'create, change and block users'],
  ['groups:read', 'read groups'],
  ['groups:write', 'change groups'],
  ['imports:read', 'read imports'],
  ['imports:write', 'start imports, and approve or reject them'],
  ['audit:read', 'read the audit log'],
  ['webmasters', 'create, change and block Webmasters'],
];

/** Loads a page of keys. The query parameter `after` contains the number of keys before the page. */
export function loadKeys(page: URLSearchParams, signal: AbortSignal) {
  const offset = Number(page.get('after') ?? 0);
  const params = { query: { offset, limit: PAGE } };
  return loadPage(api.GET('/api/0.3/api_keys', { params, signal }), offset);
}

/** Creates a key. @throws ProblemError naming the invalid field. */
export async function createKey(body: Partial<KeyInput> & { name: string }): Promise<NewKey> {
  return (await unwrap(api.POST('/api/0.3/api_keys', { body }))).data;
}

export async function revokeKey(id: string, reason: string): Promise<void> {
  await unwrap(api.DELETE('/api/0.3/api_keys/{key_id}', { ...toParams(id), ...toReasonHeader(reason) }));
}

/** Suspends the fuse of a key for an hour, so that it can block any number of users. */
export async function suspendFuse(id: string, reason: string): Promise<void> {
  await unwrap(api.POST('/api/0.3/api_keys/{key_id}/fuse', { ...toParams(id), ...toReasonHeader(reason) }));
}

/** Milliseconds of a day. */
export const DAY = 86_400_000;

/** Returns the days until a key expires, or infinity for a key without expiry. */
export const getDaysLeft = ({ expires }: Key, now = Date.now()): number =>
  expires === null ? Infinity : Math.ceil((Date.parse(expires) - now) / DAY);
