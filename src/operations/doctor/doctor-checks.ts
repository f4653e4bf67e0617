import { existsSync } from 'node:fs';
import { access, constants, mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createDraftPath } from '../../platform/common/draft-file.js';
import { MIN_NODE_VERSION, isNodeNewEnough } from '../../platform/common/version.js';
import { type Env, EnvError } from '../../platform/config/env.js';
import { type EntityClasses, openDataSource } from '../../platform/database/data-source.js';
import { sqliteFileOf } from '../../platform/database/engine/connection-options.js';
import { type Database, openDatabase, readSqliteVersion } from '../../platform/database/engine/database.js';
import { type Sql, listAllTables } from '../../platform/database/engine/sql.js';
import {
  ForeignSchemaError,
  assertOwnSchema,
  hasPendingMigrations,
} from '../../platform/database/migrate.js';
import { readScheduleOptions } from '../../import/schedule/schedule-options.js';
import { type Finding, codeOf, fail, ok, warn } from './finding.js';
import { checkKeys } from './key-checks.js';
import { checkTopology } from './topology.js';
import { type DbTime, toMillis } from '../../platform/common/time.js';
import { openSnapshot } from '../../platform/database/engine/backup-connections.js';
import { DatabaseError, toWriteState } from '../../platform/database/engine/database-error.js';
import { REFERENCE_CHECKS, runChecks } from '../backup/restore-backup.js';
import { NOT_READY } from '../health/readiness.js';

const MIN_FREE_BYTES = 1024 ** 3;

/** Checks the version of Node.js. @param version such as `24.21.0`. */
export function checkNode(version: string): Finding[] {
  const message = `version ${version}`;
  return isNodeNewEnough(version)
    ? ok('node', message)
    : fail('node', `${message} is not supported: install ${MIN_NODE_VERSION} or later`);
}

/** Checks the data folder by writing a file, because permissions do not reveal a read-only mount. */
export async function checkDataDir({ DATA_DIR }: Env): Promise<Finding[]> {
  try {
    await mkdir(DATA_DIR, { recursive: true, mode: 0o700 });
    const probe = createDraftPath(DATA_DIR);
    await writeFile(probe, '');
    await rm(probe);
    return ok('data folder', `${DATA_DIR} is writable`);
  } catch (error) {
    const fault = `${DATA_DIR} is not writable (${codeOf(error)})`;
    return fail('data folder', `${fault}. Change its owner, or set DATA_DIR to another folder`);
  }
}

