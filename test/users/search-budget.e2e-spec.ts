import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { request } from 'node:http';
import { DATABASE, type Database } from '../../src/platform/database/engine/database.js';
import { TestApp } from '../support/app/app.js';
import type { Answer, Client } from '../support/app/client.js';
import { ENGINE } from '../support/app/database.js';
import { seedUsers, seededUuid } from '../support/app/seed.js';

/** What searches may cost that no key bounds (interface §9). */
const USERS = 8000;
const TIMEOUT = 0.5;
/** Each of them matches everybody. */
const PREFIXES = ['u0', 'u00', 'u000', 'u0000', 'hr', 'hr-', 'hr-0', 'hr-00', 'hr-000', 'hr-0000'];
const ATTACK = `/users/search?fulltext_search=${PREFIXES.map((prefix) => `${prefix}*`).join('+')}`;
const ENDLESS = '/users/search?created_since=2001-01-01';
/** Values of these two searches. */
const MARKS = new Set<unknown>(['hr-0000', '2001-01-01 00:00:00.000']);
/** A statement that takes minutes. */
const COUNTING =
  ENGINE === 'sqlite'
    ? 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1e15) SELECT COUNT(*) AS n FROM c'
    : 'SELECT SLEEP(600) AS n';

let app: TestApp;
let database: Database;
let member: Client;
let other: Client;
let endless: number;
jest.setTimeout(120_000);

beforeAll(async () => {
  app = await TestApp.withReader({ SEARCH_TIMEOUT: String(TIMEOUT) });
  await seedUsers(app, 0, USERS);
  database = app.app.get<Database>(DATABASE);
  const clients: Client[] = [];
  for (const username of ['member', 'other']) {
    const password = 'a good long password';
    const created = await app.key.post('/users', { username, email: `${username}@example.org`, password });
    expect(created.status).toBe(201);
    clients.push(await app.login(username, password));
  }
  [member, other] = clients as [Client, Client];
  // The counts of two searches never end, on a machine of any speed; all else is the real thing.
  const aside = database.scan.bind(database);
  jest.spyOn(database, 'scan').mockImplementation((sql, params = [], signal) => {
    const isCount = sql.startsWith('SELECT COUNT(*) AS n FROM users u');
    const isEndless = isCount && params.some((value) => MARKS.has(value));
    if (!isEndless) return aside(sql, params, signal);
    endless++;
    return aside(COUNTING, [], signal);
  });
});
afterAll(() => app.end());
beforeEach(() => {
  endless = 0;
});

/** The statements of the service that its server works on. */
async function atWork(): Promise<string[]> {
  if (ENGINE === 'sqlite') return [];
  const rows = await database.query<{ info: string }>(
    "SELECT info FROM information_schema.processlist WHERE db = DATABASE() AND command <> 'Sleep' AND id <> CONNECTION_ID()",
  );
  return rows.map(({ info }) => info);
}

/** The server has a moment: it looks for its end between two rows. */
async function untilWorking(is: boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while ((await atWork()).length > 0 !== is && performance.now() < deadline);
  expect((await atWork()).length > 0).toBe(is);
}

async function until(is: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 20_000; !is() && performance.now() < deadline;)
    await new Promise((resolve) => setImmediate(resolve));
  expect(is()).toBe(true);
}

/** Sends a search, and gives up when asked to. */
function leaving(client: Client, path: string): { leave: () => void; left: Promise<unknown> } {
  const sent = request(`${app.url}/api/0.3${path}`, { headers: client.headers });
  const left = new Promise((resolve) => sent.on('error', resolve));
  sent.end();
  return { leave: () => void sent.destroy(), left };
}

