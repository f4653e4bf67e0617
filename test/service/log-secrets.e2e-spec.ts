import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, type Json } from '../support/app/client.js';
import { TestApp } from '../support/app/app.js';
import { ENGINE, type TestDatabase, freshDatabase } from '../support/app/database.js';
import { DATABASE, type Database } from '../../src/database/engine/database.js';
import { type Exit, Process } from '../support/process/process.js';

/** Every planted secret contains this word. */
const SECRET = 'hunter2';
const KEY = `${SECRET}-bootstrap-9fK2mWq7Xr4Zt8Lc3Vb6Np1S`;
const PASSWORD = `${SECRET} bootstrap garden fence`;

describe('the log of a service that is used in every way', () => {
  let database: TestDatabase;
  let exit: Exit;
  let output: string;
  let lines: Json[];
  const ids: Record<string, string> = {};
  let cookie: string;

  beforeAll(async () => {
    database = await freshDatabase();
    const settings = {
      DATABASE_URL: database.url,
      DATA_DIR: database.folder,
      MIGRATE_ON_START: 'true',
      BOOTSTRAP_API_KEY: KEY,
      BOOTSTRAP_WEBMASTER_PASSWORD: PASSWORD,
      LOG_LEVEL: 'trace',
    };
    // A table is gone: requests that need it fail with an error of the database's driver.
    const app = await TestApp.on(database, settings);
    const direct = app.app.get<Database>(DATABASE);
    await direct.execute('ALTER TABLE user_words RENAME TO user_words_gone');
    if (ENGINE === 'mariadb') {
      // A server quotes the value that does not fit.
      await direct.execute("UPDATE users SET firstname_sort = '0'");
      await direct.execute('ALTER TABLE users MODIFY firstname_sort INT NOT NULL');
    }
    await app.stop();

    const service = await Process.running({ PORT: '0', ...settings });
    const { url } = service;
    const key = new Client(url, { 'x-api-key': KEY });
    const nobody = new Client(url);
    const record = async (
      name: string,
      answer: Promise<{ headers: Record<string, string | undefined>; status: number }>,
    ) => {
      const { headers, status } = await answer;
      ids[`${name} ${status}`] = headers['x-request-id'] ?? '';
    };
    const login = await nobody.post('/sessions/login', { username: 'admin', password: PASSWORD });
    cookie = login.cookie.split('=')[1] ?? '';
    const session = nobody.with({ cookie: login.cookie });
    const body = {
      username: `${SECRET}-name`,
      email: `${SECRET}@example.org`,
      password: `${SECRET} of the garden fence`,
      phone: SECRET,
      firstname: SECRET,
    };
    await record('good', session.get('/users/me'));
    await record('query', key.get(`/users/search?username=${SECRET}&email=${SECRET}%40example.org`));
    await record('bad query', key.get(`/users/search?${SECRET}=1&limit=${SECRET}`));
    await record('bad key', nobody.get('/users/me', { 'x-api-key': `${SECRET}-wrong-key` }));
    await record('bad cookie', nobody.get('/users/me', { cookie: `rollcall_session=${SECRET}` }));
    await record(
      'other headers',
      key.get('/users/search', {
        authorization: `Bearer ${SECRET}`,
        referer: `http://x/?${SECRET}`,
        'x-request-id': `${SECRET} ?`,
      }),
    );
    await record(
      'bad login',
      nobody.post('/sessions/login', { username: SECRET, password: `wrong ${SECRET}` }),
    );
    await record('malformed', key.send('POST', '/users', `{"password":"${SECRET}"`));
    await record('invalid', key.post('/users', { ...body, email: SECRET, [SECRET]: SECRET }));
    await record('fault in a write', key.post('/users', body));
    await record('fault in a read', key.get(`/users/search?fulltext_search=${SECRET}`));
    await record('idempotent fault', key.post('/users', body, { 'idempotency-key': SECRET }));
    const elsewhere = { origin: 'https://elsewhere.example' };
    await record('other site', session.send('POST', '/sessions/logout', undefined, elsewhere));
    await record('logout', session.send('POST', '/sessions/logout'));
    exit = await service.stop();
    output = service.printed;
    lines = output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line): Json => JSON.parse(line));
  }, 60_000);
  afterAll(async () => {
    await Process.killAll();
    await database.drop();
  });

  test('ends with the exit code 0 when the service is asked to end', () => {
    expect(exit).toEqual({ code: 0, signal: null });
  });

  test('has one line for every request, with its id, method, path and status', () => {
    expect(Object.keys(ids)).toEqual([
      'good 200',
      'query 200',
      'bad query 400',
      'bad key 401',
      'bad cookie 401',
      'other headers 200',
      'bad login 401',
      'malformed 400',
      'invalid 422',
      'fault in a write 500',
      'fault in a read 500',
      'idempotent fault 500',
      'other site 403',
      'logout 200',
    ]);
    for (const [name, id] of Object.entries(ids)) {
      const own = lines.filter((line) => line.request_id === id && line.msg === 'request');
      expect(own).toEqual([
        expect.objectContaining({
          status: Number(name.slice(-3)),
          path: expect.stringMatching(/^\/api\/0\.3\/[a-z/]+$/),
        }),
      ]);
    }
  });

  test('has the address of every request, and who sent it where that is known', () => {
    const senderOf = (name: string) => {
      const line = lines.find(({ request_id, msg }) => request_id === ids[name] && msg === 'request');
      return [line?.ip, line?.actor_kind, line?.actor_id];
    };
    for (const name of ['bad key 401', 'bad cookie 401', 'bad login 401'])
      expect([name, ...senderOf(name)]).toEqual([name, '127.0.0.1', undefined, undefined]);
    const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
    for (const name of ['good 200', 'other site 403', 'logout 200'])
      expect([name, ...senderOf(name)]).toEqual([name, '127.0.0.1', 'user', uuid]);
    for (const name of ['query 200', 'bad query 400', 'malformed 400', 'invalid 422', 'fault in a write 500'])
      expect([name, ...senderOf(name)]).toEqual([name, '127.0.0.1', 'key', uuid]);
  });

  test('has the stack of every internal error', () => {
    const faults = lines.filter((line) => line.msg === 'fault');
    const expected = Object.entries(ids).flatMap(([name, id]) => (name.endsWith('500') ? [id] : []));
    expect(faults.map((line) => line.request_id)).toEqual(expected);
    for (const { code, stack } of faults) {
      expect(code).toBe('internal');
      expect(stack.join('\n')).toMatch(/\.[jt]s:\d+:\d+/);
    }
  });

  test('never has a password, key, cookie, query value or body value', () => {
    expect(output).toMatch(/^Rollcall \d+\.\d+\.\d+ is running\.$/m);
    const leaks = output.split('\n').filter((line) => line.toLowerCase().includes(SECRET));
    expect(leaks).toEqual([]);
    expect(cookie).toHaveLength(43);
    expect(output).not.toContain(cookie);
  });
});
