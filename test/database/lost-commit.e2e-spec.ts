import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { problemOf } from '../support/app/people.js';
import { type TestDatabase, createDatabase, describeOnMariadb } from '../support/app/database.js';
import { aUser } from '../support/data/factories.js';
import { Link } from '../support/process/link.js';
import { databaseOf } from '../support/app/people.js';

/** Breaks the database connection at critical moments. */

describeOnMariadb('on MariaDB', () => {
  let direct: TestDatabase;
  let link: Link;
  let app: TestApp;
  beforeAll(async () => {
    direct = await createDatabase();
    link = await Link.open(direct.url);
    app = await TestApp.startOn({ ...direct, url: link.rewriteUrl(direct.url) });
  });
  afterAll(async () => {
    await app.stop();
    await link.cut();
    await direct.drop();
  });
  const countUsers = async (username: unknown): Promise<number> =>
    (await app.key.get(`/users/search?username=${String(username)}`)).body.Count as number;

  const breakAtCommit = (body: Record<string, unknown>, arrives: boolean) => {
    link.breakAt('COMMIT', { arrives, after: String(body['username']) }); // other transactions commit too
  };

  test.each([
    ['applied', true, 1],
    ['not applied', false, 0],
  ])('POST returns outcome_unknown if the connection is lost at COMMIT (%s)', async (_, arrives, made) => {
    const body = aUser();
    breakAtCommit(body, arrives);
    const lost = await app.key.post('/users', body);
    expect(problemOf(lost)).toEqual([503, 'outcome_unknown']);
    expect(lost.headers['retry-after']).toBe('1');
    expect(await countUsers(body['username'])).toBe(made);
  });

  test.each([
    ['applied', true, 201],
    ['not applied', false, 503],
  ])('an idempotent retry succeeds after a lost connection at COMMIT (%s)', async (_, arrives, status) => {
    const body = aUser();
    const headers = { 'idempotency-key': `commit-${String(arrives)}` };
    breakAtCommit(body, arrives);
    // If the commit was applied, the service finds its response by the key.
    expect((await app.key.post('/users', body, headers)).status).toBe(status);
    expect((await app.key.post('/users', body, headers)).status).toBe(201);
    expect(await countUsers(body['username'])).toBe(1);
  });

  test.each(['START TRANSACTION', 'INSERT INTO users'])(
    'a POST creates one user after a lost connection at %s',
    async (sql) => {
      const body = aUser();
      link.breakAt(sql, { arrives: true });
      expect((await app.key.post('/users', body)).status).toBe(201);
      expect(await countUsers(body['username'])).toBe(1);
    },
  );

  test('a read is retried after the connection is lost', async () => {
    link.breakAt('SELECT 42', { arrives: true });
    expect(await databaseOf(app).queryOne('SELECT 42 AS answer')).toEqual({ answer: 42 });
  });

  test.each([
    ['applied', true],
    ['not applied', false],
  ])('a connection lost at INSERT leaves the outcome unknown (%s)', async (_, arrives) => {
    const database = databaseOf(app);
    const before = await database.queryOne<{ failures: number }>(
      'SELECT COUNT(*) AS failures FROM login_failures',
    );
    const row = `('${String(arrives)}', 1, '2030-01-01 00:00:00.000')`;
    link.breakAt('INSERT INTO login_failures', { arrives });
    const change = database.execute(
      `INSERT INTO login_failures (scope, failures, window_ends) VALUES ${row}`,
    );
    await expect(change).rejects.toMatchObject({ fault: 'unknown', code: 'outcome_unknown' });
    const after = await database.queryOne<{ failures: number }>(
      'SELECT COUNT(*) AS failures FROM login_failures',
    );
    expect((after?.failures ?? 0) - (before?.failures ?? 0)).toBe(Number(arrives));
  });

  test('requests succeed after idle database connections are lost', async () => {
    const database = databaseOf(app);
    await Promise.all(Array.from({ length: 8 }, () => database.query('SELECT SLEEP(0.01) AS slept')));
    const own = await database.query<{ id: number }>(
      'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
    );
    expect(own.length).toBeGreaterThan(3);
    for (const { id } of own) await database.query(`KILL ${id}`).catch(() => undefined);
    const answers = await Promise.all(Array.from({ length: 20 }, () => app.key.post('/users', aUser())));
    expect([...new Set(answers.map(({ status }) => status))]).toEqual([201]);
  });
});