describe('a search that matches everybody ten times', () => {
  test('is stopped, also in the database, and names a word', async () => {
    const started = performance.now();
    const answer = await member.get(ATTACK);
    const seconds = (performance.now() - started) / 1000;
    expect([answer.status, answer.body.code]).toEqual([422, 'search_too_broad']);
    expect(answer.body.detail).toMatch(/stopped after 0\.5 seconds: "(u0|hr)[-0]*\*" in fulltext_search /);
    expect(seconds).toBeGreaterThanOrEqual(TIMEOUT);
    expect(seconds).toBeLessThan(TIMEOUT * 2 + 5);
    await untilWorking(false);
  });

  test('others are answered meanwhile', async () => {
    const attacks = Promise.all(Array.from({ length: 3 }, () => member.get(ATTACK)));
    const over = attacks.then(() => true);
    let answered = 0;
    while (!(await Promise.race([over, new Promise((resolve) => setImmediate(resolve, false))]))) {
      expect((await other.get(`/users/${seededUuid(777)}`)).status).toBe(200);
      expect((await other.get('/users/search?fulltext_search=u0000777')).body.Count).toBe(1);
      answered++;
    }
    for (const { status } of await attacks) expect([422, 429]).toContain(status);
    expect(answered).toBeGreaterThan(5);
  });

  test('one of its words alone is answered', async () => {
    const { status, body } = await member.get('/users/search?fulltext_search=hr*');
    expect([status, body.Count]).toEqual([200, USERS - 20]);
  });
});

describe('searches without an end', () => {
  test('one actor never holds up another for longer than one search', async () => {
    const order: string[] = [];
    const note = (name: string) => (answer: Answer) => {
      order.push(name);
      return answer;
    };
    const attacks = Array.from({ length: 6 }, () => member.get(ENDLESS).then(note('attack')));
    await until(() => endless > 0);
    const { status, body } = await other.get('/users/search?role=Organisational%20user').then(note('other'));
    expect([status, body.Count]).toEqual([200, USERS - 20 + 2]);
    expect(order.indexOf('other')).toBeLessThanOrEqual(1);
    const codes = new Set((await Promise.all(attacks)).map((answer) => answer.body.code));
    expect(codes).toContain('search_too_broad');
    codes.delete('rate_limited'); // who has waited for too long
    expect(codes.size).toBe(1);
    await untilWorking(false);
  });

  test('two of them run at a time, some wait, and more are refused', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => member.get(ENDLESS)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(8);
    for (const { body, headers } of refused)
      expect({ code: body.code, retryAfter: headers['retry-after'] }).toEqual({
        code: 'rate_limited',
        retryAfter: '1',
      });
    const rest = answers.filter(({ status }) => status !== 429);
    expect(new Set(rest.map(({ body }) => body.code))).toEqual(new Set(['search_too_broad']));
    // Two at a time, each of them for the time that it may take, for as long as one may wait.
    expect(endless).toBeLessThanOrEqual(2 * (5 + 2));
    await untilWorking(false);
  });

  test('what the client has left is stopped in the database and leaves the queue', async () => {
    const searches = Array.from({ length: 6 }, () => leaving(member, ENDLESS));
    await until(() => endless > 0);
    if (ENGINE === 'mariadb') await untilWorking(true);
    for (const { leave } of searches) leave();
    await Promise.all(searches.map(({ left }) => left));
    await untilWorking(false);
    const before = endless;
    // The next one has its turn at once, and none of those that waited is begun for nobody.
    expect((await member.get('/users/search?role=Editor')).status).toBe(200);
    expect(endless).toBe(before);
  });
});

describe('what a search may ask for', () => {
  test.each(['a*', 'jane a*', '(é*', '東*', 'a.*'])('%s is refused', async (term) => {
    const answer = await app.key.get(`/users/search?fulltext_search=${encodeURIComponent(term)}`);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_parameter']);
    expect(answer.body.detail).toContain('at least 2 characters');
  });

  test.each(['ab*', 'a b', 'æ*', '東京*'])('%s is not', async (term) => {
    expect((await app.key.get(`/users/search?fulltext_search=${encodeURIComponent(term)}`)).status).toBe(200);
  });
});
