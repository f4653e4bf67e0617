import { beforeEach, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { API_KEY } from '../support/app/app.js';
import { Client } from '../support/app/client.js';
import { ENGINE, createDatabase } from '../support/app/database.js';
import { drainUnderLoad } from '../support/app/drain.js';
import { Link } from '../support/process/link.js';
import {
  Process,
  childrenOf,
  envOf,
  setUpDatabase,
  occupyPort,
  suspend,
} from '../support/process/process.js';

/** Start and end of several instances under one primary. */
const database = setUpDatabase();

const onMariadb = ENGINE === 'mariadb' ? describe : describe.skip;
const onSqlite = ENGINE === 'sqlite' ? test : test.skip;
const BOOTSTRAP = { BOOTSTRAP_API_KEY: API_KEY };
const settings = (more: Record<string, string> = {}) => ({ ...envOf(database), ...BOOTSTRAP, ...more });
const start = (more?: Record<string, string>) => Process.startService(settings({ WORKERS: '2', ...more }));
/** Opens a new connection for each request, because a connection stays with its instance. */
const CLOSE = { connection: 'close' };
const PATH = '/api/0.3/status';
const UNMIGRATED = { MIGRATE_ON_START: 'false' };
const UNREACHABLE = 'mysql://root@127.0.0.1:1/rollcall';

/** Sends requests until both instances have answered, and returns their process ids. */
async function waitForPids(service: Process): Promise<number[]> {
  const client = new Client(service.url, CLOSE);
  while (service.findResponders(PATH).length < 2) {
    await Promise.all(Array.from({ length: 10 }, () => client.get('/status')));
  }
  return service.findResponders(PATH);
}

onSqlite('WORKERS=2 is rejected on SQLite with the reason and a solution (SQLite only)', async () => {
  const refused = new Process('dist/main.js', settings({ WORKERS: '2' }));
  expect(await refused.exit).toEqual({ code: 1, signal: null });
  expect(refused.err).toMatch(/WORKERS must be 1 on SQLite.*DATABASE_URL/);
  expect(refused.out).toBe('');
});

onMariadb('two instances (MariaDB only)', () => {
  test.each<[string, (taken: string) => Record<string, string>, RegExp]>([
    ['an invalid setting', () => ({ PORT: 'x' }), /PORT must be/],
    ['a port in use', (PORT) => ({ PORT }), /already in use 127\.0\.0\.1:\d+\n$/],
    ['an unreachable database', () => ({ DATABASE_URL: UNREACHABLE }), /127\.0\.0\.1:1\n$/],
    ['pending migrations with MIGRATE_ON_START=false', () => UNMIGRATED, /MIGRATE_ON_START=true\.\n$/],
  ])('with %s, two instances fail in the same way as one instance', async (_what, build, reason) => {
    const { port, release } = await occupyPort();
    const wrong = build(String(port));
    const [one, two] = await Promise.all(
      ['1', '2'].map(async (WORKERS) => {
        const run = new Process('dist/main.js', settings({ ...wrong, WORKERS }));
        return { exit: await run.exit, out: run.out, err: run.err };
      }),
    );
    await release();
    expect(two?.err).toMatch(reason);
    expect(two).toEqual({ ...one, exit: { code: 1, signal: null }, out: '' });
  });

  describe('with two instances', () => {
    beforeEach(async () => {
      await database.drop();
      Object.assign(database, await createDatabase('first-start'));
    });

    test('a failed restart of an instance is retried', async () => {
      const link = await Link.open(database.url);
      const service = await start({ DATABASE_URL: link.rewriteUrl(database.url) });
      const [pid = 0] = await waitForPids(service);
      await link.cut();
      process.kill(pid, 'SIGKILL');
      await service.waitForOutput('An instance cannot start. ');
      expect((await new Client(service.url).fetch('GET', '/health/live')).status).toBe(200);
      await link.restore();
      await service.waitForOutput('"msg":"instance ready"');
      expect(await service.stop()).toEqual({ code: 0, signal: null });
      await link.cut();
    });

    test('an instance killed during its start is replaced', async () => {
      const service = new Process('dist/main.js', settings({ WORKERS: '2' }));
      const workers = (): number[] => {
        const found = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8');
        return found.trim().split(' ').filter(Boolean).map(Number);
      };
      let [first, second] = workers();
      while (second === undefined) {
        await delay(1);
        [first, second] = workers();
      }
      process.kill(second, 'SIGKILL');
      await service.waitForOutput('An instance cannot start. An instance ended with SIGKILL.');
      await service.waitUntilReady();
      await service.waitForOutput('"msg":"instance ready"');
      expect(workers()).toEqual([first, expect.any(Number)]);
      expect(await waitForPids(service)).toHaveLength(2);
      expect(await service.stop()).toEqual({ code: 0, signal: null });
    });

    test('SIGTERM under load loses no created user', async () => {
      const service = await start({ SHUTDOWN_DELAY_SECONDS: '2' });
      const client = new Client(service.url, { 'x-api-key': API_KEY, ...CLOSE });
      const { created, seen } = await drainUnderLoad(service, client);
      expect([seen.status, seen.headers['connection']]).toEqual([503, 'close']);
      expect(await service.exit).toEqual({ code: 0, signal: null });
      expect(service.findResponders('/api/0.3/users')).toHaveLength(2);
      expect(service.unexpectedOutput).toBe('');
      const next = new Client((await start()).url, { 'x-api-key': API_KEY });
      expect((await next.get('/users/search')).body.Count).toBe(created + 1);
    });

    test('SIGHUP to every process ends the service with exit code 0', async () => {
      const service = await start({ LOG_LEVEL: 'warn' });
      const pids = [...childrenOf(service.pid), service.pid];
      for (const signal of ['SIGUSR1', 'SIGHUP'] as const) for (const pid of pids) process.kill(pid, signal);
      expect(await service.exit).toEqual({ code: 0, signal: null });
      expect([service.out, service.unexpectedOutput]).toEqual(['', '']);
    });

    test('a hanging instance is killed after the shutdown timeout', async () => {
      const service = await start({ REQUEST_TIMEOUT_SECONDS: '1' });
      const [pid = 0] = await waitForPids(service);
      await suspend(pid);
      expect(await service.stop()).toEqual({ code: 1, signal: null });
    });

    test('a second signal ends the service immediately', async () => {
      const service = await start({ SHUTDOWN_DELAY_SECONDS: '300' });
      service.signal('SIGTERM');
      const again = setInterval(() => service.signal('SIGINT'), 200);
      const exit = await service.exit;
      clearInterval(again);
      expect(exit).toEqual({ code: 1, signal: null });
    });

    test('killing the primary also ends the instances, without output', async () => {
      const service = await start({ RATE_LIMIT_PER_MINUTE: '1000000' });
      const client = new Client(service.url, { 'x-api-key': API_KEY });
      let answered = 0;
      const load = async (): Promise<void> => {
        for (;;) {
          if (!(await client.get('/users/search').catch(() => undefined))) return;
          if (++answered === 100) service.signal('SIGKILL');
        }
      };
      await Promise.all(Array.from({ length: 8 }, load));
      // The instances share the standard output of the primary, which closes when the last instance ends.
      expect(await service.exit).toEqual({ code: null, signal: 'SIGKILL' });
      expect(service.unexpectedOutput).toBe('');
    });
  });
});
