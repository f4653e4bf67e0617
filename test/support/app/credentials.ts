import { expect } from '@jest/globals';
import type { TestApp } from './app.js';
import type { Client } from './client.js';
import { aPerson, databaseOf, inSeconds } from './people.js';

/** An API key or a user with a client that authenticates with it. */
export interface Credential {
  client: Client;
  /** Id of the key or user. */
  id: string;
}

/** Creates an API key with the given scopes. Without scopes, the key has all permissions. */
export const aKey = (app: TestApp, ...scopes: string[]): Promise<Credential> =>
  aKeyWith(app, scopes.length > 0 ? { scopes } : {});

export async function aKeyWith(app: TestApp, settings: object): Promise<Credential> {
  const { id, key } = (await app.key.post('/api_keys', { name: 'connector', ...settings })).body;
  return { client: app.guest.with({ 'x-api-key': key }), id };
}

export async function aWebmaster(app: TestApp, overrides: Record<string, unknown> = {}): Promise<Credential> {
  const { user, client } = await aPerson(app, { roles: ['Webmaster'], ...overrides });
  return { client, id: user.uuid };
}

export async function changeUser(app: TestApp, id: string, change: object): Promise<void> {
  expect((await app.key.put(`/users/${id}`, change)).status).toBe(200);
}

const expireKey = (app: TestApp, id: string): Promise<unknown> =>
  databaseOf(app).execute('UPDATE api_keys SET expires = ? WHERE id = ?', [inSeconds(-1), id]);

/** Ways to invalidate a credential: title, function that creates it, function that invalidates it. */
export const INVALIDATIONS: [
  string,
  (app: TestApp) => Promise<Credential>,
  (app: TestApp, id: string) => Promise<unknown>,
][] = [
  ['revoking an API key', aKey, (app, id) => app.key.delete(`/api_keys/${id}`)],
  ['the expiry of an API key', aKey, expireKey],
  ['blocking a Webmaster', aWebmaster, (app, id) => changeUser(app, id, { status: 'Blocked' })],
  ['demoting a Webmaster', aWebmaster, (app, id) => changeUser(app, id, { roles: ['Editor'] })],
];
