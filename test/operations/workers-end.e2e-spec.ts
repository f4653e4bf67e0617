import { beforeEach, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { API_KEY } from '../support/app/app.js';
import { Client } from '../support/app/client.js';
import { ENGINE, freshDatabase } from '../support/app/database.js';
import { drainUnderLoad } from '../support/app/drain.js';
import { Link } from '../support/process/link.js';
import { Process, newcomer, processDatabase, takenPort } from '../support/process/process.js';

/** How several workers start together, and how they end together. */
const database = processDatabase();

const onMariadb = ENGINE === 'mariadb' ? describe : describe.skip;
const onSqlite = ENGINE === 'sqlite' ? test : test.skip;
const settings = (more: Record<string, string> = {}) => ({
  ...newcomer(database),
  BOOTSTRAP_API_KEY: API_KEY,
  ...more,
});
const start = (more?: Record<string, string>) => Process.running(settings({ WORKERS: '2', ...more }));
/** Opens a new connection each time, as a connection stays with its worker. */
const ANEW = { connection: 'close' };
const PATH = '/api/0.3/status';

/** The ids of both workers, once both have answered something. */
async function pidsOf(service: Process): Promise<number[]> {
  const client = new Client(service.url, ANEW);
  while (service.answered(PATH).length < 2) {
    await Promise.all(Array.from({ length: 10 }, () => client.get('/status')));
  }
  return service.answered(PATH);
}

onSqlite('on SQLite several workers are refused, with the reason and the way out (SQLite only)', async () => {
  const refused = new Process('dist/main.js', settings({ WORKERS: '2' }));
  expect(await refused.exit).toEqual({ code: 1, signal: null });
  expect(refused.err).toMatch(/WORKERS must be 1 on SQLite.*DATABASE_URL/);
  expect(refused.out).toBe('');
});

onMariadb('two workers (need a server: MariaDB only)', () => {
  test.each<[string, () => Promise<[Record<string, string>, () => Promise<void>]>, RegExp]>([
    ['a setting that breaks its rule', async () => [{ PORT: 'x' }, async () => undefined], /PORT must be/],
    [
      'a port that is taken',
      async () => {
        const { port, release } = await takenPort();
        return [{ PORT: String(port) }, release];
      },
      /already in use 127\.0\.0\.1:\d+\n$/,
    ],
    [
      'a database that does not answer',
      async () => [{ DATABASE_URL: 'mysql://root@127.0.0.1:1/rollcall' }, async () => undefined],
      /127\.0\.0\.1:1\n$/,
    ],
    [
      'migrations that must not run by themselves',
      async () => [{ MIGRATE_ON_START: 'false' }, async () => undefined],
      /MIGRATE_ON_START=true\.\n$/,
    ],
  ])('%s stops the start with one line, from one process', async (_what, arrange, reason) => {
    const [wrong, undo] = await arrange();
    const [one, two] = await Promise.all(
      ['1', '2'].map(async (WORKERS) => {
        const run = new Process('dist/main.js', settings({ ...wrong, WORKERS }));
        return { exit: await run.exit, out: run.out, err: run.err };
      }),
    );
    await undo();
    expect(two?.err).toMatch(reason);
    expect(two).toEqual({ ...one, exit: { code: 1, signal: null }, out: '' });
  });

  describe('after a first start', () => {
    beforeEach(async () => {
      await database.drop();
      Object.assign(database, await freshDatabase('first-start'));
    });

    test('a worker that cannot restart logs the reason and is retried, while the other worker serves', async () => {
      const link = await Link.to(database.url);
      const service = await start({ DATABASE_URL: link.through(database.url) });
      const [pid = 0] = await pidsOf(service);
      await link.cut();
      process.kill(pid, 'SIGKILL');
      await service.says('An instance cannot start. ');
      expect((await new Client(service.url).raw('GET', '/health/live')).status).toBe(200);
      await link.mend();
      await service.says('"msg":"instance ready"');
      expect(await service.stop()).toEqual({ code: 0, signal: null });
      await link.cut();
    });

    test('a worker that dies while it starts is replaced, while the first worker serves', async () => {
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
      await service.says('An instance cannot start. An instance ended with SIGKILL.');
      await service.ready();
      await service.says('"msg":"instance ready"');
      expect(workers()).toEqual([first, expect.any(Number)]);
      expect(await pidsOf(service)).toHaveLength(2);
      expect(await service.stop()).toEqual({ code: 0, signal: null });
    });

    test('SIGTERM under load behind a balancer: each request is answered, each 201 is kept, exit 0', async () => {
      const service = await start({ SHUTDOWN_DELAY_SECONDS: '2' });
      const client = new Client(service.url, { 'x-api-key': API_KEY, ...ANEW });
      const { created, seen } = await drainUnderLoad(service, client);
      expect([seen.status, seen.headers['connection']]).toEqual([503, 'close']);
      expect(await service.exit).toEqual({ code: 0, signal: null });
      expect(service.answered('/api/0.3/users')).toHaveLength(2);
      expect(service.complaints).toBe('');
      const next = new Client((await start()).url, { 'x-api-key': API_KEY });
      expect((await next.get('/users/search')).body.Count).toBe(created + 1);
    });

    test('a worker that hangs is killed after the shutdown timeout', async () => {
      const service = await start({ REQUEST_TIMEOUT_SECONDS: '1' });
      const [pid = 0] = await pidsOf(service);
      process.kill(pid, 'SIGSTOP');
      expect(await service.stop()).toEqual({ code: 1, signal: null });
    });

    test('a second signal ends the service at once', async () => {
      const service = await start({ SHUTDOWN_DELAY_SECONDS: '300' });
      service.signal('SIGTERM');
      const again = setInterval(() => service.signal('SIGINT'), 200);
      const exit = await service.exit;
      clearInterval(again);
      expect(exit).toEqual({ code: 1, signal: null });
    });

    test('kill -9 of the primary under load ends the workers, without any output', async () => {
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
      // The workers share the standard output of the primary, which closes when the last worker ends.
      expect(await service.exit).toEqual({ code: null, signal: 'SIGKILL' });
      expect(service.complaints).toBe('');
    });
  });
});
