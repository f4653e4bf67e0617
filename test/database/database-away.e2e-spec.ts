import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { listAllTables } from '../../src/platform/database/engine/sql.js';
import { ADMIN_PASSWORD, TestApp, setUpApp } from '../support/app/app.js';
import type { Answer, Client } from '../support/app/client.js';
import {
  type TestDatabase,
  runAsAdministrator,
  createDatabase,
  describeOnMariadb,
  describeOnSqlite,
} from '../support/app/database.js';
import { aUser } from '../support/data/factories.js';
import { csv, upload } from '../support/app/imports.js';
import { damageTable } from '../support/app/damage.js';
import { Link } from '../support/process/link.js';
import { databaseOf } from '../support/app/people.js';

/** Builds one request of every kind: status, search, read, create, login and logout. */
function buildRequests(app: TestApp, session: Client): [string, () => Promise<Answer>][] {
  return [
    ['GET /status', () => app.guest.get('/status')],
    ['GET /users/search with a key', () => app.key.get('/users/search')],
    ['GET /users/me with a session', () => session.get('/users/me')],
    ['POST /users', () => app.key.post('/users', aUser())],
    [
      'POST /sessions/login',
      () => app.guest.post('/sessions/login', { username: 'admin', password: ADMIN_PASSWORD }),
    ],
    ['POST /sessions/logout', () => session.send('POST', '/sessions/logout')],
  ];
}

function expectUnavailable(where: string, answer: Answer): void {
  expect([where, answer.status, answer.body?.code]).toEqual([where, 503, 'unavailable']);
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(answer.text).not.toMatch(/ECONN|127\.0\.0\.1|sqlite|mysql|mariadb|pool/i);
}

const getReadiness = (app: TestApp) => app.guest.fetch('GET', '/health/ready');
async function expectNotReady(app: TestApp, reason: string): Promise<void> {
  const { status, body } = await getReadiness(app);
  expect([status, body.detail]).toEqual([503, expect.stringContaining(`Not ready: ${reason}`)]);
}

describeOnMariadb('on MariaDB', () => {
  let direct: TestDatabase;
  let link: Link;
  let app: TestApp;
  let session: Client;
  beforeAll(async () => {
    direct = await createDatabase();
    link = await Link.open(direct.url);
    app = await TestApp.startOn({ ...direct, url: link.rewriteUrl(direct.url) });
    session = await app.login();
  });
  afterAll(async () => {
    await app.stop();
    await link.cut();
    await direct.drop();
  });

  test('a query to a hanging database server ends after 15 seconds', async () => {
    const database = databaseOf(app);
    const tx = await database.begin();
    await tx.query('SET SESSION max_statement_time = 0'); // a hanging server does not enforce its own limit
    await expect(tx.query('SELECT SLEEP(?) AS slept', [60])).rejects.toMatchObject({
      fault: 'moved',
      cause: { code: 'PROTOCOL_SEQUENCE_TIMEOUT' },
    });
    await tx.rollback();
    expect(await database.queryOne('SELECT 1 AS one')).toEqual({ one: 1 });
    // The import worker also uses connections. A connection that is not returned would stay in use forever.
    while (database.usage.inUse + database.usage.waiting > 0) await setImmediate();
  });

  test('requests return 503 only while the database server is unreachable', async () => {
    await link.cut();
    for (const [where, send] of buildRequests(app, session)) expectUnavailable(where, await send());
    await link.restore();
    for (const [where, send] of buildRequests(app, session)) {
      const { status } = await send();
      expect([where, status]).toEqual([where, status < 300 ? status : 200]);
    }
  });
});

/** Ways to take access away from the database user `:user`, as SQL. Afterwards `give` and a GRANT restore the access. */
const TAKEN: [what: string, take: string, give?: string][] = [
  ['without privileges', 'REVOKE ALL ON :db.* FROM :user'],
  ['with only the privilege SELECT', 'REVOKE ALL ON :db.* FROM :user; GRANT SELECT ON :db.* TO :user'],
  ['without the privilege SELECT', 'REVOKE SELECT ON :db.* FROM :user'],
  ['without the privilege INSERT', 'REVOKE INSERT ON :db.* FROM :user'],
  ['without the privilege UPDATE', 'REVOKE UPDATE ON :db.* FROM :user'],
  ['without the privilege DELETE', 'REVOKE DELETE ON :db.* FROM :user'],
  [
    'who may update only one column of a table',
    `${listAllTables()
      .map(({ name }) => `GRANT ALL ON :db.${name} TO :user;`)
      .join('')}
     REVOKE ALL ON :db.* FROM :user; REVOKE UPDATE ON :db.users FROM :user; GRANT UPDATE (uuid) ON :db.users TO :user`,
  ],
  ['with another password', "ALTER USER :user IDENTIFIED BY 'new'", "ALTER USER :user IDENTIFIED BY ''"],
  ['with an expired password', 'ALTER USER :user PASSWORD EXPIRE', "ALTER USER :user IDENTIFIED BY ''"],
  ['with a locked account', 'ALTER USER :user ACCOUNT LOCK', 'ALTER USER :user ACCOUNT UNLOCK'],
  ['who was dropped', 'DROP USER :user', 'CREATE USER :user'],
  [
    'with a statement limit',
    'ALTER USER :user WITH MAX_QUERIES_PER_HOUR 1',
    'ALTER USER :user WITH MAX_QUERIES_PER_HOUR 0; FLUSH USER_RESOURCES',
  ],
];

