import { now } from '../common/time.js';
import { type Env, EnvError } from '../config/env.js';
import { openDataSource, pendingMigrations } from '../database/data-source.js';
import { type Database, openDatabase } from '../database/engine/database.js';
import type { Sql } from '../database/engine/sql.js';
import type { Program } from './service.js';
import { type Finding, codeOf, fail, ok, warn } from './doctor-finding.js';

/** Whether the database is there, up to date, and holds somebody who can get in. */
export async function databaseChecks(env: Env, { entities }: Program): Promise<Finding[]> {
  let dataSource;
  try {
    dataSource = await openDataSource(env, entities);
  } catch (error) {
    if (error instanceof EnvError) return fail('database', error.message);
    return fail('database', `does not answer (${codeOf(error)}); ${remedy(env)}`);
  }
  const findings: Finding[] = [];
  let sql: Database | undefined;
  try {
    sql = openDatabase(env);
    findings.push(...(await serverChecks(sql, env)));
    const pending = await pendingMigrations(dataSource);
    findings.push(...migrationsCheck(pending));
    if (!pending) findings.push(...(await accessChecks(sql)));
  } catch (error) {
    // What was found before stays true.
    const say = `answers, but not as this program expects (${codeOf(error)}); check its tables and the user's rights`;
    findings.push(...fail('database', say));
  } finally {
    await dataSource.destroy();
    await sql?.close();
  }
  return findings;
}

const remedy = ({ databaseUrl }: Env): string =>
  databaseUrl.startsWith('sqlite:')
    ? 'check the file of DATABASE_URL (or of DATA_DIR), who owns it and its folder'
    : 'check DATABASE_URL, and that the server runs and knows this user';

async function serverChecks(sql: Sql, env: Env): Promise<Finding[]> {
  if (sql.dialect === 'sqlite') {
    const row = await sql.first<{ version: string }>('SELECT sqlite_version() AS version');
    return ok('database', `SQLite ${row?.version ?? ''}`);
  }
  const row = await sql.first<{ version: string; most: number }>(
    'SELECT VERSION() AS version, @@max_connections AS most',
  );
  return [...ok('database', row?.version ?? ''), ...poolCheck(env, row?.most ?? 0)];
}

/** @param most connections that the server takes, from everybody together. */
export function poolCheck(
  { DATABASE_POOL_SIZE, WORKERS }: Pick<Env, 'DATABASE_POOL_SIZE' | 'WORKERS'>,
  most: number,
): Finding[] {
  const workers = WORKERS > 1 ? ` times WORKERS=${WORKERS}` : '';
  const say = `DATABASE_POOL_SIZE=${DATABASE_POOL_SIZE}${workers} of ${most} connections`;
  return DATABASE_POOL_SIZE * WORKERS > most
    ? warn('connections', `${say}: lower it, or raise max_connections`)
    : ok('connections', say);
}

const PENDING = 'some are pending; run "rollcall migrate", or start the service with MIGRATE_ON_START=true';

const migrationsCheck = (pending: boolean): Finding[] =>
  pending ? warn('migrations', PENDING) : ok('migrations', 'none is pending');

async function accessChecks(sql: Sql): Promise<Finding[]> {
  const webmasters = await sql.first<{ value: number }>(
    "SELECT value FROM user_counters WHERE name = 'webmasters'",
  );
  const keys = await sql.first<{ count: number }>(
    'SELECT COUNT(*) AS count FROM api_keys WHERE revoked IS NULL AND (expires IS NULL OR expires > ?)',
    [now()],
  );
  const people = webmasters?.value ?? 0;
  const usable = keys?.count ?? 0;
  const nobody =
    'nobody is an active Webmaster; where there are no users yet, start the service, else grant the role with an API key';
  return [
    ...(people === 0 ? warn('webmasters', nobody) : ok('webmasters', `${people} active`)),
    ...(usable === 0
      ? warn('api keys', 'none is usable; make one with "rollcall keys create NAME"')
      : ok('api keys', `${usable} usable`)),
  ];
}
