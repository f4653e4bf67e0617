import { existsSync } from 'node:fs';
import { type DbTime, now, secondsFrom } from '../common/time.js';
import type { Env } from '../config/env.js';
import { sqliteFile } from '../database/engine/connection-options.js';
import { openDatabase } from '../database/engine/database.js';
import { type Finding, codeOf, fail, ok, warn } from './finding.js';

/** What `doctor --security` asks of an API key. */
export interface KeyFacts {
  name: string;
  created: DbTime;
  expires: DbTime | null;
  last_used: DbTime | null;
  /** What it may do; unknown or null: everything. */
  scopes?: string | null;
}

const UNUSED_DAYS = 90;
const MAX_NAMES = 5;

/** The keys that can be used now. */
export async function keyChecks(env: Env): Promise<Finding[]> {
  const file = sqliteFile(env);
  if (file !== undefined && !existsSync(file)) return ok('api keys', 'none, as there is no database yet');
  const database = await openDatabase(env);
  try {
    const keys = await database.query<KeyFacts>(
      'SELECT * FROM api_keys WHERE revoked IS NULL AND (expires IS NULL OR expires > ?) ORDER BY id',
      [now()],
    );
    return keyFindings(keys, now());
  } catch (error) {
    return fail('api keys', `cannot be read (${codeOf(error)}); see "rollcall doctor"`);
  } finally {
    await database.close();
  }
}

export function keyFindings(keys: readonly KeyFacts[], time: DbTime): Finding[] {
  const long = secondsFrom(time, -UNUSED_DAYS * 24 * 60 * 60);
  const lists: [keys: KeyFacts[], what: string][] = [
    [keys.filter(({ expires }) => expires === null), 'never expire; make new ones with --expires'],
    [keys.filter(({ scopes }) => (scopes ?? null) === null), 'may do everything a Webmaster may'],
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

/** The first names; a name is text of whoever made the key. */
function named(keys: readonly KeyFacts[]): string {
  const names = keys.slice(0, MAX_NAMES).map(({ name }) => JSON.stringify(name));
  return [...names, ...(keys.length > MAX_NAMES ? ['…'] : [])].join(', ');
}