describeOnMariadb.each([1, 2])('with %d MariaDB hosts', (hosts) => {
  let direct: TestDatabase;
  let app: TestApp;
  const runSql = (sql: string) =>
    runAsAdministrator(
      sql.replaceAll(':db', new URL(direct.url).pathname.slice(1)).replaceAll(':user', "limited@'%'"),
    );
  // KILL also ends the connection that checks the server. Up to a second later this breaks a statement in flight.
  const logIn = (): Promise<Client> => app.login().catch(logIn);
  beforeAll(async () => {
    direct = await createDatabase();
    await runSql('CREATE USER :user; GRANT ALL ON :db.* TO :user');
    const { host, pathname } = new URL(direct.url);
    const url = `mariadb://limited@${Array(hosts).fill(host).join()}${pathname}`;
    app = await TestApp.startOn({ ...direct, url });
  });
  afterAll(async () => {
    await app.stop();
    await runSql('DROP USER :user');
    await direct.drop();
  });

  test.each(TAKEN)('requests get 503 for a database user %s until a GRANT', async (_, take, give = '') => {
    const session = await logIn();
    await runSql(`${take}; KILL USER limited`);
    for (const [where, send] of buildRequests(app, session)) {
      const answer = await send();
      if (answer.status >= 300 && answer.body.code !== 'outcome_unknown') expectUnavailable(where, answer);
    }
    await expectNotReady(app, 'database refuses the password or a privilege');
    await runSql(`${give}; GRANT ALL ON :db.* TO :user`.replace(/^; /, ''));
    const isBack = async () => {
      for (const [, send] of buildRequests(app, session)) if ((await send()).status === 503) return false;
      return (await getReadiness(app)).status === 200;
    };
    while (!(await isBack())) await delay(50);
  });
});

test('a request that reads a damaged table returns 503, and readiness names the damage', async () => {
  const damaged = await createDatabase('first-start');
  await damageTable(damaged, 'import_profiles');
  const broken = await TestApp.startOn(damaged);
  try {
    expectUnavailable('GET /import_profiles', await broken.key.get('/import_profiles'));
    expect((await broken.key.post('/users', aUser())).status).toBe(201);
    await expectNotReady(broken, 'database is damaged (run "rollcall doctor", then restore a backup');
  } finally {
    await broken.end();
  }
});

describeOnSqlite('on SQLite', () => {
  const app = setUpApp();

  test('an upload to a full disk returns 503', async () => {
    const database = databaseOf(app);
    const listParts = () => database.query('SELECT part FROM import_file_parts');
    const sizes = await database.query<{ page_count: number }>('PRAGMA page_count');
    await database.query(`PRAGMA max_page_count = ${(sizes[0]?.page_count ?? 0) + 10}`);
    const file = csv('ExternalId', 'x'.repeat(400 * 1024));
    expectUnavailable('POST /imports', await upload(app.key, file));
    expect(await listParts()).toEqual([]);
    await expectNotReady(app, 'database has no free disk space');
    await database.query('PRAGMA max_page_count = 1000000');
    expect((await getReadiness(app)).status).toBe(200);
    expect((await upload(app.key, file)).status).toBe(202);
  });

  test.each([
    [13, 'database has no free disk space'],
    [10, 'database cannot read or write its disk'],
    [8, 'database is read-only'],
  ])(
    'a failed COMMIT with SQLite error %d makes the service not ready until a write succeeds',
    async (errcode, reason) => {
      const exec = Reflect.get<DatabaseSync, 'exec'>(DatabaseSync.prototype, 'exec');
      const failing = jest.spyOn(DatabaseSync.prototype, 'exec');
      failing.mockImplementation(function (this: DatabaseSync, sql) {
        if (sql === 'COMMIT') throw Object.assign(new Error('failed'), { errcode });
        exec.call(this, sql);
      });
      try {
        expectUnavailable('POST /users', await app.key.post('/users', aUser()));
        await expectNotReady(app, reason);
      } finally {
        failing.mockRestore();
      }
      expect((await getReadiness(app)).status).toBe(200);
    },
  );
});
