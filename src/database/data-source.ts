import { DataSource, type DataSourceOptions, MigrationExecutor } from 'typeorm';
import type { Env } from '../config/env.js';
import { dropCollation } from './engine/columns.js';
import { type DatabaseSettings, type Server, serversOf, sqliteFile } from './engine/connection-options.js';
import { chooseSession } from './engine/host-choice.js';
import { endSession, openSession } from './engine/session.js';
import { makeFolderOf, openFile } from './engine/sqlite-connection.js';
import { migrate } from './migrate.js';
import { MIGRATIONS } from './migrations/migrations.js';

const PENDING =
  'The database has pending migrations. Run "npm run migration:run", or set MIGRATE_ON_START=true.';

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
  // TypeORM calls it with `new`, which returns the object that the function returns.
  const driver = function () {
    return openFile(file);
  };
  return { ...shared, type: 'better-sqlite3', driver, database: file };
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
  const session = await chooseSession(servers, { open: openSession, end: endSession });
  await endSession(session);
  return session.server;
}

/** True on SQLite, where this process owns the database. */
function isEmbedded(dataSource: DataSource): boolean {
  return dataSource.options.type === 'better-sqlite3';
}

/**
 * Brings the schema up to date where the settings say so.
 * @throws Error when migrations are pending and must not run by themselves, and when the schema is that of a newer program.
 */
export async function migrateAtStart(env: Env, entities: Entities): Promise<void> {
  const dataSource = await openDataSource(env, entities);
  try {
    await assertOurs(dataSource);
    const wanted = env.MIGRATE_ON_START === 'auto' ? isEmbedded(dataSource) : env.MIGRATE_ON_START === 'true';
    if (wanted) await migrate(dataSource);
    else if (await pendingMigrations(dataSource)) throw new Error(PENDING);
  } finally {
    await dataSource.destroy();
  }
}

/** Names of the migrations of this program, in their order. */
export const KNOWN_MIGRATIONS: readonly string[] = MIGRATIONS.map(({ name }) => name);

/** Names of the migrations that the database has had, in their order. */
export async function executedMigrations(env: Env, entities: Entities): Promise<string[]> {
  const dataSource = await openDataSource(env, entities);
  try {
    const runner = dataSource.createQueryRunner();
    const executed = await new MigrationExecutor(dataSource, runner)
      .getExecutedMigrations()
      .finally(() => runner.release());
    return executed.sort((a, b) => a.timestamp - b.timestamp).map(({ name }) => name);
  } finally {
    await dataSource.destroy();
  }
}

/**
 * The database must be empty, or this program's.
 * @throws Error for tables of another program: a mistyped name must not add ours to them; and for a schema of a newer
 * version: an older one must not write into tables whose rules it does not know.
 */
export async function assertOurs(dataSource: DataSource): Promise<void> {
  const known = new Set(dataSource.migrations.map(({ name, constructor }) => name ?? constructor.name));
  const runner = dataSource.createQueryRunner();
  try {
    // A first migration that was broken off may have left tables of ours.
    const ours = new Set([
      'migrations',
      'migration_lease',
      ...dataSource.entityMetadatas.map(({ tableName }) => tableName),
    ]);
    const tables = await tableNames(dataSource);
    if (tables.length > 0 && !tables.some((name) => ours.has(name)))
      throw new Error(
        `The database belongs to another program (it has the table ${tables[0]}). Check DATABASE_URL.`,
      );
    const executed = await new MigrationExecutor(dataSource, runner).getExecutedMigrations();
    const newer = executed.find(({ name }) => !known.has(name));
    if (newer)
      throw new Error(
        `The database is that of a newer program (it has the migration ${newer.name}). Start that one, or restore a backup.`,
      );
  } finally {
    await runner.release();
  }
}

async function tableNames(dataSource: DataSource): Promise<string[]> {
  const sql = isEmbedded(dataSource)
    ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name';
  return (await dataSource.query<{ name: string }[]>(sql)).map(({ name }) => name);
}

/** Whether the schema is older than this program. Writes nothing. */
export async function pendingMigrations(dataSource: DataSource): Promise<boolean> {
  const runner = dataSource.createQueryRunner();
  try {
    return (await new MigrationExecutor(dataSource, runner).getPendingMigrations()).length > 0;
  } finally {
    await runner.release();
  }
}
