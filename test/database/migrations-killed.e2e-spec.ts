import { expect } from '@jest/globals';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { loadEnv } from '../../src/platform/config/env.js';
import { openDataSource } from '../../src/platform/database/data-source.js';
import { MIGRATIONS } from '../../src/platform/database/migrations/migrations.js';
import { ENTITIES } from '../../src/entities.js';
import { onMariadb } from '../support/app/database.js';
import { Process, envOf, setUpDatabase } from '../support/process/process.js';

/**
 * Kills processes while they migrate, and lets other processes take over. This file tests the lease. `migrations`
 * tests the state of the database after each statement.
 */
const database = setUpDatabase();

const startMigrator = () => Process.startCommand(['migrate'], envOf(database));

async function withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await createConnection({ uri: database.url.replace(/^mariadb:/, 'mysql:') });
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}

const countTables = async (connection: Connection): Promise<number> => {
  const [rows] = await connection.query<RowDataPacket[]>('SHOW TABLES');
  return rows.length;
};

/** Starts a migrator and kills it as soon as there are `least` tables. */
async function killMigratorAt(connection: Connection, least: number): Promise<void> {
  const process = startMigrator();
  const ended: unknown[] = [];
  void process.exit.then((exit) => ended.push(exit));
  while (ended.length === 0 && (await countTables(connection)) < least);
  process.signal('SIGKILL');
  await process.exit;
}

/** Expects that the tables match the entities, and that each migration was recorded once. */
async function expectComplete(): Promise<void> {
  const dataSource = await openDataSource(loadEnv({ DATABASE_URL: database.url }), ENTITIES);
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  const recorded = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations');
  await dataSource.destroy();
  expect(upQueries).toEqual([]);
  expect(recorded.map(({ name }) => name).sort()).toEqual(MIGRATIONS.map(({ name }) => name).sort());
}

onMariadb('waiting migrators complete the migration of a killed migrator', async () => {
  await withConnection(async (connection) => {
    await killMigratorAt(connection, 4);
    expect(await countTables(connection)).toBeLessThan(27); // the migration is not complete
    const waiting = [startMigrator(), startMigrator(), startMigrator()];
    expect(await Promise.all(waiting.map(async ({ exit }) => (await exit).code))).toEqual([0, 0, 0]);
    // Any of the waiting migrators may complete the rest, but no migration runs twice.
    await expectComplete();
  });
});

onMariadb('a migrator that lost its lease stops before the next step', async () => {
  await withConnection(async (connection) => {
    const process = startMigrator();
    while ((await countTables(connection)) < 3);
    await connection.query(
      "UPDATE migration_lease SET owner = 'another', until = UTC_TIMESTAMP(3) + INTERVAL 2 DAY",
    );
    expect((await process.exit).code).toBe(2);
    expect(process.err).toContain('Another process has taken over the migration');
    expect((await startMigrator().exit).code).toBe(0);
    await expectComplete();
  });
});
