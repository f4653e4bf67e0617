import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { MariaDb } from '../../tools/bench/faults/servers.js';
import { TestApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { ENGINE, type TestDatabase, freshDatabase } from '../support/app/database.js';
import { aUser } from '../support/data/factories.js';
import { databaseOf } from '../support/app/people.js';

/** A primary and a replica of it, both of which `DATABASE_URL` names. */
const onMariadb = ENGINE === 'mariadb' ? describe : describe.skip;
jest.setTimeout(120_000);

/** Without the superuser's right to write where it is not allowed. */
const USER = "CREATE USER service@'127.0.0.1'; GRANT ALL ON rollcall.* TO service@'127.0.0.1'";
const hostOf = (server: MariaDb) => new URL(server.url).host;

onMariadb('a primary and its replica (needs servers: MariaDB only)', () => {
  let primary: MariaDb;
  let replica: MariaDb;
  let database: TestDatabase;
  let app: TestApp;
  beforeAll(async () => {
    const shared = ['--skip-name-resolve', '--log-bin', '--gtid-strict-mode=1'];
    primary = await MariaDb.make(undefined, [...shared, '--server-id=1']);
    replica = await MariaDb.make(undefined, [...shared, '--server-id=2']);
    replica.sql('RESET MASTER; SET GLOBAL read_only = 1'); // what follows comes from the primary
    replica.sql('SET GLOBAL gtid_slave_pos = @@global.gtid_slave_pos');
    replica.sql('DROP DATABASE rollcall; RESET MASTER');
    replica.sql(
      `CHANGE MASTER TO master_host = '127.0.0.1', master_port = ${new URL(primary.url).port}, master_user = 'root',
       master_use_gtid = slave_pos; START SLAVE`,
    );
    primary.sql(USER);
    await caughtUp();
    database = {
      ...(await freshDatabase()),
      url: `mysql://service@${hostOf(primary)},${hostOf(replica)}/rollcall`,
    };
    app = await TestApp.on(database);
  });
  afterAll(async () => {
    await app.stop();
    await Promise.all([primary.remove(), replica.remove()]);
  });

  const caughtUp = async () => {
    const [position = ''] = primary.sql('SELECT @@gtid_binlog_pos');
    while (replica.sql(`SELECT MASTER_GTID_WAIT('${position}', 10)`)[0] !== '0') await delay(100);
  };
  const inUse = async () => (await databaseOf(app).queryOne<{ port: number }>('SELECT @@port AS port'))?.port;
  const ready = () => app.nobody.raw('GET', '/health/ready');

  /** Clients that create users until they are told to stop. */
  function creators(count: number) {
    const answers: Answer[] = [];
    let going = true;
    const all = Array.from({ length: count }, async () => {
      while (going) answers.push(await app.key.post('/users', aUser()));
    });
    const some = async (more: number) => {
      const least = answers.length + more;
      while (answers.length < least) await delay(5);
    };
    const end = async () => {
      going = false;
      await Promise.all(all);
      return answers;
    };
    return { some, end };
  }
  const statusesOf = (answers: readonly Answer[]) => [...new Set(answers.map(({ status }) => status))];
  const expectKept = async (answers: readonly Answer[]) => {
    for (const { body, status } of answers) {
      if (status === 201) expect((await app.key.get(`/users/${body.uuid as string}`)).status).toBe(200);
    }
  };

  test('the first host that takes changes serves', async () => {
    expect(await inUse()).toBe(Number(new URL(primary.url).port));
    expect((await ready()).status).toBe(200);
  });

  test('a demotion costs no request its answer, and nothing that was acknowledged', async () => {
    const clients = creators(8);
    await clients.some(50);
    primary.sql('SET GLOBAL read_only = 1');
    await caughtUp();
    replica.sql('STOP SLAVE; SET GLOBAL read_only = 0');
    await clients.some(50);
    const answers = await clients.end();
    expect(statusesOf(answers)).toEqual([201]);
    expect(await inUse()).toBe(Number(new URL(replica.url).port));
    await expectKept(answers);
  });

  test('a service that only reads leaves a demoted server too', async () => {
    primary.sql('SET GLOBAL read_only = 0');
    replica.sql('SET GLOBAL read_only = 1');
    while ((await inUse()) !== Number(new URL(primary.url).port)) await delay(100);
    replica.sql('SET GLOBAL read_only = 0');
    primary.sql('SET GLOBAL read_only = 1');
    while ((await inUse()) !== Number(new URL(replica.url).port)) await delay(100);
    primary.sql('SET GLOBAL read_only = 0');
    await delay(2500); // it does not go back by itself: the old primary lacks what the new one has
    expect(await inUse()).toBe(Number(new URL(replica.url).port));
  });

  test('while no host takes changes it waits, then says so, and is ready again by itself', async () => {
    for (const server of [primary, replica]) server.sql('SET GLOBAL read_only = 1');
    const answer = await app.key.post('/users', aUser());
    expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
    const { status, body } = await ready();
    expect([status, body.code]).toEqual([503, 'unavailable']);
    expect(body.detail).toMatch(/^Not ready: database is read-only\.$/);
    // Others have waited for long enough: this one is told at once.
    const started = Date.now();
    expect((await app.key.post('/users', aUser())).status).toBe(503);
    expect(Date.now() - started).toBeLessThan(1500);
    replica.sql('SET GLOBAL read_only = 0');
    expect((await app.key.post('/users', aUser())).status).toBe(201);
    expect((await ready()).status).toBe(200);
  });

  test('a server that freezes is left for the other one', async () => {
    expect(await inUse()).toBe(Number(new URL(replica.url).port));
    primary.sql('SET GLOBAL read_only = 0');
    process.kill(replica.pid, 'SIGSTOP');
    try {
      const answer = await app.key.get('/users/me');
      expect(answer.status).toBeLessThan(500);
      expect(await inUse()).toBe(Number(new URL(primary.url).port));
    } finally {
      process.kill(replica.pid, 'SIGCONT');
    }
  });

  test('a server that is killed is left at once, and what it acknowledged is known', async () => {
    const clients = creators(8);
    await clients.some(50);
    await primary.end('SIGKILL');
    await clients.some(50);
    const answers = await clients.end();
    // A commit that was on its way may have been made; every other request was run again on the other server.
    for (const { status, body } of answers)
      expect([201, 'outcome_unknown']).toContain(status === 201 ? 201 : body.code);
    expect(statusesOf(answers.slice(-20))).toEqual([201]);
    expect(await inUse()).toBe(Number(new URL(replica.url).port));
  });
});
