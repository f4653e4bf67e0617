import { Command } from 'commander';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setPriority } from 'node:os';
import {
  type BackupHeader,
  FORMAT,
  listTables,
  listBackedUpTables,
} from '../operations/backup/backup-format.js';
import { BackupReader } from '../operations/backup/read-backup.js';
import { type CheckResult, hasContent, restoreBackup } from '../operations/backup/restore-backup.js';
import { writeBackup } from '../operations/backup/write-backup.js';
import {
  claimDatabase,
  openInstallation,
  recordInstallation,
} from '../operations/start/open-installation.js';
import { VERSION } from '../platform/common/version.js';
import type { Env } from '../platform/config/env.js';
import { readSettings } from '../platform/config/settings.js';
import {
  type EntityClasses,
  listExecutedMigrations,
  migrateAtStart,
} from '../platform/database/data-source.js';
import { databaseNameOf, sqliteFileOf } from '../platform/database/engine/connection-options.js';
import {
  type Snapshot,
  hasOtherSessions,
  openSnapshot,
} from '../platform/database/engine/backup-connections.js';
import { KNOWN_MIGRATIONS } from '../platform/database/migrate.js';
import { toUnixAddress } from '../platform/http/request-headers.js';
import { type Application, assertDatabaseExists, getUserName } from './application.js';
import { useFile } from './named-file.js';
import { EXIT, toTable, runWithProgress } from './output.js';

export const createMigrateCommand = ({ entities }: Application) =>
  new Command('migrate')
    .description('run pending migrations')
    .addHelpText('after', '\nExit codes: 0 done, 2 not migrated (invalid usage, no database).')
    .action(async () => {
      const env = readSettings();
      process.stderr.write(`Database: ${databaseNameOf(env).fullName}\n`);
      const { files } = await openInstallation(env, async () => {
        const done = await migrateAtStart(env, entities, 'true');
        process.stdout.write(done.map(({ name }) => `migrated ${name}\n`).join('') || 'nothing to migrate\n');
      });
      files?.release();
    });

const BACKUP_NOTES = `
The service can continue to run: the backup is a consistent snapshot of the database. It contains password hashes and
personal data, so protect it like the database. It contains no sessions, no settings and no secrets from the environment.
Exit codes: 0 done, 2 no backup was written (invalid usage, no database, disk full).`;

/** Scheduling priority of the backup process (`nice`). It is lower than the priority of the service. */
const NICENESS = 10;

export const createBackupCommand = ({ entities }: Application) =>
  new Command('backup')
    .description('write a backup that can be restored to any supported database')
    .argument('<file>')
    .option('--force', 'overwrite an existing file')
    .addHelpText('after', BACKUP_NOTES)
    .action(async (path: string, { force }: { force?: true }) => {
      if (!force && existsSync(path))
        throw new Error(`${path} exists. Use --force to overwrite it, or pass another path.`);
      const env = readSettings();
      assertDatabaseExists(env);
      process.stderr.write(`Backing up ${databaseNameOf(env).fullName} …\n`);
      setPriority(NICENESS);
      const files = await claimDatabase(env, 'read');
      try {
        await assertCurrentSchema(env, entities);
        await using snapshot = await openSnapshot(env);
        const header = await createHeader(snapshot, entities);
        const total = countBackupRows({ header });
        await runWithProgress(total, (show) =>
          useFile(path, () => writeBackup(path, header, snapshot, show)),
        );
        const size = ((await stat(path)).size / 1024 / 1024).toFixed(1);
        process.stdout.write(`${path}: ${total} rows of ${header.tables.length} tables, ${size} MiB\n`);
      } finally {
        files?.release();
      }
    });

/** Checks that the database has the schema of this release. Other releases may interpret columns differently. */
async function assertCurrentSchema(env: Env, entities: Application['entities']): Promise<void> {
  const executed = await listExecutedMigrations(env, entities);
  if (executed.join() === KNOWN_MIGRATIONS.join()) return;
  throw new Error(
    'The database has the schema of another release. Back it up with that release, or run "rollcall migrate" first.',
  );
}

async function createHeader(snapshot: Snapshot, entities: Application['entities']): Promise<BackupHeader> {
  const tables = [];
  for (const table of listBackedUpTables(entities)) {
    tables.push({ ...table, rows: await snapshot.queryNumber(`SELECT COUNT(*) FROM ${table.name}`) });
  }
  const { dialect: engine } = snapshot;
  const created = new Date().toISOString();
  return { rollcall_backup: FORMAT, version: VERSION, created, engine, migrations: KNOWN_MIGRATIONS, tables };
}

