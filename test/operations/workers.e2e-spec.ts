import { beforeEach, describe, expect, test } from '@jest/globals';
import { API_KEY } from '../support/app/app.js';
import { Client } from '../support/app/client.js';
import { ENGINE, createDatabase } from '../support/app/database.js';
import { aUser } from '../support/data/factories.js';
import { csv, awaitRun, upload } from '../support/app/imports.js';
import { Process, envOf, setUpDatabase, occupyPort } from '../support/process/process.js';

/** Several instances on one port give the same responses. */
const database = setUpDatabase();

const onMariadb = ENGINE === 'mariadb' ? describe : describe.skip;
const start = (settings: Record<string, string> = {}) =>
  Process.startService({ ...envOf(database), WORKERS: '2', BOOTSTRAP_API_KEY: API_KEY, ...settings });
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

onMariadb('two instances (MariaDB only)', () => {
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
    const settings = { WORKERS: '2', BOOTSTRAP_API_KEY: API_KEY, PORT: String(port) };
    const service = new Process('dist/main.js', { ...envOf(database), ...settings });
    const client = new Client(`http://127.0.0.1:${port}`, { 'x-api-key': API_KEY, ...CLOSE });
    const first = await service.waitForResponse(() => client.get('/users/search'));
    expect({ status: first.status, Count: first.body.Count }).toEqual({ status: 200, Count: 1 });
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
  });
});
