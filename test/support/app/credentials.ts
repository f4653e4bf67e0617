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

export async function aKey(app: TestApp, ...scopes: string[]): Promise<Credential> {
  const limits = scopes.length > 0 && { scopes };
  const { id, key } = (await app.key.post('/api_keys', { name: 'connector', ...limits })).body;
  return { client: app.guest.with({ 'x-api-key': key }), id };
}

export async function aWebmaster(app: TestApp, overrides: Record<string, unknown> = {}): Promise<Credential> {
  const { user, client } = await aPerson(app, { roles: ['Webmaster'], ...overrides });
  return { client, id: user.uuid };
}

export async function changeUser(app: TestApp, id: string, change: object): Promise<void> {
  expect((await app.key.put(`/users/${id}`, change)).status).toBe(200);
}

/** Ways to invalidate a credential: title, function that creates it, function that invalidates it. */
export const INVALIDATIONS: [
  string,
  (app: TestApp) => Promise<Credential>,
  (app: TestApp, id: string) => Promise<unknown>,
][] = [
  ['revoking an API key', aKey, (app, id) => app.key.delete(`/api_keys/${id}`)],
  [
    'the expiry of an API key',
    aKey,
    (app, id) => databaseOf(app).execute('UPDATE api_keys SET expires = ? WHERE id = ?', [inSeconds(-1), id]),
  ],
  ['blocking a Webmaster', aWebmaster, (app, id) => changeUser(app, id, { status: 'Blocked' })],
  ['demoting a Webmaster', aWebmaster, (app, id) => changeUser(app, id, { roles: ['Editor'] })],
];
