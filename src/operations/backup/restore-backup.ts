import type { DatabaseSettings } from '../../platform/database/engine/connection-options.js';
import {
  type RestoreTransaction,
  type Snapshot,
  openRestoreTransaction,
  openSnapshot,
} from '../../platform/database/engine/backup-connections.js';
import { now } from '../../platform/common/time.js';
import type { Sql, TableColumns } from '../../platform/database/engine/sql.js';
import { readInstallation } from '../../platform/database/installation/installation.service.js';
import type { BackupReader } from './read-backup.js';
import { startNewEpoch } from './start-new-epoch.js';

/** Result of a consistency check. `found` is the number of faults, or undefined if there was nothing to check. */
export interface CheckResult {
  name: string;
  found: number | undefined;
}

/**
 * Replaces the contents of the database with a backup, in one transaction, and starts a new epoch. Faults that the
 * consistency checks find do not prevent the restore, because the original database had them too.
 * @returns the results of the checks, and a text about revoked API keys that are valid again, if any.
 * @param tables all tables of the service. Tables that are not in the backup are emptied.
 * @param epoch.ip the address for the audit.
 * @param epoch.minimum highest epoch that clients may have seen, in addition to the replaced database.
 * @param progress receives the number of rows written so far.
 * @throws BackupError or the error of the database. The database is then unchanged.
 */
export async function restoreBackup(
  settings: DatabaseSettings,
  backup: BackupReader,
  tables: readonly TableColumns[],
  { ip, minimum }: { ip: string; minimum: number },
  progress: (rows: number) => void,
): Promise<{ checks: CheckResult[]; keyNotice: string }> {
  await using restore = await openRestoreTransaction(settings);
  const { sql } = restore;
  const replaced = await readInstallation(sql);
  const revoked = await sql.query<ApiKey>('SELECT id, name FROM api_keys WHERE revoked IS NOT NULL');
  for (const { name } of tables) await restore.deleteAll(name);
  let written = 0;
  for await (const { table, rows } of backup.readRows()) {
    await sql.insert(table, rows);
    progress((written += rows.length));
  }
  await assertCounts(restore, backup);
  const checks = await runChecks(restore, [ACTIVE_WEBMASTER, ...REFERENCE_CHECKS]);
  const { created } = backup.header;
  const isSame = (await readInstallation(sql)).id === replaced.id;
  const keyNotice = isSame
    ? await describeReactivatedKeys(sql, revoked)
    : `API keys that were revoked after ${created} are valid again. Revoke them again.\n`;
  const changes = [{ field: 'backup', new: created }];
  await startNewEpoch(sql, Math.max(replaced.epoch, minimum), { ip, changes });
  await restore.commit();
  return { checks, keyNotice };
}

type ApiKey = Record<'id' | 'name', string>;
const ACTIVE_KEYS = 'SELECT id FROM api_keys WHERE revoked IS NULL AND (expires IS NULL OR expires > ?)';

/** @param revoked the revoked keys of the replaced database. */
async function describeReactivatedKeys(sql: Sql, revoked: readonly ApiKey[]): Promise<string> {
  const active = new Set((await sql.query<ApiKey>(ACTIVE_KEYS, [now()])).map(({ id }) => id));
  const keys = revoked.filter(({ id }) => active.has(id));
  if (keys.length === 0) return '';
  const names = keys.map(({ id, name }) => `${id} ${JSON.stringify(name)}`).join(', ');
  return `These API keys were revoked after the backup and are valid again: ${names}. Revoke them with "rollcall keys revoke ID".\n`;
}

async function assertCounts(restore: RestoreTransaction, { header }: BackupReader): Promise<void> {
  for (const { name, rows } of header.tables) {
    const found = await restore.queryNumber(`SELECT COUNT(*) FROM ${name}`);
    if (found !== rows)
      throw new Error(`Table ${name} has ${found} rows instead of ${rows} after the restore.`);
  }
}

interface Check {
  name: string;
  sql: string;
}

