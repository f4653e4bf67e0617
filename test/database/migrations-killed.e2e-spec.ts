import { expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { createConnection, type Connection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { loadEnv } from '../../src/config/env.js';
import { openDataSource } from '../../src/database/data-source.js';
import { MIGRATIONS } from '../../src/database/migrations/migrations.js';
import { ENTITIES } from '../../src/entities.js';
import { ENGINE } from '../support/app/database.js';
import { Process, newcomer, processDatabase } from '../support/process/process.js';

/** Processes that are killed while they migrate, and others that take over. */
const database = processDatabase();
const onMariadb = ENGINE === 'mariadb' ? test : test.skip;

const migrator = () => Process.command(['migrate'], newcomer(database));

async function connected<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await createConnection({ uri: database.url.replace(/^mariadb:/, 'mysql:') });
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}

const tables = async (connection: Connection): Promise<number> => {
  const [rows] = await connection.query<RowDataPacket[]>('SHOW TABLES');
  return rows.length;
};

/** Starts a migrator and kills it as soon as there are so many tables. @returns how many it left. */
async function killedAt(connection: Connection, least: number): Promise<number> {
  const process = migrator();
  const ended: unknown[] = [];
  void process.exit.then((exit) => ended.push(exit));
  while (ended.length === 0 && (await tables(connection)) < least);
  process.signal('SIGKILL');
  await process.exit;
  return tables(connection);
}

/** What the tables lack, and how often each migration was recorded. */
async function expectComplete(): Promise<void> {
  const dataSource = await openDataSource(loadEnv({ DATABASE_URL: database.url }), ENTITIES);
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  const recorded = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations');
  await dataSource.destroy();
  expect(upQueries).toEqual([]);
  expect(recorded.map(({ name }) => name).sort()).toEqual(MIGRATIONS.map(({ name }) => name).sort());
}

onMariadb('a migrator that is killed is continued by the next, and what counts already is kept', async () => {
  await connected(async (connection) => {
    const left: number[] = [];
    let counted = 0;
    for (const least of [2, 5, 9, 13]) {
      left.push(await killedAt(connection, least));
      // The lease of the dead ends by itself (below); here it is not waited for.
      await connection.query("UPDATE migration_lease SET until = '1970-01-01'");
      const count = "UPDATE user_counters SET value = 41 WHERE name = 'Active'";
      const [{ affectedRows }] = await connection
        .query<ResultSetHeader>(count)
        .catch(() => [{ affectedRows: 0 }]);
      if (affectedRows > 0) counted = 41;
    }
    expect(Math.min(...left)).toBeLessThan(9);
    expect(await migrator().exit).toMatchObject({ code: 0 });
    await expectComplete();
    const [rows] = await connection.query<RowDataPacket[]>(
      "SELECT SUM(value) AS total FROM user_counts WHERE name = 'Active'",
    );
    expect(Number(rows[0]?.['total'])).toBe(counted);
  });
});

onMariadb('the lease of a killed migrator ends by itself, and those that wait take turns', async () => {
  await connected(async (connection) => {
    await killedAt(connection, 4);
    const started = Date.now();
    const waiting = [migrator(), migrator(), migrator()];
    const codes = await Promise.all(waiting.map(async ({ exit }) => (await exit).code));
    expect(codes).toEqual([0, 0, 0]);
    expect(Date.now() - started).toBeLessThan(40_000);
    // One of them did all of it, or one after the other what was left: nothing was done twice.
    await expectComplete();
  });
});

onMariadb('a migrator that lost its lease stops before the next step', async () => {
  await connected(async (connection) => {
    const process = migrator();
    while ((await tables(connection)) < 3);
    await connection.query(
      "UPDATE migration_lease SET owner = 'another', until = UTC_TIMESTAMP(3) + INTERVAL 2 SECOND",
    );
    expect((await process.exit).code).toBe(2);
    expect(process.err).toContain('Another process has taken over the migration');
    await delay(2000);
    expect((await migrator().exit).code).toBe(0);
    await expectComplete();
  });
});
