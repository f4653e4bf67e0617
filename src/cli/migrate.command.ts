import { Command } from 'commander';
import { readSettings } from '../platform/config/settings.js';
import { openDataSource } from '../platform/database/data-source.js';
import { databaseName } from '../platform/database/engine/connection-options.js';
import { migrate } from '../platform/database/migrate.js';
import { assertOurs } from '../platform/database/migration-owner.js';
import type { Application } from './application.js';

export const migrateCommand = ({ entities }: Application) =>
  new Command('migrate')
    .description('run pending migrations of the database')
    .addHelpText('after', '\nExit codes: 0 done or nothing to do, 2 not migrated (wrong usage, no database).')
    .action(async () => {
      const env = readSettings();
      process.stderr.write(`Database: ${databaseName(env).full}\n`);
      const dataSource = await openDataSource(env, entities);
      try {
        await assertOurs(dataSource);
        const done = await migrate(dataSource);
        process.stdout.write(done.map(({ name }) => `migrated ${name}\n`).join('') || 'nothing to migrate\n');
      } finally {
        await dataSource.destroy();
      }
    });
