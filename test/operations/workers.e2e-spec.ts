import { beforeEach, describe, expect, test } from '@jest/globals';
import { API_KEY } from '../support/app/app.js';
import { Client } from '../support/app/client.js';
import { createDatabase, describeOnMariadb, onSqlite } from '../support/app/database.js';
import { aUser } from '../support/data/factories.js';
import { csv, awaitRun, upload } from '../support/app/imports.js';
import {
  Process,
  envOf,
  setUpDatabase,
  occupyPort,
  childrenOf,
  suspend,
} from '../support/process/process.js';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { drainUnderLoad } from '../support/app/drain.js';
import { Link } from '../support/process/link.js';

/** Several instances on one port, which a primary starts and ends, give the same responses. */
const database = setUpDatabase();

const settings = (more: Record<string, string> = {}) => ({
  ...envOf(database),
  ...{ WORKERS: '2', BOOTSTRAP_API_KEY: API_KEY },
  ...more,
});
const start = (more?: Record<string, string>) => Process.startService(settings(more));
/** Opens a new connection for each request, because a connection stays with its instance. */
const CLOSE = { connection: 'close' };
const clientOf = ({ url }: Process) => new Client(url, { 'x-api-key': API_KEY, ...CLOSE });
const count = (text: string, part: string) => text.split(part).length - 1;
const repeat = <T>(length: number, send: () => Promise<T>) => Promise.all(Array.from({ length }, send));

/** Sends requests until both instances have answered. @returns the number of requests */
async function waitForBoth(service: Process, path: string, send: () => Promise<unknown>) {
  let sent = 0;
  for (; service.findResponders(path).length < 2; sent += 20) await repeat(20, send);
  return sent;
}

/** Reads the value of a metric. */
async function readMetric(service: Process, line: string): Promise<number> {
  const { text } = await new Client(service.url, CLOSE).fetch('GET', '/metrics');
  const found = text.split('\n').find((candidate) => candidate.startsWith(`${line} `));
  return Number(found?.slice(line.length));
}

/** Kills an instance that has answered, and waits for its replacement. */
async function killOne(service: Process, path: string): Promise<number> {
  const [pid = 0] = service.findResponders(path);
  process.kill(pid, 'SIGKILL');
  await service.waitForOutput('"msg":"instance ready"');
  return pid;
}

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
  const refused = new Process('dist/main.js', settings());
  expect(await refused.exit).toEqual({ code: 1, signal: null });
  expect(refused.err).toMatch(/WORKERS must be 1 on SQLite.*DATABASE_URL/);
  expect(refused.out).toBe('');
});

describeOnMariadb('two instances (MariaDB only)', () => {
  test('two instances print the credentials only at the first start', async () => {
    const service = await start({ BOOTSTRAP_API_KEY: '' });
    const [, password = ''] = /^ *Password +(\S+)$/m.exec(service.err) ?? [];
    const login = await new Client(service.url).post('/sessions/login', { username: 'admin', password });
    const session = new Client(service.url, { cookie: login.cookie, ...CLOSE });
    await waitForBoth(service, '/api/0.3/users/me', async () => {
      expect((await session.get('/users/me')).status).toBe(200);
    });
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(service.unexpectedOutput).toBe('');
    for (const once of ['is running', 'Password ', 'API key ']) {
      expect([once, count(service.err, once)]).toEqual([once, 1]);
    }
    const next = await start({ BOOTSTRAP_API_KEY: '' });
    expect(count(next.err, 'is running')).toBe(1);
    expect(count(next.err, 'Password')).toBe(0);
  });

  test('two instances accept the bootstrap API key from their first response', async () => {
    const { port, release } = await occupyPort();
    await release();
    const service = new Process('dist/main.js', settings({ PORT: String(port) }));
    const client = new Client(`http://127.0.0.1:${port}`, { 'x-api-key': API_KEY, ...CLOSE });
    const first = await service.waitForResponse(() => client.get('/users/search'));
    expect({ status: first.status, Count: first.body.Count }).toEqual({ status: 200, Count: 1 });
  });

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

    test('both instances share the rate limit', async () => {
      const LIMIT = 30;
      const service = await start({ RATE_LIMIT_PER_MINUTE: String(LIMIT) });
      const client = clientOf(service);
      const statuses: number[] = [];
      await waitForBoth(service, '/api/0.3/users/search', async () => {
        statuses.push((await client.get('/users/search')).status);
      });
      for (const sent of await repeat(LIMIT, () => client.get('/users/search'))) statuses.push(sent.status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT);
      expect(statuses.filter((status) => status === 429)).toHaveLength(statuses.length - LIMIT);
    });

    test('metrics are the sum of both instances', async () => {
      const service = await start({ IMPORT_OVERDUE_HOURS: '1' });
      const path = '/api/0.3/status';
      const sent = await waitForBoth(service, path, () => new Client(service.url, CLOSE).get('/status'));
      const line = `http_request_duration_seconds_count{method="GET",route="${path}",status="200"}`;
      for (const value of await repeat(6, () => readMetric(service, line))) expect(value).toBe(sent);
      // A value that both instances read from the database is not summed.
      expect(await readMetric(service, 'rollcall_import_overdue')).toBe(1);
      await killOne(service, path);
      for (const value of await repeat(6, () => readMetric(service, line))) expect(value).toBe(sent);
    });

    test('both instances can send the events of an import', async () => {
      const service = await start();
      const client = clientOf(service);
      const rows = Array.from({ length: 2000 }, (_, i) => `W${i},w${i},w${i}@example.org`);
      const { id } = (await upload(client, csv('ExternalId,Username,Email', ...rows))).body;
      await waitForBoth(service, `/api/0.3/imports/${id as string}/events`, async () => {
        const { text } = await client.get(`/imports/${id as string}/events`);
        expect(text).toContain('"state":"completed"');
      });
      expect((await awaitRun(client, id)).counts).toMatchObject({ created: 2000 });
    });

    test('SIGKILL of one instance loses only its open requests', async () => {
      const service = await start();
      const client = clientOf(service);
      const path = '/api/0.3/users';
      let kept = 0;
      let lost = 0;
      let open = true;
      const load = async (): Promise<void> => {
        while (open) {
          const answer = await client.post('/users', aUser()).catch(() => undefined);
          if (answer) expect(answer.status).toBe(201);
          if (answer) kept++;
          else lost++;
        }
      };
      const killer = async (): Promise<void> => {
        while (service.findResponders(path).length < 2) await client.get('/status');
        const killed = await killOne(service, path);
        const before = service.findResponders(path).length;
        while (service.findResponders(path).length === before) await client.get('/status');
        expect(service.findResponders(path)).toContain(killed);
      };
      await Promise.all([killer().finally(() => (open = false)), ...Array.from({ length: 8 }, load)]);
      expect(lost).toBeLessThanOrEqual(8);
      const found = (await client.get('/users/search')).body.Count as number;
      expect(found).toBeGreaterThanOrEqual(kept + 1);
      expect(found).toBeLessThanOrEqual(kept + lost + 1);
      expect(service.out).toMatch(/"level":40.*"exit":"SIGKILL".*"msg":"instance ended"/);
      expect(await service.stop()).toEqual({ code: 0, signal: null });
      expect(service.unexpectedOutput).toBe('');
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
      const service = new Process('dist/main.js', settings());
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
