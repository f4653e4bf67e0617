import { api, ask, because } from '../../api/client.js';
import type { components } from '../../api/generated.js';

export type Key = components['schemas']['ApiKeyDto'];
export type NewKey = components['schemas']['NewApiKeyDto'];
type KeyInput = components['schemas']['ApiKeyInput'];

const PAGE = 50;
const at = (id: string) => ({ params: { path: { key_id: id } } });

/** What a key may be limited to (docs/interface.md, "Credentials"). */
export const SCOPES: readonly (readonly [scope: string, meaning: string])[] = [
  ['users:read', 'find and read users'],
  ['users:write', 'create, change and block users'],
  ['groups:read', 'read groups'],
  ['groups:write', 'change groups'],
  ['imports:read', 'read imports'],
  ['imports:write', 'start and decide on imports'],
  ['audit:read', 'read the audit'],
  ['webmasters', 'make, change and block Webmasters'],
];

/** @param after how many keys are before the page. */
export async function loadKeys(after: string, signal: AbortSignal) {
  const offset = Number(after || 0);
  const call = api.GET('/api/0.3/api_keys', { params: { query: { offset, limit: PAGE } }, signal });
  const { Count: count, Results: keys } = (await ask(call)).data;
  const end = offset + keys.length;
  return { count, keys, next: end < count ? String(end) : '' };
}

/** @throws Problem naming the bad field. */
export async function createKey(wanted: Partial<KeyInput> & { name: string }): Promise<NewKey> {
  const body = wanted; // for the generator a field with a default is one that must be sent
  return (await ask(api.POST('/api/0.3/api_keys', { body }))).data;
}

export async function revokeKey(id: string, reason: string): Promise<void> {
  await ask(api.DELETE('/api/0.3/api_keys/{key_id}', { ...at(id), ...because(reason) }));
}

/** Lets the key block any number of users for an hour. */
export async function openFuse(id: string, reason: string): Promise<void> {
  await ask(api.POST('/api/0.3/api_keys/{key_id}/fuse', { ...at(id), ...because(reason) }));
}

const DAY = 86_400_000;

/** Days until a key ends; undefined for one that does not. */
export const daysLeft = ({ expires }: Key, now = Date.now()): number | undefined =>
  expires === null ? undefined : Math.ceil((Date.parse(expires) - now) / DAY);
