import { describe, expect, test } from '@jest/globals';
import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { openServiceSocket, getSocketPath } from '../../src/operations/start/private-socket.js';
import { createDraftPath } from '../../src/platform/common/draft-file.js';
import { Env, loadEnv } from '../../src/platform/config/env.js';
import { API_KEY, BASE_URL, setUpApp } from '../support/app/app.js';
import { ENGINE, onMariadb } from '../support/app/database.js';
import { csv, writeFile } from '../support/app/imports.js';
import { databaseOf, problemOf } from '../support/app/people.js';
import { create } from '../support/data/factories.js';
import { runCommand } from '../support/process/command.js';
import { Process, envOf, setUpDatabase } from '../support/process/process.js';

/** The Unix socket on which commands call the running service that has the same settings. */
const FIND = ['users', 'find', '--json'];
const SEARCH = '/api/0.3/users/search';
const LOGGED = `"path":"${SEARCH}"`;

describe('the private socket', () => {
  const app = setUpApp({ RATE_LIMIT_PER_MINUTE: '9' });
  const isAnswered = async (): Promise<boolean> =>
    (await app.guest.fetch('GET', '/metrics')).text.includes(`route="${SEARCH}"`);

  test('gives commands the same output as without a service', async () => {
    const { uuid } = await create(app.key, { external_id: 'S-1' });
    const columns = { Nr: 'ExternalId', Name: 'Username', Mail: 'Email' };
    const profile = writeFile(app.database, 'payroll.json', JSON.stringify({ columns }));
    const file = writeFile(app.database, "it's.csv", csv('Nr,Name,Mail', 'S-9,nine,nine@example.org'));
    const commands = [
      ['users', 'block', uuid, '--reason', 'left'],
      ['users', 'reactivate', uuid, '--json'],
      ['users', 'block', 'nobody-at-all'],
      ['users', 'export', '--all'],
      ['keys', 'revoke', uuid],
      ['import', file, '--profile', profile, '--preview'],
      ['import', file, '--profile', profile, '--dry-run'],
      ['import', file, '--profile', writeFile(app.database, 'bad.json', '{"columns": {"Nr": "Nothing"}}')],
      ...Array<string[]>(4).fill(['users', 'show', 'S-1']),
    ];
    const run = async () => {
      const results = [];
      for (const command of commands) results.push(await runCommand(app.database, command, { BASE_URL }));
      const audit = await databaseOf(app).query(
        'SELECT action, actor_kind, actor_id, request_id, ip, changes FROM audit_events WHERE target_id = ? ORDER BY id DESC LIMIT 2',
        [uuid],
      );
      const variable = /[0-9a-f-]{36}|\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\w+ …\\n/g;
      return { audit, results: JSON.stringify(results).replace(variable, '') };
    };
    const alone = await run();
    expect(await isAnswered()).toBe(false);
    await openServiceSocket(app.app, app.app.get(Env));
    expect(await run()).toEqual(alone);
    expect(await isAnswered()).toBe(true);
    const ip = `unix:${process.env['SUDO_USER'] ?? userInfo().username}`;
    const caller = { actor_kind: 'system', actor_id: null, request_id: 'cli', ip };
    expect(alone.audit).toMatchObject([
      { action: 'user.reactivated', ...caller },
      { action: 'user.blocked', ...caller, changes: expect.stringContaining('left') },
    ]);
  });

  test('and the database are files that only their owner can access', () => {
    const env = app.app.get(Env);
    const names = readdirSync(app.database.folder).filter((name) => /\.sqlite(-wal|-shm)?$/.test(name));
    expect(names.length > 0).toBe(ENGINE === 'sqlite');
    for (const path of [getSocketPath(env), ...names.map((name) => join(app.database.folder, name))])
      expect([path, statSync(path).mode & 0o777]).toEqual([path, 0o600]);
    const { DATA_DIR } = env;
    const other = loadEnv({ DATA_DIR, DATABASE_URL: 'mysql://u:p@127.0.0.1:1/other' });
    expect(getSocketPath(other)).not.toBe(getSocketPath(env));
  });

  test('grants no rights to TCP clients with forged headers', async () => {
    const headers = { 'x-local-user': 'root', 'x-request-id': 'cli', 'x-forwarded-for': 'unix:root' };
    expect(problemOf(await app.guest.get('/users/search', headers))).toEqual([401, 'unauthenticated']);
  });

  test('ignores an invalid API key and an invalid user name', async () => {
    const headers = { 'x-api-key': 'wrong', 'x-local-user': 'not a name' };
    const socket = { socketPath: getSocketPath(app.app.get(Env)), path: SEARCH, headers };
    const answer = await new Promise((resolve, reject) => {
      const sent = request(socket, (response) => {
        resolve([response.statusCode, response.headers.connection]);
        response.resume();
      });
      sent.on('error', reject).end();
    });
    expect(answer).toEqual([200, 'close']);
  });
});

