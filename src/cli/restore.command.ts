import { Command } from 'commander';
import { existsSync } from 'node:fs';
import { BackupFault } from '../operations/backup/backup-format.js';
import { allTables, backedUpTables } from '../operations/backup/backup-tables.js';
import { hasContent } from '../operations/backup/has-content.js';
import { BackupReader } from '../operations/backup/read-backup.js';
import { type Checked, restoreBackup } from '../operations/backup/restore-backup.js';
import { readSettings } from '../platform/config/settings.js';
import type { Env } from '../platform/config/env.js';
import { KNOWN_MIGRATIONS, migrateAtStart } from '../platform/database/data-source.js';
import { databaseName, sqliteFile } from '../platform/database/engine/connection-options.js';
import { isInUse } from '../platform/database/engine/refill.js';
import type { Application } from './application.js';
import { RowProgress, table } from './output.js';

const FAULT = 1;
const NOTES = `
Stop the service first. All is restored in one transaction: if the command is interrupted, the database is as it was.
Sessions are ended: everybody logs in again. Everything since the backup is undone, revocations included.
Exit codes: 0 restored (or, with --check, whole); 1 restored, and a check found a fault; 2 nothing restored.`;

interface Flags {
  check?: true;
  replace?: string;
}

export const restoreCommand = (application: Application) =>
  new Command('restore')
    .description('make the database that a backup holds, on any engine, and check it')
    .argument('<file>')
    .option('--check', 'only tell whether the file is whole and fits this program')
    .option('--replace <database>', 'the name of the database whose contents may be destroyed')
    .addHelpText('after', NOTES)
    .action(async (path: string, flags: Flags) => {
      const { entities } = application;
      const schema = { tables: backedUpTables(entities), migrations: KNOWN_MIGRATIONS };
      const backup = await named(path, () => BackupReader.open(path, schema));
      try {
        // All rows are read before one is written.
        await named(path, async () => {
          for await (const _ of backup.rows());
        });
        process.stdout.write(contents(path, backup));
        if (flags.check) return;
        const env = readSettings();
        await assertAllowed(env, application, flags.replace);
        process.stderr.write(`Restoring into ${databaseName(env).full} …\n`);
        env.MIGRATE_ON_START = 'true';
        await migrateAtStart(env, entities);
        const progress = new RowProgress(totalOf(backup));
        const checked = await restoreBackup(env, backup, allTables(entities), progress.show).finally(() => {
          progress.end();
        });
        checked.push({ name: 'the audit fits its seals', found: await auditFaults(backup, application) });
        process.stdout.write(verdict(checked));
        if (checked.some(({ found }) => (found ?? 0) > 0)) process.exitCode = FAULT;
      } finally {
        await backup.close();
      }
    });

async function named<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof BackupFault ? new Error(`${path} ${error.message}.`) : error;
  }
}

/** @throws Error where something would be destroyed, or the service works on the database. */
async function assertAllowed(
  env: Env,
  { entities }: Application,
  replace: string | undefined,
): Promise<void> {
  const { name, full } = databaseName(env);
  if (replace !== undefined && replace !== name)
    throw new Error(`--replace names ${replace}, but the database of the settings is ${full}.`);
  const file = sqliteFile(env);
  if (file !== undefined && !existsSync(file)) return;
  if (await isInUse(env))
    throw new Error(`${full} is in use: stop the service, on all machines, and try again.`);
  if (replace === undefined && (await hasContent(env, allTables(entities))))
    throw new Error(`${full} is not empty. To destroy what is in it: --replace ${name}`);
}

/** Apart from the others: its key is a setting, which may be another one where the backup is restored. */
async function auditFaults(backup: BackupReader, application: Application): Promise<number | undefined> {
  const seals = backup.header.tables.find(({ name }) => name === 'audit_seals');
  if (seals?.rows === 0) return undefined; // a service makes the first one after an hour
  const { fault, bad_count: bad } = await application.verifyAudit();
  return fault ? Math.max(1, bad) : 0;
}

const totalOf = ({ header }: BackupReader): number => header.tables.reduce((sum, { rows }) => sum + rows, 0);

function contents(path: string, backup: BackupReader): string {
  const { version, created, engine, tables } = backup.header;
  const rows = tables.map(({ name, rows: count }) => [name, count]);
  const head = `${path}: whole; Rollcall ${version}, ${created}, ${engine}, ${totalOf(backup)} rows\n`;
  return head + table([['Table', 'Rows'], ...rows]);
}

const verdict = (checked: readonly Checked[]): string =>
  table([['Check', 'Result'], ...checked.map(({ name, found }) => [name, resultOf(found)])]);

function resultOf(found: number | undefined): string {
  if (found === undefined) return 'not checked: no seal in the backup';
  return found === 0 ? 'ok' : `BAD: ${found}`;
}
