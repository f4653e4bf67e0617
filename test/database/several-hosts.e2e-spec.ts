import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { MariaDb } from '../../tools/servers.js';
import { TestApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { type TestDatabase, createDatabase, describeOnMariadb } from '../support/app/database.js';
import { aUser } from '../support/data/factories.js';
import { databaseOf } from '../support/app/people.js';
import { suspend } from '../support/process/process.js';

/** `DATABASE_URL` names a primary database server and its replica. */

/** The user of the service, who cannot write to a read-only server as a superuser can. */
const USER = "CREATE USER service@'127.0.0.1'; GRANT ALL ON rollcall.* TO service@'127.0.0.1'";
const hostOf = (server: MariaDb) => new URL(server.url).host;

describeOnMariadb('on MariaDB', () => {
  let primary: MariaDb;
  let replica: MariaDb;
  let database: TestDatabase;
  let app: TestApp;
  beforeAll(async () => {
    const shared = ['--skip-name-resolve', '--log-bin', '--gtid-strict-mode=1'];
    primary = await MariaDb.create(undefined, [...shared, '--server-id=1']);
    replica = await MariaDb.create(undefined, [...shared, '--server-id=2']);
    replica.sql('RESET MASTER; SET GLOBAL read_only = 1'); // later changes come from the primary
    replica.sql('SET GLOBAL gtid_slave_pos = @@global.gtid_slave_pos');
    replica.sql('DROP DATABASE rollcall; RESET MASTER');
    replica.sql(
      `CHANGE MASTER TO master_host = '127.0.0.1', master_port = ${new URL(primary.url).port}, master_user = 'root',
       master_use_gtid = slave_pos; START SLAVE`,
    );
    primary.sql(USER);
    await waitForReplica();
    database = {
      ...(await createDatabase()),
      url: `mysql://service@${hostOf(primary)},${hostOf(replica)}/rollcall`,
    };
    app = await TestApp.startOn(database);
  });
  afterAll(async () => {
    await app.stop();
    await Promise.all([primary.remove(), replica.remove()]);
  });

  const waitForReplica = async () => {
    const [position = ''] = primary.sql('SELECT @@gtid_binlog_pos');
    while (replica.sql(`SELECT MASTER_GTID_WAIT('${position}', 10)`)[0] !== '0') await delay(100);
  };
  const readPort = async () =>
    (await databaseOf(app).queryOne<{ port: number }>('SELECT @@port AS port'))?.port;
  const getReadiness = () => app.guest.fetch('GET', '/health/ready');

  /** Starts clients that create users until `end` is called. */
  function startClients(count: number) {
    const answers: Answer[] = [];
    let going = true;
    const all = Array.from({ length: count }, async () => {
      while (going) answers.push(await app.key.post('/users', aUser()));
    });
    const waitFor = async (more: number) => {
      const least = answers.length + more;
      while (answers.length < least) await delay(5);
    };
    const end = async () => {
      going = false;
      await Promise.all(all);
      return answers;
    };
    return { waitFor, end };
  }
  const statusesOf = (answers: readonly Answer[]) => [...new Set(answers.map(({ status }) => status))];
  const expectStored = async (answers: readonly Answer[]) => {
    for (const { body, status } of answers) {
      if (status === 201) expect((await app.key.get(`/users/${body.uuid as string}`)).status).toBe(200);
    }
  };

  test('the service uses the first host in DATABASE_URL that accepts changes', async () => {
    expect(await readPort()).toBe(Number(new URL(primary.url).port));
    expect((await getReadiness()).status).toBe(200);
  });

  test('requests succeed during a demotion of the database primary', async () => {
    const clients = startClients(8);
    await clients.waitFor(50);
    primary.sql('SET GLOBAL read_only = 1');
    await waitForReplica();
    replica.sql('STOP SLAVE; SET GLOBAL read_only = 0');
    await clients.waitFor(50);
    const answers = await clients.end();
    expect(statusesOf(answers)).toEqual([201]);
    expect(await readPort()).toBe(Number(new URL(replica.url).port));
    await expectStored(answers);
  });

  test('the service does not switch back to a demoted database server', async () => {
    primary.sql('SET GLOBAL read_only = 0');
    replica.sql('SET GLOBAL read_only = 1');
    while ((await readPort()) !== Number(new URL(primary.url).port)) await delay(100);
    replica.sql('SET GLOBAL read_only = 0');
    primary.sql('SET GLOBAL read_only = 1');
    while ((await readPort()) !== Number(new URL(replica.url).port)) await delay(100);
    primary.sql('SET GLOBAL read_only = 0');
    await delay(2500); // must not switch back: the old primary lacks later changes
    expect(await readPort()).toBe(Number(new URL(replica.url).port));
  });

  test('requests return 503 while all database hosts are read-only', async () => {
    for (const server of [primary, replica]) server.sql('SET GLOBAL read_only = 1');
    const began = performance.now();
    const answer = await app.key.post('/users', aUser());
    const waited = performance.now() - began;
    expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
    const { status, body } = await getReadiness();
    expect([status, body.code]).toEqual([503, 'unavailable']);
    expect(body.detail).toMatch(/^Not ready: database is read-only\.$/);
    // An earlier request has waited long enough, so this request fails immediately.
    const started = performance.now();
    expect((await app.key.post('/users', aUser())).status).toBe(503);
    expect(performance.now() - started).toBeLessThan(waited / 2);
    replica.sql('SET GLOBAL read_only = 0');
    expect((await app.key.post('/users', aUser())).status).toBe(201);
    expect((await getReadiness()).status).toBe(200);
  });

  test('the service switches database servers if the current server freezes', async () => {
    expect(await readPort()).toBe(Number(new URL(replica.url).port));
    primary.sql('SET GLOBAL read_only = 0');
    await suspend(replica.pid);
    try {
      const answer = await app.key.get('/users/me');
      expect(answer.status).toBeLessThan(500);
      expect(await readPort()).toBe(Number(new URL(primary.url).port));
    } finally {
      process.kill(replica.pid, 'SIGCONT');
    }
  });

  test('the service uses the replica after a kill of the primary', async () => {
    const clients = startClients(8);
    await clients.waitFor(50);
    await primary.end('SIGKILL');
    await clients.waitFor(50);
    const answers = await clients.end();
    // A commit in transit may have been applied. Every other request was repeated on the other server.
    for (const { status, body } of answers)
      expect([201, 'outcome_unknown']).toContain(status === 201 ? 201 : body.code);
    expect(statusesOf(answers.slice(-20))).toEqual([201]);
    expect(await readPort()).toBe(Number(new URL(replica.url).port));
  });
});