describe('a private socket', () => {
  const database = setUpDatabase('first-start');
  const settings = () => ({ ...envOf(database), BOOTSTRAP_API_KEY: API_KEY });
  const findUsers = () => runCommand(database, FIND, settings());

  test('is replaced after a crash', async () => {
    const path = getSocketPath(loadEnv(settings()));
    const crashed = await Process.startService(settings());
    expect((await findUsers()).code).toBe(0);
    await crashed.waitForOutput(LOGGED);
    crashed.signal('SIGKILL');
    await crashed.exit;
    expect(existsSync(path)).toBe(true);
    writeFileSync(createDraftPath(database.folder).replace(`${process.pid}`, `${crashed.pid}`), '');
    expect((await findUsers()).code).toBe(0);
    const next = await Process.startService(settings());
    expect((await findUsers()).code).toBe(0);
    await next.waitForOutput(LOGGED);
    if (ENGINE === 'mariadb') {
      const another = await Process.startService(settings());
      await another.stop();
      expect(another.out).not.toContain(LOGGED);
    }
    expect(existsSync(path)).toBe(true);
    expect(await next.stop()).toEqual({ code: 0, signal: null });
    expect(readdirSync(database.folder).filter((name) => /\.(sock|part)$/.test(name))).toEqual([]);
  });

  test('uses the temporary folder if its path is too long', async () => {
    const paths = { DATA_DIR: join(database.folder, 'x'.repeat(80)), TMPDIR: database.folder };
    const long = { ...settings(), DATABASE_URL: database.url, ...paths };
    const search = () => Process.startCommand(FIND, long).exit;
    const service = await Process.startService(long);
    const [name = ''] = readdirSync(database.folder).filter((file) => /^rollcall-[0-9a-f]{12}$/.test(file));
    const folder = join(database.folder, name);
    const modes = [folder, join(folder, 'rollcall.sock')].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
    expect((await search()).code).toBe(0);
    await service.waitForOutput(LOGGED);
    chmodSync(folder, 0o755);
    // On SQLite, the command cannot use the database itself while the service does.
    expect((await search()).code).toBe(ENGINE === 'sqlite' ? 2 : 0);
    await service.stop();
    expect(service.out.split(LOGGED)).toHaveLength(2);
    expect((await Process.startService(long)).out).toMatch(/"msg":"private socket unavailable"/);
  });

  test('is not needed by two concurrent commands', async () => {
    const created = ['one', 'two'].map(
      (name) => Process.startCommand(['keys', 'create', name], settings()).exit,
    );
    expect(await Promise.all(created)).toMatchObject([{ code: 0 }, { code: 0 }]);
  });

  onMariadb('is served by the other instance after one instance is killed (MariaDB only)', async () => {
    const service = await Process.startService({ ...settings(), WORKERS: '2' });
    expect((await findUsers()).code).toBe(0);
    await service.waitForOutput(LOGGED);
    const [worker = 0] = service.findResponders(SEARCH);
    process.kill(worker, 'SIGKILL');
    await service.waitForOutput('"msg":"instance ready"');
    expect((await findUsers()).code).toBe(0);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(service.findResponders(SEARCH)).toHaveLength(2);
  });
});
