import { WEBMASTER } from '../access/roles.js';
import { now } from '../common/time.js';
import type { Sql } from '../database/engine/sql.js';
import { type Finding, ok, warn } from './finding.js';

interface StoredKey {
  id: string;
  name: string;
  expires: string | null;
  revoked: string | null;
  scopes: string | null;
  maker_kind: string | null;
  maker_id: string | null;
}

/** Keys that a finding names; the rest are counted. */
const NAMED = 5;

/** Whether there are usable keys, which of them have no end or full rights, and whose maker has lost the right to make them. */
export async function keyChecks(sql: Sql): Promise<Finding[]> {
  const all = await sql.query<StoredKey>(
    'SELECT id, name, expires, revoked, scopes, maker_kind, maker_id FROM api_keys ORDER BY id',
  );
  const time = now();
  const usable = all.filter(
    ({ revoked, expires }) => revoked === null && (expires === null || expires > time),
  );
  if (usable.length === 0)
    return warn('api keys', 'none is usable; create one with "rollcall keys create NAME"');
  const endless = usable.filter(({ expires }) => expires === null);
  const full = usable.filter(({ scopes }) => scopes === null);
  const traits = [...listed(endless, 'without expiry'), ...listed(full, 'with full rights')];
  return [
    ...ok('api keys', [`${usable.length} usable`, ...traits].join('; ')),
    ...(await makerCheck(sql, all, usable)),
  ];
}

const listed = (keys: readonly StoredKey[], what: string): string[] =>
  keys.length === 0 ? [] : [`${keys.length} ${what}: ${named(keys)}`];

function named(keys: readonly StoredKey[]): string {
  const names = keys.slice(0, NAMED).map(({ id, name }) => `${name} (${id})`);
  return names.join(', ') + (keys.length > NAMED ? ` and ${keys.length - NAMED} more` : '');
}

/** A key outlives its maker's role, and so does every key that was made with it. */
async function makerCheck(
  sql: Sql,
  all: readonly StoredKey[],
  usable: readonly StoredKey[],
): Promise<Finding[]> {
  const webmasters = await sql.query<{ uuid: string }>(
    'SELECT users.uuid AS uuid FROM user_roles JOIN users ON users.uuid = user_roles.user_uuid ' +
      "WHERE user_roles.role = ? AND users.status = 'Active'",
    [WEBMASTER],
  );
  const active = new Set(webmasters.map(({ uuid }) => uuid));
  const byId = new Map(all.map((key) => [key.id, key]));
  const orphans = usable.filter((key) => {
    const person = makerOf(key, byId);
    return person !== undefined && !active.has(person);
  });
  if (orphans.length === 0) return [];
  const message = `${orphans.length} made by users who are no active Webmasters any more: ${named(orphans)}`;
  return warn('key makers', `${message}; revoke them, or replace them and then revoke them`);
}

/** The user at the beginning of a chain of keys; undefined for keys of the service, and of versions that did not note it. */
function makerOf(key: StoredKey, byId: ReadonlyMap<string, StoredKey>): string | undefined {
  let at: StoredKey | undefined = key;
  // A key is older than those that it makes, so that the chain ends.
  while (at?.maker_kind === 'key') at = byId.get(at.maker_id ?? '');
  return at?.maker_kind === 'user' ? (at.maker_id ?? undefined) : undefined;
}
