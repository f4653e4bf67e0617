import { beforeEach, describe, expect, test } from '@jest/globals';
import { API_KEY } from '../support/app/app.js';
import { Client } from '../support/app/client.js';
import { ENGINE, freshDatabase } from '../support/app/database.js';
import { aUser } from '../support/data/factories.js';
import { csv, settled, upload } from '../support/app/imports.js';
import { Process, newcomer, processDatabase, takenPort } from '../support/process/process.js';

/** Several workers on one port: every worker gives the same answers. */
const database = processDatabase();

const onMariadb = ENGINE === 'mariadb' ? describe : describe.skip;
const start = (settings: Record<string, string> = {}) =>
  Process.running({ ...newcomer(database), WORKERS: '2', BOOTSTRAP_API_KEY: API_KEY, ...settings });
/** Opens a new connection each time, as a connection stays with its worker. */
const ANEW = { connection: 'close' };
const clientOf = ({ url }: Process) => new Client(url, { 'x-api-key': API_KEY, ...ANEW });
const count = (text: string, part: string) => text.split(part).length - 1;
const many = <T>(length: number, send: () => Promise<T>) => Promise.all(Array.from({ length }, send));

/** Sends requests until both workers have answered some. @returns how many. */
async function untilBothAnswer(service: Process, path: string, send: () => Promise<unknown>) {
  let sent = 0;
  for (; service.answered(path).length < 2; sent += 20) await many(20, send);
  return sent;
}

/** The value of a line of the metrics. */
async function metric(service: Process, line: string): Promise<number> {
  const { text } = await new Client(service.url, ANEW).raw('GET', '/metrics');
  const found = text.split('\n').find((candidate) => candidate.startsWith(`${line} `));
  return Number(found?.slice(line.length));
}

/** Kills one of the workers that have answered, and waits for the one that takes its place. */
async function killOne(service: Process, path: string): Promise<number> {
  const [pid = 0] = service.answered(path);
  process.kill(pid, 'SIGKILL');
  await service.says('"msg":"instance ready"');
  return pid;
}

onMariadb('two workers (need a server: MariaDB only)', () => {
  test('the first start prints the credentials once, the next one does not; a session is valid in all workers', async () => {
    const service = await start({ BOOTSTRAP_API_KEY: '' });
    const [, password = ''] = /^ *Password +(\S+)$/m.exec(service.err) ?? [];
    const login = await new Client(service.url).post('/sessions/login', { username: 'admin', password });
    const session = new Client(service.url, { cookie: login.cookie, ...ANEW });
    await untilBothAnswer(service, '/api/0.3/users/me', async () => {
      expect((await session.get('/users/me')).status).toBe(200);
    });
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(service.complaints).toBe('');
    for (const once of ['is running', 'Password ', 'API key ']) {
      expect([once, count(service.err, once)]).toEqual([once, 1]);
    }
    const next = await start({ BOOTSTRAP_API_KEY: '' });
    expect([count(next.err, 'is running'), count(next.err, 'Password')]).toEqual([1, 0]);
  });

  test('the first key is valid from the first answer on', async () => {
    const { port, release } = await takenPort();
    await release();
    const settings = { WORKERS: '2', BOOTSTRAP_API_KEY: API_KEY, PORT: String(port) };
    const service = new Process('dist/main.js', { ...newcomer(database), ...settings });
    const client = new Client(`http://127.0.0.1:${port}`, { 'x-api-key': API_KEY, ...ANEW });
    const first = await service.firstAnswer(() => client.get('/users/search'));
    expect({ status: first.status, Count: first.body.Count }).toEqual({ status: 200, Count: 1 });
  });

  describe('after a first start', () => {
    beforeEach(async () => {
      await database.drop();
      Object.assign(database, await freshDatabase('first-start'));
    });

    test('the rate limit is shared by both workers', async () => {
      const LIMIT = 30;
      const service = await start({ RATE_LIMIT_PER_MINUTE: String(LIMIT) });
      const client = clientOf(service);
      const statuses: number[] = [];
      await untilBothAnswer(service, '/api/0.3/users/search', async () => {
        statuses.push((await client.get('/users/search')).status);
      });
      for (const answer of await many(LIMIT, () => client.get('/users/search'))) statuses.push(answer.status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT);
      expect(statuses.filter((status) => status === 429)).toHaveLength(statuses.length - LIMIT);
    });

    test('metrics are the sum of both workers, and do not shrink when one dies', async () => {
      const service = await start({ IMPORT_OVERDUE_HOURS: '1' });
      const path = '/api/0.3/status';
      const sent = await untilBothAnswer(service, path, () => new Client(service.url, ANEW).get('/status'));
      const line = `http_request_duration_seconds_count{method="GET",route="${path}",status="200"}`;
      for (const value of await many(6, () => metric(service, line))) expect(value).toBe(sent);
      // A value that both workers read from the database is reported once.
      expect(await metric(service, 'rollcall_import_overdue')).toBe(1);
      await killOne(service, path);
      for (const value of await many(6, () => metric(service, line))) expect(value).toBe(sent);
    });

    test('either worker sends the events of an import', async () => {
      const service = await start();
      const client = clientOf(service);
      const rows = Array.from({ length: 2000 }, (_, i) => `W${i},w${i},w${i}@example.org`);
      const { id } = (await upload(client, csv('ExternalId,Username,Email', ...rows))).body;
      await untilBothAnswer(service, `/api/0.3/imports/${id as string}/events`, async () => {
        const { text } = await client.get(`/imports/${id as string}/events`);
        expect(text).toContain('"state":"completed"');
      });
      expect((await settled(client, id)).counts).toMatchObject({ created: 2000 });
    });

    test('kill -9 of one worker under load loses only its own requests, and another worker replaces it', async () => {
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
        while (service.answered(path).length < 2) await client.get('/status');
        const killed = await killOne(service, path);
        const before = service.answered(path).length;
        while (service.answered(path).length === before) await client.get('/status');
        expect(service.answered(path)).toContain(killed);
      };
      await Promise.all([killer().finally(() => (open = false)), ...Array.from({ length: 8 }, load)]);
      expect(lost).toBeLessThanOrEqual(8);
      const found = (await client.get('/users/search')).body.Count as number;
      expect(found).toBeGreaterThanOrEqual(kept + 1);
      expect(found).toBeLessThanOrEqual(kept + lost + 1);
      expect(service.out).toMatch(/"level":40.*"exit":"SIGKILL".*"msg":"instance ended"/);
      expect(await service.stop()).toEqual({ code: 0, signal: null });
      expect(service.complaints).toBe('');
    });
  });
});
