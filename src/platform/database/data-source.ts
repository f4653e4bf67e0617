import type { SQLInputValue } from 'node:sqlite';
import { DataSource, type DataSourceOptions, type Migration } from 'typeorm';
import type { Env } from '../config/env.js';
import { removeCollation } from './engine/columns.js';
import { type DatabaseSettings, type Server, serversOf, sqliteFileOf } from './engine/connection-options.js';
import { chooseSession, endSession } from './mysql/session.js';
import { createFile, createParentFolder, runAddingErrorCodes } from './sqlite/sqlite-connection.js';
import { assertOwnSchema, findExecutedMigrations, hasPendingMigrations, migrate } from './migrate.js';
import { MIGRATIONS } from './migrations/migrations.js';

const PENDING =
  'The database has pending migrations. Run "npm run migration:run" or set MIGRATE_ON_START=true.';

/** A SQLite connection with the methods of better-sqlite3 that TypeORM calls. */
class TypeormDriver {
  private readonly connection = createFile(this.file);

  constructor(private readonly file: string) {}

  prepare(sql: string) {
    const statement = runAddingErrorCodes(() => this.connection.prepare(sql));
    return {
      reader: statement.columns().length > 0,
      all: (...params: SQLInputValue[]) => runAddingErrorCodes(() => statement.all(...params)),
      run: (...params: SQLInputValue[]) => runAddingErrorCodes(() => statement.run(...params)),
    };
  }

  pragma(text: string) {
    return this.prepare(`PRAGMA ${text}`).all();
  }

  close(): void {
    this.connection.close();
  }
}

export type EntityClasses = readonly (new () => object)[];

/**
 * Builds TypeORM's options, which are used only to create and migrate the schema. All other statements of the service
 * run on the `Engine`.
 * @param server the server to connect to. The default is the first server of `DATABASE_URL`.
 */
export function buildDataSourceOptions(
  settings: DatabaseSettings,
  entities: EntityClasses,
  server?: Server,
): DataSourceOptions {
  const shared = {
    entities: [...entities],
    migrations: MIGRATIONS,
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'each' as const,
  };
  const file = sqliteFileOf(settings);
  if (file === undefined) {
    const { user: username, ...options } = (server ?? serversOf(settings)[0]).options;
    // TypeORM reads the schema of MariaDB differently from the schema of MySQL.
    const type = settings.databaseUrl.startsWith('mariadb:') ? 'mariadb' : 'mysql';
    return { ...shared, type, username, ...options };
  }
  return { ...shared, type: 'better-sqlite3', driver: TypeormDriver, database: file };
}

/** Opens a TypeORM data source for work on the schema. The caller must destroy it after use. */
export async function openDataSource(env: Env, entities: EntityClasses): Promise<DataSource> {
  const file = sqliteFileOf(env);
  if (file !== undefined) createParentFolder(file); // otherwise TypeORM creates it with default permissions
  const dataSource = new DataSource(buildDataSourceOptions(env, entities, await chooseServer(env)));
  const embedded = isEmbedded(dataSource);
  // SQLite accepts any type name, but TypeORM's list of SQLite types lacks MySQL's type for long text.
  if (embedded) dataSource.driver.supportedDataTypes.push('mediumtext');
  await dataSource.initialize();
  if (embedded) for (const { columns } of dataSource.entityMetadatas) columns.forEach(removeCollation);
  return dataSource;
}

/**
 * Returns the server of `DATABASE_URL`, or the first writable server if there are several. Returns undefined for SQLite.
 */
async function chooseServer(settings: DatabaseSettings): Promise<Server | undefined> {
  if (sqliteFileOf(settings) !== undefined) return undefined;
  const servers = serversOf(settings);
  if (servers.length === 1) return servers[0];
  const session = await chooseSession(servers);
  await endSession(session);
  return session.server;
}

function isEmbedded(dataSource: DataSource): boolean {
  return dataSource.options.type === 'better-sqlite3';
}

/**
 * Checks the schema, and runs pending migrations if `mode` allows it.
 * @returns the migrations that were run.
 * @throws Error if migrations are pending but must not run.
 * @throws ForeignSchemaError if the tables belong to another program, a newer version or an unreleased build.
 */
export async function migrateAtStart(
  env: Env,
  entities: EntityClasses,
  mode = env.MIGRATE_ON_START,
): Promise<Migration[]> {
  const dataSource = await openDataSource(env, entities);
  try {
    await assertOwnSchema(dataSource);
    if (mode === 'auto' ? isEmbedded(dataSource) : mode === 'true') return await migrate(dataSource, env);
    if (await hasPendingMigrations(dataSource)) throw new Error(PENDING);
    return [];
  } finally {
    await dataSource.destroy();
  }
}

export async function listExecutedMigrations(env: Env, entities: EntityClasses): Promise<string[]> {
  const dataSource = await openDataSource(env, entities);
  try {
    return (await findExecutedMigrations(dataSource)).map(({ name }) => name);
  } finally {
    await dataSource.destroy();
  }
}
