import { WEBMASTER } from '../../access/roles.js';
import { type DbTime, now } from '../../platform/common/time.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { type Finding, ok, warn } from './finding.js';

interface StoredKey {
  id: string;
  name: string;
  expires: DbTime | null;
  revoked: DbTime | null;
  /** Permitted scopes. Null if the key has all rights. */
  scopes: string | null;
  maker_kind: string;
  maker_id: string | null;
}

const MAX_NAMED = 5;

export async function checkKeys(sql: Sql): Promise<Finding[]> {
  const columns = 'id, name, expires, revoked, scopes, maker_kind, maker_id';
  const all = await sql.query<StoredKey>(`SELECT ${columns} FROM api_keys ORDER BY id`);
  const time = now();
  const usable = all.filter(
    ({ revoked, expires }) => revoked === null && (expires === null || expires > time),
  );
  if (usable.length === 0) return warn('api keys', 'no key is usable. Run "rollcall keys create NAME"');
  const limited = usable.filter(({ scopes }) => scopes !== null).length;
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

function joinNames(keys: readonly StoredKey[]): string {
  const names = keys.slice(0, MAX_NAMED).map(({ id, name }) => `${JSON.stringify(name)} (${id})`);
  return names.join(', ') + (keys.length > MAX_NAMED ? ` and ${keys.length - MAX_NAMED} more` : '');
}
