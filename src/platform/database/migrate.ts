import { type DataSource, type Migration, MigrationExecutor, type QueryRunner } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseSettings } from './engine/connection-options.js';
import { openDatabase } from './engine/database.js';
import { Leases } from './leases/leases.service.js';
import { MIGRATIONS } from './migrations/migrations.js';
import { TableMigration } from './migrations/table-migration.js';

export const KNOWN_MIGRATIONS: readonly string[] = MIGRATIONS.map(({ name }) => name);

/** Tables that are created before the first migration runs. */
const MIGRATION_TABLES = ['migrations', 'migration_lease'];

/** Thrown if the database has tables that this version must not use. The message says what to do. */
export class ForeignSchemaError extends Error {}

/** Returns the executed migrations, in order. Writes nothing. */
export async function findExecutedMigrations(dataSource: DataSource): Promise<Migration[]> {
  const runner = dataSource.createQueryRunner();
  const executor = new MigrationExecutor(dataSource, runner);
  const executed = await executor.getExecutedMigrations().finally(() => runner.release());
  return executed.sort((a, b) => a.timestamp - b.timestamp);
}

/** Returns true if the schema is older than this program. Writes nothing. */
export async function hasPendingMigrations(dataSource: DataSource): Promise<boolean> {
  const executed = new Set((await findExecutedMigrations(dataSource)).map(({ name }) => name));
  return KNOWN_MIGRATIONS.some((name) => !executed.has(name));
}

/**
 * Checks that the database is empty, or has the tables of this version or an older release. Writes nothing.
 * @throws ForeignSchemaError for tables of another program, a newer version or an unreleased build.
 */
export async function assertOwnSchema(dataSource: DataSource): Promise<void> {
  const tables = await readTableNames(dataSource);
  // Only the migration tables identify this program. Any program may have a table such as `users`.
  if (tables.length > 0 && !tables.some((name) => MIGRATION_TABLES.includes(name)))
    throw new ForeignSchemaError(
      `The database belongs to another program (it has the table ${tables[0]}). Check DATABASE_URL.`,
    );
  const executed = await findExecutedMigrations(dataSource);
  const unknown = executed.findLast(({ name }) => !KNOWN_MIGRATIONS.includes(name));
  if (unknown && unknown.timestamp > timestampOf(KNOWN_MIGRATIONS.at(-1)))
    throw new ForeignSchemaError(
      `The database belongs to a newer version (it has the migration ${unknown.name}). Start that version, or restore a backup.`,
    );
  if (unknown) throw createUnreleasedError(dataSource, `the unknown migration ${unknown.name}`);
  // Without recorded migrations, only tables of the first migration may exist. A killed process may have created them.
  const later = MIGRATIONS.slice(1)
    .map((Later) => new Later())
    .flatMap((migration) => (migration instanceof TableMigration ? Object.keys(migration.tables) : []));
  const table = executed.length === 0 && later.find((name) => tables.includes(name));
  if (table) throw createUnreleasedError(dataSource, `the table ${table} without its migration`);
}

const createUnreleasedError = ({ options }: DataSource, found: string): ForeignSchemaError =>
  new ForeignSchemaError(
    `The database ${String(options.database)} belongs to an unreleased build or another program (it has ${found}). Set DATABASE_URL to an empty database.`,
  );

const timestampOf = (name = ''): number => Number(/\d+$/.exec(name)?.[0]);

async function readTableNames(dataSource: DataSource): Promise<string[]> {
  const sql =
    dataSource.options.type === 'better-sqlite3'
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
      : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name';
  return (await dataSource.query<{ name: string }[]>(sql)).map(({ name }) => name);
}

/**
 * Runs the pending migrations and returns them. Only one process migrates at a time, also across the nodes of a
 * cluster. On SQLite all migrations run in one transaction. On MariaDB and MySQL, where DDL is not transactional, they
 * run under a lease that is renewed before each statement. If a process is killed, the next process continues, because
 * each step can safely run twice.
 */
export async function migrate(dataSource: DataSource, settings: DatabaseSettings): Promise<Migration[]> {
  const runner = dataSource.createQueryRunner();
  const executor = new MigrationExecutor(dataSource, runner);
  executor.transaction = 'none';
  const runPendingMigrations = () => executor.executePendingMigrations();
  try {
    if (dataSource.options.type === 'better-sqlite3')
      return await runInTransaction(runner, runPendingMigrations);
    await enableCausalReads(runner);
    // Creating the lease table would pause all nodes of a Galera cluster, so it is created only if migrations are
    // pending.
    if (!(await hasPendingMigrations(dataSource))) return [];
    const database = await openDatabase(settings);
    try {
      await database.execute(CREATE_TABLE);
      return await runUnderLease(new MigrationLeases(database), runner, runPendingMigrations);
    } finally {
      await database.close();
    }
  } finally {
    await runner.release();
  }
}

async function runInTransaction<T>(runner: QueryRunner, work: () => Promise<T>): Promise<T> {
  await runner.query('BEGIN IMMEDIATE');
  try {
    const done = await work();
    await runner.query('COMMIT');
    return done;
  } catch (error) {
    await runner.query('ROLLBACK').catch(() => undefined); // report the first error, not the error of the rollback
    throw error;
  }
}

/** Runs migrations when no other process holds the lease. @throws Error if another process holds it for five minutes. */
async function runUnderLease(leases: Leases, runner: QueryRunner, work: () => Promise<Migration[]>) {
  const query = runner.query.bind(runner);
  const renewLeaseAndQuery = async (...args: Parameters<typeof query>): Promise<unknown> => {
    if (!args[0].startsWith('SELECT') && !(await leases.renew(LEASE, LEASE_SECONDS)))
      throw new Error('Another process has taken over the migration.');
    return query(...args);
  };
  Object.assign(runner, { query: renewLeaseAndQuery });
  let migrations: Migration[] = [];
  const migrateAll = async (): Promise<void> => {
    migrations = await work();
  };
  const until = performance.now() + MAX_WAIT_MILLIS;
  while (!(await leases.runUnderLease(LEASE, LEASE_SECONDS, migrateAll))) {
    if (performance.now() > until)
      throw new Error('Another process has been migrating for five minutes. Start again later.');
    await delay(POLL_MILLIS * (1 + Math.random()));
  }
  return migrations;
}

/** Enables causal reads on Galera, because this node may not have applied the migrations of another node yet. */
async function enableCausalReads(runner: QueryRunner): Promise<void> {
  const known: unknown = await runner.query("SHOW VARIABLES LIKE 'wsrep_sync_wait'");
  if (Array.isArray(known) && known.length > 0) await runner.query('SET SESSION wsrep_sync_wait = 7');
}

/** Time without a heartbeat after which the lease is lost. If a migrating process is killed, the next one waits this long. */
const LEASE_SECONDS = 15;
const LEASE = 'migrations';
const MAX_WAIT_MILLIS = 5 * 60_000;
const POLL_MILLIS = 250;

const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS migration_lease (
  name varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  owner char(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  until datetime(3) NOT NULL
) ENGINE = InnoDB`;

/**
 * The right of one process to change the schema, on all nodes of a cluster, in a table that exists before all others.
 * `GET_LOCK` cannot replace it, because Galera does not support it.
 */
class MigrationLeases extends Leases {
  protected override readonly table = 'migration_lease';

  /** Ignores an error, because the lease expires by itself and the result of the migrations is more important. */
  override async release(name: string): Promise<void> {
    await super.release(name).catch(() => undefined);
  }
}
