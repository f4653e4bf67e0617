import { existsSync } from 'node:fs';
import { WEBMASTER } from '../../access/roles.js';
import { type DbTime, now, secondsFrom } from '../../platform/common/time.js';
import type { Env } from '../../platform/config/env.js';
import { sqliteFile } from '../../platform/database/engine/connection-options.js';
import { openDatabase } from '../../platform/database/engine/database.js';
import type { Sql } from '../../platform/database/engine/sql.js';
import { type Finding, codeOf, fail, ok, warn } from './finding.js';

/** What the two doctors find in the API keys: `doctor` whether they can be used, `doctor --security` what is risky. */

/** What is asked of a key. In a database of an earlier version it has less. */
export interface StoredKey {
  id: string;
  name: string;
  created: DbTime;
  expires: DbTime | null;
  revoked: DbTime | null;
  last_used: DbTime | null;
  /** What it may do; unknown or null: everything. */
  scopes?: string | null;
  maker_kind?: string | null;
  maker_id?: string | null;
}

/** Keys that a finding names; the rest are counted. */
const NAMED = 5;
const UNUSED_DAYS = 90;

const readKeys = (sql: Sql): Promise<StoredKey[]> =>
  sql.query<StoredKey>('SELECT * FROM api_keys ORDER BY id');

const usableOf = (keys: readonly StoredKey[], time: DbTime): StoredKey[] =>
  keys.filter(({ revoked, expires }) => revoked === null && (expires === null || expires > time));

const isLimited = ({ scopes }: StoredKey): boolean => (scopes ?? null) !== null;

/** Whether there are usable keys, and whose maker has lost the right to make them. */
export async function keyChecks(sql: Sql): Promise<Finding[]> {
  const all = await readKeys(sql);
  const usable = usableOf(all, now());
  if (usable.length === 0)
    return warn('api keys', 'none is usable; create one with "rollcall keys create NAME"');
  const limited = usable.filter(isLimited).length;
  return [
    ...ok('api keys', `${usable.length} usable, ${limited} of them limited by scopes`),
    ...(await makerCheck(sql, all, usable)),
  ];
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
  const seen = new Set<StoredKey>(); // a database that was changed by hand may hold a circle
  while (at?.maker_kind === 'key' && !seen.has(at)) {
    seen.add(at);
    at = byId.get(at.maker_id ?? '');
  }
  return at?.maker_kind === 'user' ? (at.maker_id ?? undefined) : undefined;
}

/** The risks of the keys that can be used now, in a database that the service has made. */
export async function keyRiskChecks(env: Env): Promise<Finding[]> {
  const file = sqliteFile(env);
  if (file !== undefined && !existsSync(file)) return ok('api keys', 'none, as there is no database yet');
  const database = await openDatabase(env);
  try {
    return keyRisks(await readKeys(database), now());
  } catch (error) {
    return fail('api keys', `cannot be read (${codeOf(error)}); see "rollcall doctor"`);
  } finally {
    await database.close();
  }
}

/** The risks of those keys that can be used at a time. */
export function keyRisks(all: readonly StoredKey[], time: DbTime): Finding[] {
  const keys = usableOf(all, time);
  const long = secondsFrom(time, -UNUSED_DAYS * 24 * 60 * 60);
  const lists: [keys: StoredKey[], what: string][] = [
    [keys.filter(({ expires }) => expires === null), 'never expire; make new ones with --expires'],
    [keys.filter((key) => !isLimited(key)), 'may do everything a Webmaster may'],
    [
      keys.filter(({ last_used, created }) => (last_used ?? created) < long),
      `were not used for ${UNUSED_DAYS} days; revoke them`,
    ],
  ];
  const found = lists.flatMap(([some, what]) =>
    some.length === 0 ? [] : warn('api keys', `${some.length} of ${keys.length} ${what}: ${named(some)}`),
  );
  return found.length > 0
    ? found
    : ok('api keys', `${keys.length} usable, all with an end and limited rights`);
}

/** The first names, quoted, since a name is text of whoever made the key, with the ids that revoke them. */
function named(keys: readonly StoredKey[]): string {
  const names = keys.slice(0, NAMED).map(({ id, name }) => `${JSON.stringify(name)} (${id})`);
  return names.join(', ') + (keys.length > NAMED ? ` and ${keys.length - NAMED} more` : '');
}
