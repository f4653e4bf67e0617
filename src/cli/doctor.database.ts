import type { Env } from '../config/env.js';
import { openDataSource, pendingMigrations } from '../database/data-source.js';
import { engineOf } from '../database/database.js';
import type { Sql } from '../database/sql.js';
import { now } from '../common/time.js';
import type { Finding } from './doctor.finding.js';

type Level = Finding['level'];
const finding = (level: Level, what: string, say: string): Finding => ({ level, what, say });

/** Whether the database is there, up to date, and holds somebody who can get in. */
export async function databaseChecks(env: Env): Promise<Finding[]> {
  let dataSource;
  try {
    dataSource = await openDataSource(env);
  } catch (error) {
    const { code = 'unknown' } = error as { code?: string };
    return [
      finding('fail', 'database', `does not answer (${code}); check DATABASE_URL, and that the server runs`),
    ];
  }
  try {
    const sql = engineOf(dataSource);
    const server = await serverChecks(sql, env);
    const pending = await pendingMigrations(dataSource);
    if (pending) {
      const say = 'some are pending; run "rollcall migrate", or start the service with MIGRATE_ON_START=true';
      return [...server, finding('warn', 'migrations', say)];
    }
    return [...server, finding('ok', 'migrations', 'none is pending'), ...(await accessChecks(sql))];
  } finally {
    await dataSource.destroy();
  }
}

async function serverChecks(sql: Sql, env: Env): Promise<Finding[]> {
  if (sql.dialect === 'sqlite') {
    const [row] = await sql.query<{ version: string }>('SELECT sqlite_version() AS version');
    return [finding('ok', 'database', `SQLite ${row?.version ?? ''}`)];
  }
  const [row] = await sql.query<{ version: string; most: number }>(
    'SELECT VERSION() AS version, @@max_connections AS most',
  );
  const { version = '', most = 0 } = row ?? {};
  const pool = `DATABASE_POOL_SIZE=${env.DATABASE_POOL_SIZE} of ${most} connections`;
  const tight = env.DATABASE_POOL_SIZE > most;
  return [
    finding('ok', 'database', version),
    finding(
      tight ? 'warn' : 'ok',
      'connections',
      tight ? `${pool}: lower it, or raise max_connections` : pool,
    ),
  ];
}

async function accessChecks(sql: Sql): Promise<Finding[]> {
  const [webmasters] = await sql.query<{ value: number }>(
    "SELECT value FROM user_counters WHERE name = 'webmasters'",
  );
  const [keys] = await sql.query<{ count: number }>(
    'SELECT COUNT(*) AS count FROM api_keys WHERE revoked IS NULL AND (expires IS NULL OR expires > ?)',
    [now()],
  );
  const nobody = (webmasters?.value ?? 0) === 0;
  const keyless = (keys?.count ?? 0) === 0;
  return [
    nobody
      ? finding(
          'warn',
          'webmasters',
          'nobody is an active Webmaster; the first start of the service makes one',
        )
      : finding('ok', 'webmasters', `${webmasters?.value ?? 0} active`),
    keyless
      ? finding('warn', 'api keys', 'none is usable; make one with "rollcall keys create NAME"')
      : finding('ok', 'api keys', `${keys?.count ?? 0} usable`),
  ];
}
