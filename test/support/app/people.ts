import { createHash } from 'node:crypto';
import { DATABASE, type Database } from '../../../src/platform/database/engine/database.js';
import { addSeconds, now } from '../../../src/platform/common/time.js';
import type { TestApp } from './app.js';
import type { Answer, Client, Json } from './client.js';
import { create } from '../data/factories.js';

/** Password of every user that `aPerson` creates. */
export const PASSWORD = 'open the window, please';

export interface Person {
  user: Json;
  /** Client with a session of this user. */
  client: Client;
}

/** Creates a user with a password and logs the user in. */
export async function aPerson(app: TestApp, overrides: Record<string, unknown> = {}): Promise<Person> {
  const user = await create(app.key, { password: PASSWORD, ...overrides });
  return { user, client: await app.login(user.username, PASSWORD) };
}

/** Returns the database access of the application, with `?` placeholders on every engine. */
export function databaseOf(app: TestApp): Database {
  return app.app.get<Database>(DATABASE);
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns the time this many seconds from now, in the stored form. */
export const inSeconds = (seconds: number): string => addSeconds(now(), seconds);

/** Returns status and code of an error response. */
export const problemOf = ({ status, body }: Answer): [number, string] => [status, body?.code];

/** Returns field and code of every error of a 422 response, ordered by field. */
export const fieldErrorsOf = ({ body }: Answer): [string, string][] =>
  (body.errors as { field: string; code: string }[])
    .map(({ field, code }): [string, string] => [field, code])
    .sort(([a], [b]) => a.localeCompare(b));

/** Returns name, value and sorted attributes of the cookie that a response sets. */
export function cookieOf({ headers }: Answer): { name: string; value: string; attributes: string[] } {
  const [pair = '', ...attributes] = (headers['set-cookie'] ?? '').split('; ');
  const cut = pair.indexOf('=');
  return { name: pair.slice(0, cut), value: pair.slice(cut + 1), attributes: attributes.sort() };
}
