import { Command } from 'commander';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { type BackupHeader, FORMAT } from '../operations/backup/backup-format.js';
import { backedUpTables } from '../operations/backup/backup-tables.js';
import { writeBackup } from '../operations/backup/write-backup.js';
import { VERSION } from '../platform/common/version.js';
import type { Env } from '../platform/config/env.js';
import { readSettings } from '../platform/config/settings.js';
import { KNOWN_MIGRATIONS, executedMigrations } from '../platform/database/data-source.js';
import { databaseName, sqliteFile } from '../platform/database/engine/connection-options.js';
import { type Snapshot, openSnapshot } from '../platform/database/engine/snapshot.js';
import type { Application } from './application.js';
import { RowProgress } from './output.js';

const NOTES = `
The service may run and write meanwhile: the backup is the database of one moment. It holds password hashes and personal
data: keep it like the database. It lacks sessions. Settings and secrets of the environment are not in it.
Exit codes: 0 done, 2 no backup was written (wrong usage, no database, no room).`;

/** The service goes first where both want the processor. */
const NICENESS = 10;

export const backupCommand = ({ entities }: Application) =>
  new Command('backup')
    .description('write the database to a file, from which restore makes it again, on any engine')
    .argument('<file>')
    .option('--force', 'overwrite the file')
    .addHelpText('after', NOTES)
    .action(async (path: string, { force }: { force?: true }) => {
      if (!force && existsSync(path)) throw new Error(`${path} exists; --force overwrites it.`);
      const env = readSettings();
      const source = sqliteFile(env);
      if (source !== undefined && !existsSync(source)) throw new Error(`There is no database ${source}.`);
      process.stderr.write(`Backing up ${databaseName(env).full} …\n`);
      setPriority(NICENESS);
      await assertCurrent(env, entities);
      const snapshot = await openSnapshot(env);
      try {
        const header = await headerOf(snapshot, entities);
        const total = header.tables.reduce((sum, { rows }) => sum + rows, 0);
        const progress = new RowProgress(total);
        await writeBackup(path, header, snapshot, progress.show).finally(() => {
          progress.end();
        });
        const { size } = await stat(path);
        process.stdout.write(
          `${path}: ${total} rows of ${header.tables.length} tables, ${(size / 1024 / 1024).toFixed(1)} MiB\n`,
        );
      } finally {
        await snapshot.close();
      }
    });

/** Only the program whose schema it is knows what the columns mean. */
async function assertCurrent(env: Env, entities: Application['entities']): Promise<void> {
  const executed = await executedMigrations(env, entities);
  if (executed.join() === KNOWN_MIGRATIONS.join()) return;
  throw new Error(
    'The database has the schema of another release: back it up with that one, or run "rollcall migrate".',
  );
}

async function headerOf(snapshot: Snapshot, entities: Application['entities']): Promise<BackupHeader> {
  const tables = [];
  for (const table of backedUpTables(entities)) {
    tables.push({ ...table, rows: await snapshot.number(`SELECT COUNT(*) FROM ${table.name}`) });
  }
  return {
    rollcall_backup: FORMAT,
    version: VERSION,
    created: new Date().toISOString(),
    engine: snapshot.dialect,
    migrations: KNOWN_MIGRATIONS,
    tables,
  };
}
