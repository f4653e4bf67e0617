import { type DataSource, type Migration, MigrationExecutor, type QueryRunner } from 'typeorm';
import { MigrationLease } from './migration-lease.js';

/**
 * Runs what is pending and returns it. Processes that ask at once take turns, on all nodes of a cluster: SQLite's
 * migrations are one transaction from the first look on; the DDL of MariaDB and MySQL is not transactional, and is
 * guarded by a lease, which each statement of a migration renews first. One that was killed is continued by the next,
 * since each step may be run twice.
 */
export async function migrate(dataSource: DataSource): Promise<Migration[]> {
  const runner = dataSource.createQueryRunner();
  const executor = new MigrationExecutor(dataSource, runner);
  executor.transaction = 'none';
  const work = () => executor.executePendingMigrations();
  try {
    if (dataSource.options.type === 'better-sqlite3') return await inOneTransaction(runner, work);
    await causalReads(runner);
    // A lease is a write, and on Galera a table made is a pause for all nodes: not where there is nothing to do.
    if ((await executor.getPendingMigrations()).length === 0) return [];
    const own = dataSource.createQueryRunner();
    return await underLease(new MigrationLease(own), runner, work).finally(() => own.release());
  } finally {
    await runner.release();
  }
}

async function inOneTransaction<T>(runner: QueryRunner, work: () => Promise<T>): Promise<T> {
  await runner.query('BEGIN IMMEDIATE');
  try {
    const done = await work();
    await runner.query('COMMIT');
    return done;
  } catch (error) {
    await runner.query('ROLLBACK').catch(() => undefined); // the first error is the one to report
    throw error;
  }
}

async function underLease<T>(lease: MigrationLease, runner: QueryRunner, work: () => Promise<T>): Promise<T> {
  await lease.take();
  const query = runner.query.bind(runner);
  const underTheLease = async (...args: Parameters<typeof query>): Promise<unknown> => {
    if (!args[0].startsWith('SELECT')) await lease.renew();
    const answer: unknown = await query(...args);
    return answer;
  };
  Object.assign(runner, { query: underTheLease });
  try {
    return await work();
  } finally {
    await lease.give();
  }
}

/** A node of Galera may be behind the one that migrated last. */
async function causalReads(runner: QueryRunner): Promise<void> {
  const known: unknown = await runner.query("SHOW VARIABLES LIKE 'wsrep_sync_wait'");
  if (Array.isArray(known) && known.length > 0) await runner.query('SET SESSION wsrep_sync_wait = 7');
}
