import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { request } from 'node:http';
import type { Database } from '../../src/platform/database/engine/database.js';
import { TestApp } from '../support/app/app.js';
import type { Answer, Client } from '../support/app/client.js';
import { ENGINE } from '../support/app/database.js';
import { seedUsers, seededUuid } from '../support/app/seed.js';
import { databaseOf } from '../support/app/people.js';
import { waitUntil } from '../support/data/wait.js';

/** Limits of searches that no index bounds. */
const USERS = 8000;
const TIMEOUT = 0.5;
/** Prefixes that each match almost all users. */
const PREFIXES = ['u0', 'u00', 'u000', 'u0000', 'hr', 'hr-', 'hr-0', 'hr-00', 'hr-000', 'hr-0000'];
const ATTACK = `/users/search?fulltext_search=${PREFIXES.map((prefix) => `${prefix}*`).join('+')}`;
const ENDLESS = '/users/search?created_since=2001-01-01';
/** Parameters by which the statements of these two searches are recognized. */
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

beforeAll(async () => {
  app = await TestApp.startWithReader({ SEARCH_TIMEOUT: String(TIMEOUT) });
  await seedUsers(app, 0, USERS);
  database = databaseOf(app);
  const clients: Client[] = [];
  for (const username of ['member', 'other']) {
    const password = 'a good long password';
    const created = await app.key.post('/users', { username, email: `${username}@example.org`, password });
    expect(created.status).toBe(201);
    clients.push(await app.login(username, password));
  }
  [member, other] = clients as [Client, Client];
  // The counts of these two searches never end, on a machine of any speed. All other statements are real.
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

/** Returns the statements of the service that the database server is running. */
async function readRunning(): Promise<string[]> {
  if (ENGINE === 'sqlite') return [];
  const rows = await database.query<{ info: string }>(
    "SELECT info FROM information_schema.processlist WHERE db = DATABASE() AND command <> 'Sleep' AND id <> CONNECTION_ID()",
  );
  return rows.map(({ info }) => info);
}

/** Waits, because the server checks for a cancellation only between two rows. */
async function waitUntilWorking(is: boolean): Promise<void> {
  await waitUntil(async () => (await readRunning()).length > 0 === is);
}

/** Sends a search that the client aborts when `leave` is called. */
function sendAbortable(client: Client, path: string): { leave: () => void; left: Promise<unknown> } {
  const sent = request(`${app.url}/api/0.3${path}`, { headers: client.headers });
  const left = new Promise((resolve) => sent.on('error', resolve));
  sent.end();
  return { leave: () => void sent.destroy(), left };
}

describe('a broad search', () => {
  test('is stopped in the database after SEARCH_TIMEOUT', async () => {
    const answer = await member.get(ATTACK);
    expect([answer.status, answer.body.code]).toEqual([422, 'search_too_broad']);
    expect(answer.body.detail).toMatch(
      /stopped after 0\.5 seconds, because "(u0|hr)[-0]*\*" in fulltext_search /,
    );
    await waitUntilWorking(false);
  });

  test('does not delay the requests of other users', async () => {
    const attacks = Promise.all(Array.from({ length: 3 }, () => member.get(ATTACK)));
    const over = attacks.then(() => true);
    let answered = 0;
    while (!(await Promise.race([over, new Promise((resolve) => setImmediate(resolve, false))]))) {
      expect((await other.get(`/users/${seededUuid(777)}`)).status).toBe(200);
      expect((await other.get('/users/search?fulltext_search=u0000777')).body.Count).toBe(1);
      answered++;
    }
    for (const { status } of await attacks) expect([422, 429]).toContain(status);
    expect(answered).toBeGreaterThan(1);
  });

  test('succeeds with a single common prefix', async () => {
    const { status, body } = await member.get('/users/search?fulltext_search=hr*');
    expect({ status, Count: body.Count }).toEqual({ status: 200, Count: USERS - 20 });
  });
});

describe('long searches', () => {
  test('delay another user by at most one search', async () => {
    const order: string[] = [];
    const note = (name: string) => (answer: Answer) => {
      order.push(name);
      return answer;
    };
    const attacks = Array.from({ length: 6 }, () => member.get(ENDLESS).then(note('attack')));
    await waitUntil(() => endless > 0);
    const { status, body } = await other.get('/users/search?role=Organisational%20user').then(note('other'));
    expect({ status, Count: body.Count }).toEqual({ status: 200, Count: USERS - 20 + 2 });
    expect(order.indexOf('other')).toBeLessThanOrEqual(1);
    const codes = new Set((await Promise.all(attacks)).map((answer) => answer.body.code));
    expect(codes).toContain('search_too_broad');
    codes.delete('rate_limited'); // a search that waited too long
    expect(codes.size).toBe(1);
    await waitUntilWorking(false);
  });

  test('wait or return 429 while two others run', async () => {
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
    // Two run at a time, each up to the timeout, for as long as a search may wait.
    expect(endless).toBeLessThanOrEqual(2 * (5 + 2));
    await waitUntilWorking(false);
  });

  test('are stopped or dequeued if the client disconnects', async () => {
    const searches = Array.from({ length: 6 }, () => sendAbortable(member, ENDLESS));
    await waitUntil(() => endless > 0);
    if (ENGINE === 'mariadb') await waitUntilWorking(true);
    for (const { leave } of searches) leave();
    await Promise.all(searches.map(({ left }) => left));
    await waitUntilWorking(false);
    const before = endless;
    // The next search runs at once, and the waiting searches of disconnected clients never start.
    expect((await member.get('/users/search?role=Editor')).status).toBe(200);
    expect(endless).toBe(before);
  });
});

describe('fulltext_search', () => {
  test.each(['a*', 'jane a*', '(é*', '東*', 'a.*'])('refuses the short prefix %s', async (term) => {
    const answer = await app.key.get(`/users/search?fulltext_search=${encodeURIComponent(term)}`);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_parameter']);
    expect(answer.body.detail).toContain('at least 2 characters');
  });

  test.each(['ab*', 'a b', 'æ*', '東京*'])('accepts the short term %s', async (term) => {
    expect((await app.key.get(`/users/search?fulltext_search=${encodeURIComponent(term)}`)).status).toBe(200);
  });
});
