import { type DataSource, type Migration, MigrationExecutor, type QueryRunner } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { isObject } from '../common/json.js';
import { runWithRetry, toDatabaseError } from './engine/database-error.js';
import { ChangeWatch } from './leases/change-watch.js';
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
export async function migrate(dataSource: DataSource): Promise<Migration[]> {
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
    const leaseRunner = dataSource.createQueryRunner();
    const lease = new MigrationLease(leaseRunner);
    return await runUnderLease(lease, runner, runPendingMigrations).finally(() => leaseRunner.release());
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

async function runUnderLease<T>(lease: MigrationLease, runner: QueryRunner, work: () => Promise<T>) {
  await lease.acquire();
  const query = runner.query.bind(runner);
  const renewLeaseAndQuery = async (...args: Parameters<typeof query>): Promise<unknown> => {
    if (!args[0].startsWith('SELECT')) await lease.renew();
    return query(...args);
  };
  Object.assign(runner, { query: renewLeaseAndQuery });
  try {
    return await work();
  } finally {
    await lease.release();
  }
}

/** Enables causal reads on Galera, because this node may not have applied the migrations of another node yet. */
async function enableCausalReads(runner: QueryRunner): Promise<void> {
  const known: unknown = await runner.query("SHOW VARIABLES LIKE 'wsrep_sync_wait'");
  if (Array.isArray(known) && known.length > 0) await runner.query('SET SESSION wsrep_sync_wait = 7');
}

/** Time without a heartbeat after which the lease is lost. If a migrating process is killed, the next one waits this long. */
const LEASE_SECONDS = 15;
const HEARTBEAT_MILLIS = 3000;
const MAX_WAIT_MILLIS = 5 * 60_000;
const POLL_MILLIS = 250;

const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS migration_lease (
  name varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  owner char(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  until datetime(3) NOT NULL
) ENGINE = InnoDB`;
const INSERT_ROW = `INSERT IGNORE INTO migration_lease (name, owner, until) VALUES ('migrations', '', '1970-01-01')`;
/** SQL for the next heartbeat of the lease. Each heartbeat stores a different time. */
const LEASE_END = `UTC_TIMESTAMP(3) + INTERVAL ${LEASE_SECONDS} SECOND`;
/** Owner and time of the last heartbeat. A free lease has no owner. */
const BEAT = "CONCAT(owner, ' ', until)";
const FIND = `SELECT ${BEAT} AS beat FROM migration_lease WHERE name = 'migrations'`;
const TAKE = `UPDATE migration_lease SET owner = ?, until = ${LEASE_END} WHERE name = 'migrations' AND ${BEAT} = ?`;
const RENEW = `UPDATE migration_lease SET until = ${LEASE_END} WHERE name = 'migrations' AND owner = ?`;
const RELEASE = `UPDATE migration_lease SET owner = '', until = '1970-01-01' WHERE name = 'migrations' AND owner = ?`;

/**
 * The right of one process to change the schema, on all nodes of a cluster. The lease expires if its process is killed.
 * `GET_LOCK` cannot replace it, because Galera does not support it.
 */
class MigrationLease {
  private readonly owner = uuidv7();
  private readonly watch = new ChangeWatch();
  private heartbeat: NodeJS.Timeout | undefined;

  /**
   * @param runner a connection that only the lease uses, because a migration may occupy its own connection for a long
   * time.
   */
  constructor(private readonly runner: QueryRunner) {}

  /** Waits for the lease and takes it. @throws Error if another process holds it for five minutes. */
  async acquire(): Promise<void> {
    const until = performance.now() + MAX_WAIT_MILLIS;
    await this.execute(CREATE_TABLE);
    await this.execute(INSERT_ROW);
    while (!(await this.tryTake())) {
      if (performance.now() > until)
        throw new Error('Another process has been migrating for five minutes. Start again later.');
      await delay(POLL_MILLIS * (1 + Math.random()));
    }
    this.heartbeat = setInterval(() => void this.renew().catch(() => undefined), HEARTBEAT_MILLIS);
  }

  /** Extends the lease. @throws Error if another process has taken the lease and continues the migration. */
  async renew(): Promise<void> {
    if ((await this.execute(RENEW, [this.owner])) === 0)
      throw new Error('Another process has taken over the migration.');
  }

  async release(): Promise<void> {
    clearInterval(this.heartbeat);
    await this.execute(RELEASE, [this.owner]).catch(() => undefined); // if the release fails, the lease expires by itself
  }

  /** Takes a lease that is free, or whose owner has sent no heartbeat for LEASE_SECONDS. */
  private async tryTake(): Promise<boolean> {
    const found: unknown = await this.query(FIND);
    const beat = Array.isArray(found) && isObject(found[0]) ? String(found[0]['beat']) : '';
    const isFree = beat.startsWith(' ') || this.watch.hasStopped('migrations', beat, LEASE_SECONDS);
    return isFree && (await this.execute(TAKE, [this.owner, beat])) > 0;
  }

  private async execute(sql: string, params: string[] = []): Promise<number> {
    const result = await this.query(sql, params);
    return isObject(result) && typeof result['affectedRows'] === 'number' ? result['affectedRows'] : 0;
  }

  private async query(sql: string, params: string[] = []): Promise<unknown> {
    return runWithRetry('statement', (): Promise<unknown> =>
      this.runner.query(sql, params).catch((error: unknown) => {
        throw toDatabaseError(error);
      }),
    );
  }
}
