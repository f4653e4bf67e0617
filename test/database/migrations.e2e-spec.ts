import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { loadEnv } from '../../src/platform/config/env.js';
import { openDataSource } from '../../src/platform/database/data-source.js';
import { hasPendingMigrations, migrate } from '../../src/platform/database/migrate.js';
import { ENTITIES } from '../../src/entities.js';
import { MIGRATIONS } from '../../src/platform/database/migrations/migrations.js';
import { TestApp } from '../support/app/app.js';
import { ENGINE, type TestDatabase, createDatabase } from '../support/app/database.js';
import { databaseOf } from '../support/app/people.js';
import { service } from '../support/jest/native.js';

let database: TestDatabase;
let dataSource: DataSource;
beforeAll(async () => {
  database = await createDatabase();
  dataSource = await openDataSource(loadEnv({ DATABASE_URL: database.url }), ENTITIES);
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

/** Lists the existing tables of the service. */
const listTables = async () => {
  const runner = dataSource.createQueryRunner();
  const found = await Promise.all(
    dataSource.entityMetadatas.map(async ({ tableName }) =>
      (await runner.hasTable(tableName)) ? [tableName] : [],
    ),
  );
  await runner.release();
  return found.flat();
};
const findDrift = async () => {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
};

test('the tables match the entities after migrating up, down and up', async () => {
  await dataSource.runMigrations();
  expect(await listTables()).toHaveLength(28);
  expect(await findDrift()).toEqual([]);
  const counts = await dataSource.query<object[]>('SELECT name, value FROM user_counts ORDER BY name');
  expect(counts).toEqual(['Active', 'Blocked', 'webmasters'].map((name) => ({ name, value: 0 })));

  for (const _ of MIGRATIONS) await dataSource.undoLastMigration();
  expect(await listTables()).toEqual([]);

  await dataSource.runMigrations();
  expect(await findDrift()).toEqual([]);
});

/** Statements between two kills. On SQLite every attempt starts again in one transaction, so a larger step saves time. */
const STRIDE = ENGINE === 'sqlite' ? 12 : 1;

/** Migrates until it completes, and fails each attempt `STRIDE` statements later. @returns the number of attempts */
async function migrateKilled(): Promise<number> {
  const printed = jest.spyOn(service.console, 'log').mockReturnValue(undefined);
  let attempts = 0;
  while (await hasPendingMigrations(dataSource)) {
    let left = ++attempts * STRIDE;
    const runner = dataSource.createQueryRunner();
    const query = runner.query.bind(runner) as (...args: unknown[]) => Promise<never>;
    const killed = jest.spyOn(runner, 'query').mockImplementation(async (sql, ...rest) => {
      // The database rolls back for a dead process.
      if (sql.startsWith('ROLLBACK')) return query(sql, ...rest);
      if (left === 0) throw new Error('killed');
      if (/^(CREATE|ALTER|INSERT|UPDATE|DELETE|DROP)/.test(sql)) left--;
      return query(sql, ...rest);
    });
    jest.spyOn(dataSource, 'createQueryRunner').mockReturnValueOnce(runner);
    await migrate(dataSource, loadEnv({ DATABASE_URL: database.url })).catch((error: unknown) => {
      if (!(error instanceof Error && error.message === 'killed')) throw error;
    });
    killed.mockRestore();
  }
  printed.mockRestore();
  return attempts;
}

test('later attempts complete a migration killed at any statement', async () => {
  for (const _ of MIGRATIONS) await dataSource.undoLastMigration();
  // Later attempts complete several migrations.
  expect(await migrateKilled()).toBeGreaterThan(MIGRATIONS.length / 2);
  expect(await findDrift()).toEqual([]);
  expect(await dataSource.query<object[]>('SELECT name FROM user_counts')).toHaveLength(3);
  expect(await dataSource.query<object[]>('SELECT name FROM user_rules')).toHaveLength(2);
  expect(await dataSource.query<object[]>('SELECT id FROM installation WHERE epoch = 0')).toHaveLength(1);
});

test('the comparison of tables and entities detects a different column length', async () => {
  const column = dataSource.getMetadata('users').columns.find(({ propertyName }) => propertyName === 'phone');
  if (!column) throw new Error('the column is missing');
  column.length = '65';
  expect(await findDrift()).not.toEqual([]);
  column.length = '64';
});

test('the service does not start with a newer database schema', async () => {
  const database = await createDatabase();
  const app = await TestApp.startOn(database);
  await databaseOf(app).execute(
    "INSERT INTO migrations (timestamp, name) VALUES (4102444800000, 'Future4102444800000')",
  );
  await app.stop();
  await expect(TestApp.startOn(database)).rejects.toThrow(
    /newer version \(it has the migration Future4102444800000\)/,
  );
  await database.drop();
});