export async function checkDisk({ DATA_DIR }: Env): Promise<Finding[]> {
  try {
    const { bavail, bsize } = await statfs(DATA_DIR);
    const free = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GiB free`;
    if (bavail * bsize >= MIN_FREE_BYTES) return ok('disk', free);
    return warn('disk', `${free}. Free up space before the disk is full`);
  } catch (error) {
    return warn('disk', `the free space cannot be determined (${codeOf(error)})`);
  }
}

export function checkBaseUrl({ HOST, baseUrl, isLocal }: Env): Finding[] {
  // Leave out a password in the URL.
  const { protocol, host, pathname } = new URL(baseUrl);
  const address = `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
  if (isLocal || protocol === 'https:') return ok('address', address);
  return warn(
    'address',
    `${address} is not https, and HOST=${HOST} is reachable from other machines: passwords and API keys are sent ` +
      'unencrypted. Put a proxy with TLS in front of the service, and set BASE_URL to its address',
  );
}

export async function checkImportFolder(env: Env): Promise<Finding[]> {
  const { IMPORT_FOLDER } = env;
  try {
    readScheduleOptions(env);
  } catch (error) {
    return fail('imports', error instanceof Error ? error.message : '');
  }
  if (IMPORT_FOLDER === undefined) return ok('imports', 'no schedule (IMPORT_FOLDER is not set)');
  try {
    await access(IMPORT_FOLDER, constants.R_OK | constants.W_OK | constants.X_OK);
    return ok('imports', `${IMPORT_FOLDER} is readable and writable`);
  } catch (error) {
    const fault = `${IMPORT_FOLDER} is not usable (${codeOf(error)})`;
    return fail('imports', `${fault}. Create it, and make the user of the service its owner`);
  }
}

/** Checks that the database answers, is migrated, and has an active Webmaster and a usable API key. */
export async function checkDatabase(env: Env, entities: EntityClasses): Promise<Finding[]> {
  const file = sqliteFileOf(env);
  if (file !== undefined && !existsSync(file)) {
    const remedy = 'Run "rollcall start" to create one, or correct DATABASE_URL or DATA_DIR';
    return fail('database', `no database at ${resolve(file)}. ${remedy}`);
  }
  let dataSource;
  try {
    dataSource = await openDataSource(env, entities);
  } catch (error) {
    if (error instanceof EnvError) return fail('database', error.message);
    return fail('database', `does not answer (${codeOf(error)}). ${describeRemedy(env)}`);
  }
  const findings: Finding[] = [];
  let sql: Database | undefined;
  try {
    sql = await openDatabase(env);
    findings.push(...(await checkServer(sql, env)));
    await assertOwnSchema(dataSource);
    if (await hasPendingMigrations(dataSource)) return [...findings, ...warn('migrations', PENDING)];
    findings.push(...ok('migrations', 'none pending'));
    for (const check of [() => checkContent(env), checkWrites, checkClock, checkAccess])
      findings.push(...(await check(sql)));
  } catch (error) {
    if (error instanceof ForeignSchemaError) return [...findings, ...fail('migrations', error.message)];
    const message = `answers, but its tables cannot be read (${codeOf(error)}). Check the tables and the privileges of the database user, or restore a backup`;
    findings.push(...fail('database', message));
  } finally {
    await dataSource.destroy();
    await sql?.close();
  }
  return findings;
}

const describeRemedy = ({ databaseUrl }: Env): string =>
  databaseUrl.startsWith('sqlite:')
    ? 'Check the file from DATABASE_URL or DATA_DIR, and who owns it and its folder. ' +
      'If the file is damaged, restore a backup with "rollcall restore"'
    : 'Check DATABASE_URL, that the server is running, and that it accepts this user';

async function checkServer(sql: Sql, env: Env): Promise<Finding[]> {
  const sqlite = await readSqliteVersion(sql);
  if (sqlite !== undefined) return ok('database', `SQLite ${sqlite}`);
  const row = await sql.queryOne<{ version: string; max_connections: number }>(
    'SELECT VERSION() AS version, @@max_connections AS max_connections',
  );
  const pool = checkPool(env, row?.max_connections ?? 0);
  return [...ok('database', row?.version ?? ''), ...pool, ...(await checkTopology(env))];
}

/**
 * Checks that the connection pools are not too large for the server.
 * @param max number of connections that the server accepts from all clients together.
 */
export function checkPool(env: Pick<Env, 'DATABASE_POOL_SIZE' | 'WORKERS'>, max: number): Finding[] {
  const { DATABASE_POOL_SIZE: size, WORKERS } = env;
  const factor = WORKERS > 1 ? ` times WORKERS=${WORKERS}` : '';
  const message = `DATABASE_POOL_SIZE=${size}${factor}, max_connections=${max}`;
  return size * WORKERS > max
    ? warn('connections', `${message}. Lower DATABASE_POOL_SIZE, or raise max_connections`)
    : ok('connections', message);
}

const PENDING = 'pending migrations: run "rollcall migrate", or start the service with MIGRATE_ON_START=true';

async function checkAccess(sql: Sql): Promise<Finding[]> {
  const webmasters = await sql.queryOne<{ value: number | string | null }>(
    "SELECT SUM(value) AS value FROM user_counts WHERE name = 'webmasters'",
  );
  const active = Number(webmasters?.value ?? 0); // MariaDB returns a sum as text
  const noWebmaster =
    'no active Webmaster. Start the service if the database is empty. Otherwise grant the role with an API key';
  const found = active === 0 ? warn('webmasters', noWebmaster) : ok('webmasters', `${active} active`);
  return [...found, ...(await checkKeys(sql))];
}

const RESTORE = 'Stop the service, and restore a backup with "rollcall restore"';
const WARN_MILLIS = 5000;
const FAIL_MILLIS = 5 * 60_000;

/**
 * Checks that a write would succeed, for the same reasons as `/health/ready`.
 * @throws the driver's error, for example if a table is missing.
 */
async function checkWrites(sql: Database): Promise<Finding[]> {
  const state = await sql.checkWriteState().catch((error: unknown) => {
    if (error instanceof DatabaseError) return toWriteState(error);
    throw error;
  });
  if (state === 'writable') return ok('writes', 'would succeed');
  return fail('writes', `${NOT_READY[state]}. Until this is fixed, changes get 503`);
}

/** Reads every page and index, and checks the references between tables. This can take minutes. */
async function checkContent(env: Env): Promise<Finding[]> {
  await using snapshot = await openSnapshot(env);
  const damage = await snapshot.findDamage(listAllTables().map(({ name }) => name));
  if (damage.length > 0) return fail('pages', `${damage.join(', ').replaceAll(/\s+/g, ' ')}. ${RESTORE}`);
  const results = await runChecks(snapshot, REFERENCE_CHECKS);
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
