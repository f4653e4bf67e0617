import { expect } from '@jest/globals';
import { type Connection, type RowDataPacket, createConnection } from 'mysql2/promise';
import { TestApp } from '../support/app/app.js';
import { Client } from '../support/app/client.js';
import { onMariadb, onSqlite } from '../support/app/database.js';
import { type Exit, Process, envOf, setUpDatabase } from '../support/process/process.js';
import { databaseOf } from '../support/app/people.js';

/** Several instances start at the same time on one empty database. */
const database = setUpDatabase();

const KEY = /API key +(\S+)/g;

/** Expects one Webmaster and one API key. One instance has printed the key, and all instances accept it. */
async function expectOneFirstStart(instances: readonly Process[], url: string): Promise<void> {
  const keys = instances.flatMap(({ err }) => [...err.matchAll(KEY)].map(([, key]) => key ?? ''));
  expect(keys).toHaveLength(1);
  for (const instance of instances) {
    const found = await new Client(instance.url, { 'x-api-key': keys[0] ?? '' }).get('/users/search');
    expect({ status: found.status, Count: found.body.Count }).toEqual({ status: 200, Count: 1 });
    expect(found.body.Results[0]).toMatchObject({ username: 'admin', roles: ['Webmaster'] });
  }
  await Promise.all(instances.map((instance) => instance.stop()));
  const app = await TestApp.startOn({ ...database, url });
  const rows = await databaseOf(app).query<{ n: number }>('SELECT COUNT(*) AS n FROM api_keys');
  await app.stop();
  expect(Number(rows[0]?.n)).toBe(1);
}

onMariadb('concurrent first starts initialize an empty database once (MariaDB only)', async () => {
  const settings = { ...envOf(database), DATABASE_URL: database.url };
  const instances = await Promise.all([1, 2, 3].map(() => Process.startService(settings)));
  await expectOneFirstStart(instances, database.url);
});

onSqlite(
  'only one of several services that start on one file starts, the others exit with an error (SQLite only)',
  async () => {
    const services = [1, 2, 3].map(() => new Process('dist/main.js', envOf(database)));
    const started = await Promise.all(
      services.map((service) =>
        service.waitUntilReady().then(
          () => true,
          () => false,
        ),
      ),
    );
    const refused = services.filter((_, index) => !started[index]);
    expect(refused.map(({ err }) => /Another service or command uses the database/.test(err))).toEqual([
      true,
      true,
    ]);
    await expectOneFirstStart(
      services.filter((service) => !refused.includes(service)),
      database.url,
    );
  },
);

onMariadb('two instances that both find an empty database create one schema (MariaDB only)', async () => {
  const columns =
    'id int NOT NULL AUTO_INCREMENT PRIMARY KEY, timestamp bigint NOT NULL, name varchar(255) NOT NULL';
  // The lock blocks the record of a migration until one instance waits for it and the other for that instance.
  const instances = await startWithLocks(
    1,
    `CREATE TABLE migrations (${columns})`,
    'LOCK TABLES migrations READ',
  );
  await expectOneFirstStart(instances, database.url);
});

onMariadb(
  'two instances that both find no users create one Webmaster and one key (MariaDB only)',
  async () => {
    expect((await Process.startCommand(['migrate'], envOf(database)).exit).code).toBe(0);
    // Both instances can read that there are no users, but the lock blocks inserts until both try to insert.
    const instances = await startWithLocks(
      2,
      'LOCK TABLES users READ, api_keys READ, user_counts READ, user_rules READ',
    );
    await expectOneFirstStart(instances, database.url);
  },
);

/** Starts two instances while locks are held, and releases the locks when `least` connections wait for them. */
async function startWithLocks(least: number, ...statements: string[]): Promise<Process[]> {
  const holder = await createConnection({ uri: database.url.replace(/^mariadb:/, 'mysql:') });
  try {
    for (const statement of statements) await holder.query(statement);
    const starting = [1, 2].map(() => new Process('dist/main.js', envOf(database)));
    const ended: Exit[] = [];
    for (const { exit } of starting) void exit.then((end) => ended.push(end));
    while (ended.length === 0 && (await countWaiting(holder)) < least);
    await holder.query('UNLOCK TABLES');
    await Promise.all(starting.map((instance) => instance.waitUntilReady()));
    return starting;
  } finally {
    await holder.end();
  }
}

/** Counts the connections to the database that wait for a lock. */
async function countWaiting(connection: Connection): Promise<number> {
  const [rows] = await connection.query<RowDataPacket[]>('SHOW FULL PROCESSLIST');
  const here = rows.filter(({ db }) => db === connection.config.database);
  // One connection of the holder and two of each instance, whether it migrates or waits.
  if (here.length < 5) return 0;
  return here.filter(({ State }) => /^Waiting for.*lock/.test(String(State))).length;
}
