import { DataSource } from 'typeorm';
import type { Env } from '../config/env.js';
import { dropCollation } from './column-types.js';
import { dataSourceOptions } from './data-source-options.js';

/** An open data source. */
export async function openDataSource(env: Env): Promise<DataSource> {
  const dataSource = new DataSource(dataSourceOptions(env));
  const embedded = isEmbedded(dataSource);
  // SQLite takes any type name; TypeORM's list of them lacks the one that MySQL needs for long text.
  if (embedded) dataSource.driver.supportedDataTypes.push('mediumtext');
  await dataSource.initialize();
  // SQLite has one character set and compares bytes anyway; it refuses the names of MySQL's collations.
  if (embedded) for (const { columns } of dataSource.entityMetadatas) columns.forEach(dropCollation);
  return dataSource;
}

/** True on SQLite, where this process owns the database. */
function isEmbedded(dataSource: DataSource): boolean {
  return dataSource.options.type === 'better-sqlite3';
}

/**
 * Brings the schema up to date where the settings say so.
 * @throws Error when migrations are pending and must not run by themselves.
 */
export async function migrateAtStart(dataSource: DataSource, env: Env): Promise<void> {
  const wanted = env.MIGRATE_ON_START === 'auto' ? isEmbedded(dataSource) : env.MIGRATE_ON_START === 'true';
  if (wanted) {
    await dataSource.runMigrations();
  } else if (await dataSource.showMigrations()) {
    throw new Error(
      'The database has pending migrations. Run "npm run migration:run", or set MIGRATE_ON_START=true.',
    );
  }
}
