import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { Env } from '../config/env.js';
import { dropCollation } from './engine/columns.js';
import { type DatabaseSettings, type Server, serversOf, sqliteFile } from './engine/connection-options.js';
import { chooseSession } from './mysql/host-choice.js';
import { endSession } from './mysql/session.js';
import { makeFolderOf, openFile, withResultCode } from './sqlite/sqlite-connection.js';
import { assertOurs, findExecutedMigrations, hasPendingMigrations, migrate } from './migrate.js';
import { MIGRATIONS } from './migrations/migrations.js';

const PENDING =
  'The database has pending migrations. Run "npm run migration:run", or set MIGRATE_ON_START=true.';

/** An open file as TypeORM uses it: with the methods of better-sqlite3, which is the type that TypeORM knows. */
class TypeormDriver {
  private readonly connection: DatabaseSync;

  constructor(file: string) {
    this.connection = openFile(file);
  }

  prepare(sql: string) {
    const statement = withResultCode(() => this.connection.prepare(sql));
    return {
      reader: statement.columns().length > 0,
      all: (...params: SQLInputValue[]) => withResultCode(() => statement.all(...params)),
      run: (...params: SQLInputValue[]) => withResultCode(() => statement.run(...params)),
    };
  }

  pragma(text: string) {
    return this.prepare(`PRAGMA ${text}`).all();
  }

  close(): void {
    this.connection.close();
  }
}

/** The tables of the features: entity classes, named by the composition root, which alone knows every feature. */
export type Entities = readonly (new () => object)[];

/**
 * What TypeORM needs for the schema of the database of `DATABASE_URL`. The statements of the service are the engine's.
 * @param server the one to connect to, of several; the first by default.
 */
export function dataSourceOptions(
  settings: DatabaseSettings,
  entities: Entities,
  server?: Server,
): DataSourceOptions {
  const shared = {
    entities: [...entities],
    migrations: MIGRATIONS,
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'each' as const,
  };
  const file = sqliteFile(settings);
  if (file === undefined) {
    const { user: username, ...options } = (server ?? serversOf(settings)[0]).options;
    // The two differ only in how TypeORM's schema tools read the server's catalogue.
    const type = settings.databaseUrl.startsWith('mariadb:') ? 'mariadb' : 'mysql';
    return { ...shared, type, username, ...options };
  }
  return { ...shared, type: 'better-sqlite3', driver: TypeormDriver, database: file };
}

/** TypeORM's view of the database, for its schema; to be destroyed after use. */
export async function openDataSource(env: Env, entities: Entities): Promise<DataSource> {
  const file = sqliteFile(env);
  if (file !== undefined) makeFolderOf(file); // TypeORM would make it with the rights of the umask
  const dataSource = new DataSource(dataSourceOptions(env, entities, await serverInUse(env)));
  const embedded = isEmbedded(dataSource);
  // SQLite takes any type name; TypeORM's list of them lacks the one that MySQL needs for long text.
  if (embedded) dataSource.driver.supportedDataTypes.push('mediumtext');
  await dataSource.initialize();
  if (embedded) for (const { columns } of dataSource.entityMetadatas) columns.forEach(dropCollation);
  return dataSource;
}

/** Of several servers the one that takes changes. */
async function serverInUse(settings: DatabaseSettings): Promise<Server | undefined> {
  if (sqliteFile(settings) !== undefined) return undefined;
  const servers = serversOf(settings);
  if (servers.length === 1) return servers[0];
  const session = await chooseSession(servers);
  await endSession(session);
  return session.server;
}

/** True on SQLite, where this process owns the database. */
function isEmbedded(dataSource: DataSource): boolean {
  return dataSource.options.type === 'better-sqlite3';
}

/**
 * Brings the schema up to date where the settings say so.
 * @throws Error when migrations are pending and must not run by themselves. @throws ForeignSchemaError as `assertOurs`.
 */
export async function migrateAtStart(env: Env, entities: Entities): Promise<void> {
  const dataSource = await openDataSource(env, entities);
  try {
    await assertOurs(dataSource);
    const wanted = env.MIGRATE_ON_START === 'auto' ? isEmbedded(dataSource) : env.MIGRATE_ON_START === 'true';
    if (wanted) await migrate(dataSource);
    else if (await hasPendingMigrations(dataSource)) throw new Error(PENDING);
  } finally {
    await dataSource.destroy();
  }
}

/** Returns the names of the migrations that the database has had, in their order. */
export async function executedMigrations(env: Env, entities: Entities): Promise<string[]> {
  const dataSource = await openDataSource(env, entities);
  try {
    return (await findExecutedMigrations(dataSource)).map(({ name }) => name);
  } finally {
    await dataSource.destroy();
  }
}
