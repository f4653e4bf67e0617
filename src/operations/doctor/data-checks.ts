import { type DbTime, toMillis } from '../../platform/common/time.js';
import type { Env } from '../../platform/config/env.js';
import { openSnapshot } from '../../platform/database/engine/backup-connections.js';
import type { Database } from '../../platform/database/engine/database.js';
import { DatabaseError, toWriteState } from '../../platform/database/engine/database-error.js';
import { type Sql, listAllTables } from '../../platform/database/engine/sql.js';
import { buildReferenceChecks, runChecks } from '../backup/restore-backup.js';
import { NOT_READY } from '../health/readiness.js';
import { type Finding, fail, ok, warn } from './finding.js';

const RESTORE = 'Stop the service, and restore a backup with "rollcall restore"';
const WARN_MILLIS = 5000;
const FAIL_MILLIS = 5 * 60_000;

/**
 * Checks that a write would succeed, for the same reasons as `/health/ready`.
 * @throws the driver's error, for example if a table is missing.
 */
export async function checkWrites(sql: Database): Promise<Finding[]> {
  const state = await sql.checkWriteState().catch((error: unknown) => {
    if (error instanceof DatabaseError) return toWriteState(error);
    throw error;
  });
  if (state === 'writable') return ok('writes', 'would succeed');
  return fail('writes', `${NOT_READY[state]}. Until this is fixed, changes get 503`);
}

/** Reads every page and index, and checks the references between tables. This can take minutes. */
export async function checkContent(env: Env): Promise<Finding[]> {
  await using snapshot = await openSnapshot(env);
  const damage = await snapshot.findDamage(listAllTables().map(({ name }) => name));
  if (damage.length > 0) return fail('pages', `${damage.join(', ').replaceAll(/\s+/g, ' ')}. ${RESTORE}`);
  const results = await runChecks(snapshot, buildReferenceChecks(snapshot.dialect));
  const faults = results.flatMap(({ name, found }) => (found === 0 ? [] : [`${name}: ${found} faulty`]));
  const references = ok('references', 'all rows refer to existing rows');
  return [
    ...ok('pages', 'all pages and indexes are readable'),
    ...(faults.length === 0 ? references : fail('references', `${faults.join(', ')}. ${RESTORE}`)),
  ];
}

/**
 * Compares the clock of this machine with the clock of the database server. SQLite has no clock of its own, so its
 * newest audit event is compared, which must not lie in the future.
 */
export async function checkClock(sql: Sql): Promise<Finding[]> {
  const isServer = sql.dialect === 'mysql';
  const row = await sql.queryOne<{ time: DbTime }>(
    isServer ? 'SELECT UTC_TIMESTAMP(3) AS time' : 'SELECT time FROM audit_events ORDER BY id DESC LIMIT 1',
  );
  const ahead = row ? toMillis(row.time) - Date.now() : 0;
  const difference = isServer ? Math.abs(ahead) : ahead;
  if (difference <= WARN_MILLIS) return ok('clock', 'agrees with the database');
  const seconds = `${Math.round(difference / 1000)} s`;
  const what = isServer
    ? `the clock of the database server differs by ${seconds}`
    : `the newest audit event is ${seconds} in the future`;
  const message = `${what}. Synchronize the clock (NTP)`;
  return (difference > FAIL_MILLIS ? fail : warn)('clock', message);
}
