import type { DataSourceOptions } from 'typeorm';
import { type DatabaseSettings, mysqlOptions, sqliteFile } from './engine/connection-options.js';
import { openConnection } from './engine/sqlite-connection.js';
import { MIGRATIONS } from './migrations/migrations.js';

/** The tables of the features: entity classes, named by the composition root, which alone knows every feature. */
export type Entities = readonly (new () => object)[];

/** What TypeORM needs for the schema of the database of `DATABASE_URL`. The statements of the service are the engine's. */
export function dataSourceOptions(settings: DatabaseSettings, entities: Entities): DataSourceOptions {
  const shared = {
    entities: [...entities],
    migrations: MIGRATIONS,
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'each' as const,
  };
  const file = sqliteFile(settings);
  if (file === undefined) {
    const { user: username, ...options } = mysqlOptions(settings);
    // The two differ only in how TypeORM's schema tools read the server's catalogue.
    const type = settings.databaseUrl.startsWith('mariadb:') ? 'mariadb' : 'mysql';
    return { ...shared, type, username, ...options };
  }
  // TypeORM calls it with `new`, which returns the object that the function returns.
  const driver = function () {
    return openConnection(file);
  };
  return { ...shared, type: 'better-sqlite3', driver, database: file };
}
