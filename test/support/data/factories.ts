import { randomBytes } from 'node:crypto';
import type { Client, Json } from '../app/client.js';

/** UUID of no user or group. */
export const UNKNOWN = '00000000-0000-4000-8000-00000000dead';

/** Builds a valid body of `POST /users`. Its unique fields are new in every call. */
export function aUser(overrides: Record<string, unknown> = {}): Record<string, Json> {
  const unique = randomBytes(5).toString('hex');
  return { username: `user-${unique}`, email: `${unique}@example.org`, ...overrides };
}

/** Creates a user. Returns the user as the client reads it. */
export async function create(client: Client, overrides: Record<string, unknown> = {}): Promise<Json> {
  const created = await client.post('/users', aUser(overrides));
  if (created.status !== 201) throw new Error(`create: ${created.status} ${created.text}`);
  return (await client.get(`/users/${created.body.uuid}`)).body;
}