const RESTORE_NOTES = `
Stop the service first. The restore is one transaction: if the command is interrupted, the database is unchanged.
All sessions end, so all users must log in again. Unfinished imports are cancelled. ETags from before the restore are no
longer accepted. All changes since the backup are lost, including revocations of API keys.
Exit codes: 0 restored (or, with --check, the file is complete), 1 restored but a check found a fault, 2 nothing restored.`;

export const createRestoreCommand = (application: Application) =>
  new Command('restore')
    .description('restore a backup to any supported database, and check the result')
    .argument('<file>')
    .option('--check', 'only check that the file is complete and has the schema of this release')
    .option('--replace <database>', 'name of the database whose contents are replaced')
    .addHelpText('after', RESTORE_NOTES)
    .action(async (path: string, flags: { check?: true; replace?: string }) => {
      const { entities } = application;
      const schema = { tables: listBackedUpTables(entities), migrations: KNOWN_MIGRATIONS };
      await using backup = await useFile(path, () => BackupReader.open(path, schema));
      // Reads all rows of the backup once, so that a damaged file is rejected before anything is written.
      await useFile(path, async () => {
        for await (const _ of backup.readRows());
      });
      process.stdout.write(formatContents(path, backup));
      if (flags.check) return;
      const { checks, keyNotice } = await replaceContents(backup, entities, flags.replace);
      const auditFaults = await countAuditFaults(backup, application);
      checks.push({ name: 'the audit matches its seals', found: auditFaults });
      process.stdout.write(formatChecks(checks) + keyNotice);
      if (checks.some(({ found }) => (found ?? 0) > 0)) process.exitCode = EXIT.someFailed;
    });

async function replaceContents(backup: BackupReader, entities: EntityClasses, replace?: string) {
  const env = readSettings();
  const files = await claimDatabase(env, 'restore');
  try {
    await assertRestorable(env, entities, replace);
    process.stderr.write(`Restoring into ${databaseNameOf(env).fullName} …\n`);
    env.MIGRATE_ON_START = 'true';
    await migrateAtStart(env, entities);
    const epoch = { ip: toUnixAddress(getUserName()), minimum: files?.installation.read()?.epoch ?? 0 };
    const result = await runWithProgress(countBackupRows(backup), (show) =>
      restoreBackup(env, backup, listTables(entities), epoch, show),
    );
    if (files) await recordInstallation(env, files);
    return result;
  } finally {
    files?.release();
  }
}

/**
 * Checks that a restore may replace the contents of the database.
 * @throws Error if `replace` is the name of another database, if the database is in use, or if it contains data and
 * `replace` is missing.
 */
async function assertRestorable(env: Env, entities: EntityClasses, replace?: string): Promise<void> {
  const { name, fullName: full } = databaseNameOf(env);
  if (replace !== undefined && replace !== name)
    throw new Error(`--replace names ${replace}, but the settings name the database ${full}.`);
  const file = sqliteFileOf(env);
  if (file !== undefined && !existsSync(file)) return;
  if (file === undefined && (await hasOtherSessions(env)))
    throw new Error(`${full} is in use: stop the service on all machines and retry.`);
  if (replace === undefined && (await hasContent(env, listTables(entities))))
    throw new Error(`${full} is not empty. To replace its contents, pass --replace ${name}`);
}

/**
 * Verifies the restored audit and returns the number of faults, or undefined if there are no seals. Seals that
 * were created with a key can be verified only if AUDIT_SEAL_KEY contains the key.
 */
async function countAuditFaults(backup: BackupReader, application: Application): Promise<number | undefined> {
  const seals = backup.header.tables.find(({ name }) => name === 'audit_seals');
  // A backup without seals was made before the first seal, which the service creates about an hour after its first
  // start.
  if (seals?.rows === 0) return undefined;
  const { fault, bad_count: bad } = await application.verifyAudit();
  return fault ? Math.max(1, bad) : 0;
}

const countBackupRows = ({ header }: Pick<BackupReader, 'header'>): number =>
  header.tables.reduce((sum, { rows }) => sum + rows, 0);

function formatContents(path: string, backup: BackupReader): string {
  const { version, created, engine, tables } = backup.header;
  const rows = tables.map(({ name, rows: count }) => [name, count]);
  const head = `${path}: complete; Rollcall ${version}, ${created}, ${engine}, ${countBackupRows(backup)} rows\n`;
  return head + toTable([['Table', 'Rows'], ...rows]);
}

const formatChecks = (checked: readonly CheckResult[]): string =>
  toTable([['Check', 'Result'], ...checked.map(({ name, found }) => [name, formatFaultCount(found)])]);

function formatFaultCount(found: number | undefined): string {
  if (found === undefined) return 'not checked: no seals in the backup';
  return found === 0 ? 'ok' : `BAD: ${found}`;
}
