import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { DATABASE, type Database } from '../../src/platform/database/engine/database.js';
import { ADMIN_PASSWORD, TestApp } from '../support/app/app.js';
import type { Answer, Client } from '../support/app/client.js';
import { ENGINE, type TestDatabase, runAsAdministrator, createDatabase } from '../support/app/database.js';
import { aUser } from '../support/data/factories.js';
import { csv, upload } from '../support/app/imports.js';
import { Link } from '../support/process/link.js';

jest.setTimeout(60_000);

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

const onMariadb = ENGINE === 'mariadb' ? describe : describe.skip;
const onSqlite = ENGINE === 'sqlite' ? describe : describe.skip;

onMariadb('on MariaDB', () => {
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
    const database = app.app.get<Database>(DATABASE);
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

onMariadb('on MariaDB without permissions', () => {
  const USER = `limited@'%'`;
  let direct: TestDatabase;
  let app: TestApp;
  let name: string;
  beforeAll(async () => {
    direct = await createDatabase();
    name = new URL(direct.url).pathname.slice(1);
    await runAsAdministrator(`CREATE USER ${USER}; GRANT ALL ON ${name}.* TO ${USER}`);
    app = await TestApp.startOn({
      ...direct,
      url: Object.assign(new URL(direct.url), { username: 'limited' }).href,
    });
  });
  afterAll(async () => {
    await app.stop();
    await runAsAdministrator(`DROP USER ${USER}`);
    await direct.drop();
  });

  test.each([
    ['a database user without rights', ''],
    ['a database user with only the right SELECT', `; GRANT SELECT ON NAME.* TO ${USER}`],
  ])('POST /users with %s returns 503 until a GRANT', async (_, left) => {
    await runAsAdministrator(
      `REVOKE ALL ON ${name}.* FROM ${USER}${left.replace('NAME', name)}; KILL USER limited`,
    );
    expectUnavailable('POST /users', await app.key.post('/users', aUser()));
    await runAsAdministrator(`GRANT ALL ON ${name}.* TO ${USER}`);
    const granted = Date.now();
    while ((await app.key.post('/users', aUser())).status !== 201) await delay(50);
    expect(Date.now() - granted).toBeLessThan(2000);
  });
});

onSqlite('on SQLite', () => {
  let app: TestApp;
  beforeAll(async () => void (app = await TestApp.start()));
  afterAll(() => app.end());

  test('an upload to a full disk returns 503', async () => {
    const database = app.app.get<Database>(DATABASE);
    const listParts = () => database.query('SELECT part FROM import_file_parts');
    const sizes = await database.query<{ page_count: number }>('PRAGMA page_count');
    await database.query(`PRAGMA max_page_count = ${(sizes[0]?.page_count ?? 0) + 50}`);
    const file = csv('ExternalId', 'x'.repeat(400 * 1024));
    expectUnavailable('POST /imports', await upload(app.key, file));
    expect(await listParts()).toEqual([]);
    await database.query('PRAGMA max_page_count = 1000000');
    expect((await upload(app.key, file)).status).toBe(202);
  });
});