/** Runs checks one after another. */
export async function runChecks(database: Pick<Snapshot, 'queryNumber'>, checks: readonly Check[]) {
  const results: CheckResult[] = [];
  for (const { name, sql } of checks) results.push({ name, found: await database.queryNumber(sql) });
  return results;
}

/** Builds the SELECT that counts the rows of a table whose reference to another table has no target. */
const toOrphanCountSql = (table: string, column = 'user_uuid', target = 'users'): string =>
  `SELECT COUNT(*) FROM ${table} AS t WHERE t.${column} IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM ${target} AS o WHERE o.uuid = t.${column})`;
const USERS_WITHOUT_LOGIN = `SELECT COUNT(*) FROM users AS u WHERE u.username_key <> '' AND NOT EXISTS (
  SELECT 1 FROM user_identifiers AS i WHERE i.identifier = CONCAT('login:', u.username_key) AND i.user_uuid = u.uuid)`;
const toCountDifferenceSql = (name: string, actual: string): string =>
  `SELECT ABS((SELECT COALESCE(SUM(value), 0) FROM user_counts WHERE name = '${name}') - (${actual}))`;
const WEBMASTERS = `SELECT COUNT(*) FROM user_roles AS r JOIN users AS u ON u.uuid = r.user_uuid
  WHERE r.role = 'Webmaster' AND u.status = 'Active'`;
const toStatusCountSql = (status: string): string => `SELECT COUNT(*) FROM users WHERE status = '${status}'`;

const ACTIVE_WEBMASTER: Check = {
  name: 'an active Webmaster',
  sql: `SELECT CASE WHEN (SELECT COUNT(*) FROM users) > 0 AND (${WEBMASTERS}) = 0 THEN 1 ELSE 0 END`,
};

/** Checks that rows refer to existing rows, and that stored counts are right. */
export const REFERENCE_CHECKS: readonly Check[] = [
  { name: 'identifiers belong to users', sql: toOrphanCountSql('user_identifiers') },
  { name: 'users have a login name', sql: USERS_WITHOUT_LOGIN },
  { name: 'roles belong to users', sql: toOrphanCountSql('user_roles') },
  { name: 'search words belong to users', sql: toOrphanCountSql('user_words') },
  { name: 'attributes belong to users', sql: toOrphanCountSql('user_values') },
  { name: 'group members are users', sql: toOrphanCountSql('group_members') },
  { name: 'groups of members exist', sql: toOrphanCountSql('group_members', 'group_uuid', 'user_groups') },
  { name: 'managers are users', sql: toOrphanCountSql('users', 'manager_uuid') },
  { name: 'count of active users', sql: toCountDifferenceSql('Active', toStatusCountSql('Active')) },
  { name: 'count of blocked users', sql: toCountDifferenceSql('Blocked', toStatusCountSql('Blocked')) },
  { name: 'count of Webmasters', sql: toCountDifferenceSql('webmasters', WEBMASTERS) },
];

/** Migrations fill these tables, so rows in them do not mean that the database is in use. */
const FILLED_BY_MIGRATIONS = ['user_rules', 'user_counts', 'leases', 'installation'];

/** Returns true if any of the tables contains data that a restore would destroy. Missing tables count as empty. */
export async function hasContent(env: DatabaseSettings, tables: readonly TableColumns[]): Promise<boolean> {
  await using snapshot = await openSnapshot(env);
  const count = (sql: string) => snapshot.queryNumber(sql);
  for (const { name } of tables) {
    if (FILLED_BY_MIGRATIONS.includes(name) || (await count(toTableCountSql(name, snapshot))) === 0) continue;
    if ((await count(`SELECT COUNT(*) FROM (SELECT 1 FROM ${name} LIMIT 1) AS some`)) > 0) return true;
  }
  return false;
}

const toTableCountSql = (table: string, { dialect }: Snapshot): string =>
  dialect === 'sqlite'
    ? `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = '${table}'`
    : `SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '${table}'`;
