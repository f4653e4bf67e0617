import { existsSync } from 'node:fs';
import { WEBMASTER } from '../../access/roles.js';
import { type DbTime, DAY_SECONDS, now, addSeconds } from '../../platform/common/time.js';
import type { Env } from '../../platform/config/env.js';
import { sqliteFileOf } from '../../platform/database/engine/connection-options.js';
import { openDatabase } from '../../platform/database/engine/database.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { type Finding, codeOf, fail, ok, warn } from './finding.js';

/** Row of an API key. Databases of earlier releases lack the optional columns. */
export interface StoredKey {
  id: string;
  name: string;
  created: DbTime;
  expires: DbTime | null;
  revoked: DbTime | null;
  last_used: DbTime | null;
  /** Permitted scopes. Missing or null if the key has all rights. */
  scopes?: string | null;
  maker_kind?: string | null;
  maker_id?: string | null;
}

const MAX_NAMED = 5;
const UNUSED_DAYS = 90;

const readApiKeys = (sql: Sql): Promise<StoredKey[]> => sql.query('SELECT * FROM api_keys ORDER BY id');

const filterUsable = (keys: readonly StoredKey[], time: DbTime): StoredKey[] =>
  keys.filter(({ revoked, expires }) => revoked === null && (expires === null || expires > time));

const hasScopes = ({ scopes }: StoredKey): boolean => (scopes ?? null) !== null;

export async function checkKeys(sql: Sql): Promise<Finding[]> {
  const all = await readApiKeys(sql);
  const usable = filterUsable(all, now());
  if (usable.length === 0) return warn('api keys', 'no key is usable. Run "rollcall keys create NAME"');
  const limited = usable.filter(hasScopes).length;
  const counts = ok('api keys', `${usable.length} usable, ${limited} of them limited by scopes`);
  return [...counts, ...(await checkCreators(sql, all, usable))];
}

/**
 * Reports usable keys whose creator is no longer an active Webmaster. For a key that was created with another key,
 * checks the creator of that key.
 */
async function checkCreators(sql: Sql, keys: readonly StoredKey[], usable: StoredKey[]): Promise<Finding[]> {
  const query = `SELECT users.uuid AS uuid FROM user_roles JOIN users ON users.uuid = user_roles.user_uuid
    WHERE user_roles.role = ? AND users.status = 'Active'`;
  const webmasters = await sql.query<{ uuid: string }>(query, [WEBMASTER]);
  const active = new Set(webmasters.map(({ uuid }) => uuid));
  const byId = new Map(keys.map((key) => [key.id, key]));
  const orphans = usable.filter((key) => {
    const creator = creatorOf(key, byId);
    return creator !== undefined && !active.has(creator);
  });
  if (orphans.length === 0) return [];
  const message = `${orphans.length} created by users who are no longer active Webmasters: ${joinNames(orphans)}`;
  return warn('key creators', `${message}. Replace them if they are needed, then revoke them`);
}

/**
 * Returns the user who created a key, directly or with another key. Returns undefined if the service created the key or
 * the creator is unknown.
 */
function creatorOf(key: StoredKey, byId: ReadonlyMap<string, StoredKey>): string | undefined {
  let current: StoredKey | undefined = key;
  // In a manually edited database, two keys may have created each other.
  const seen = new Set<StoredKey>();
  while (current?.maker_kind === 'key' && !seen.has(current)) {
    seen.add(current);
    current = byId.get(current.maker_id ?? '');
  }
  return current?.maker_kind === 'user' ? (current.maker_id ?? undefined) : undefined;
}

export async function checkKeyRisks(env: Env): Promise<Finding[]> {
  const file = sqliteFileOf(env);
  if (file !== undefined && !existsSync(file)) return ok('api keys', 'none, because there is no database');
  const database = await openDatabase(env);
  try {
    return findKeyRisks(await readApiKeys(database), now());
  } catch (error) {
    return fail('api keys', `cannot be read (${codeOf(error)}). Run "rollcall doctor" for details`);
  } finally {
    await database.close();
  }
}

/** Returns the risks of the keys that are usable at the given time, such as keys that never expire. */
export function findKeyRisks(allKeys: readonly StoredKey[], time: DbTime): Finding[] {
  const keys = filterUsable(allKeys, time);
  const limit = addSeconds(time, -UNUSED_DAYS * DAY_SECONDS);
  const unused = keys.filter(({ last_used, created }) => (last_used ?? created) < limit);
  const lists: [keys: StoredKey[], what: string][] = [
    [keys.filter(({ expires }) => expires === null), 'never expire (create new keys with --expires)'],
    [keys.filter((key) => !hasScopes(key)), 'have all rights of a Webmaster'],
    [unused, `were not used for ${UNUSED_DAYS} days (revoke them if possible)`],
  ];
  const found = lists.flatMap(([some, what]) =>
    some.length === 0 ? [] : warn('api keys', `${some.length} of ${keys.length} ${what}: ${joinNames(some)}`),
  );
  if (found.length > 0) return found;
  return ok('api keys', `${keys.length} usable, all with an expiry date and limited scopes`);
}

function joinNames(keys: readonly StoredKey[]): string {
  const names = keys.slice(0, MAX_NAMED).map(({ id, name }) => `${JSON.stringify(name)} (${id})`);
  return names.join(', ') + (keys.length > MAX_NAMED ? ` and ${keys.length - MAX_NAMED} more` : '');
}
