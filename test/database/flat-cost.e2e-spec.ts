import { beforeAll, describe, expect, test } from '@jest/globals';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import { UserWriter } from '../../src/users/writer/user-writer.service.js';
import { TestApp, setUpApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { measureEffort } from '../support/app/effort.js';
import { ENGINE } from '../support/app/database.js';
import { aUser } from '../support/data/factories.js';
import { PASSWORD, aPerson, databaseOf } from '../support/app/people.js';
import { NARROW, check } from '../support/app/scenario.js';
import { nextOf, queryOf, search } from '../support/app/search.js';
import { refreshStatistics, seedUsers, seededUser, seededUuid } from '../support/app/seed.js';

/**
 * The cost of a request does not grow with the number of users (interface §5). Compares the rows that the database
 * reads with 600 and with 5,000 users. Counts rows instead of time, so that a busy machine gives the same result.
 */
const FEW = 600;
const MANY = 5000;
/** Relative positions of pages. Users at the last position have no surname. */
const DEPTHS = [0.1, 0.5, 0.99];
/** Largest accepted growth. Allows for a deeper B-tree and for a page split. */
const RATIO = 2;

const app = setUpApp({ DATABASE_POOL_SIZE: '1' });
let client: Client;
let username: string;
let changes = 0;

const uuid = seededUuid(500);
const searchPage = (query: object) => () => check(search(app.key, { limit: 25, ...query }));
/** Filters with one condition. With several conditions, the cost may be the product of their matches. */
const SINGLE = NARROW.filter((filter) => Object.keys(filter).length === 1);
const WORK: [string, () => Promise<unknown>][] = [
  ['a read by id with an API key', () => check(app.key.get(`/users/${uuid}`))],
  ['a read with a session', () => check(client.get('/users/me'))],
  ['a login', () => app.login(username, PASSWORD)],
  ['a user change of one field', () => check(app.key.put(`/users/${uuid}`, { phone: `${++changes}` }))],
  ['a user creation', () => check(app.key.post('/users', aUser()), 201)],
  ['a page of all users with Count', searchPage({})],
  ['a page sorted by surname', searchPage({ sort: 'surname', order: 'asc' })],
  ['a page of blocked users with Count', searchPage({ status: 'Blocked' })],
  ['a page for a member', () => check(search(client))],
  ...SINGLE.map((filter): (typeof WORK)[number] => [`a search with ${queryOf(filter)}`, searchPage(filter)]),
  ...SINGLE.map((filter): (typeof WORK)[number] => [
    `a search with ${queryOf(filter)} sorted by surname`,
    searchPage({ ...filter, sort: 'surname', order: 'asc' }),
  ]),
];
const LOOKUPS = [
  ['user_identifiers', 'identifier'],
  ['user_roles', 'role'],
  ['user_words', 'word'],
];
const efforts = new Map<string, number[]>(WORK.map(([name]) => [name, []]));

beforeAll(async () => {
  const person = await aPerson(app);
  client = person.client;
  username = person.user.username;
  for (const [from, to] of [
    [0, FEW],
    [FEW, MANY],
  ] as const) {
    await seedUsers(app, from, to);
    await refreshStatistics(app);
    for (const [name, work] of WORK) efforts.get(name)?.push(await measureEffort(app, work));
  }
});

test.each(WORK)('%s costs no more with many users', (name) => {
  const [few = 0, many = Infinity] = efforts.get(name) ?? [];
  expect(few).toBeGreaterThan(0);
  expect(many).toBeLessThanOrEqual(RATIO * few);
});

describe('a late page', () => {
  const sorts = ['updated', 'created', 'firstname', 'surname', 'username', 'email', 'external_id', 'status'];
  const walks = sorts.flatMap((sort) => ['asc', 'desc'].map((order) => ({ sort, order, limit: 25 })));

  /** Measures the cost of the page after a number of users, which is reached by its cursor. */
  const costAfter = async (walk: object, users: number): Promise<number> => {
    const before = await check(search(app.key, { ...walk, limit: 1, offset: users - 1 }));
    const next = nextOf(before)?.replace('limit=1&', 'limit=25&') ?? '';
    return measureEffort(app, () => check(app.key.get(next)));
  };

  test.each(walks)('costs no more than the first page (sort=$sort, order=$order)', async (walk) => {
    const first = await measureEffort(app, searchPage(walk));
    for (const depth of DEPTHS)
      expect(await costAfter(walk, depth * MANY)).toBeLessThanOrEqual(RATIO * first);
  });

  // MariaDB reads unset values in one direction only, which is a known limit (ADR 7).
  const unset = ENGINE === 'sqlite' ? ['asc', 'desc'] : ['asc'];
  test.each(unset)('costs no more among users without external_id (order=%s)', async (order) => {
    const walk = { sort: 'external_id', order };
    const first = await measureEffort(app, searchPage(walk));
    const unlinked = [seededUuid(MANY / 2)];
    await databaseOf(app).execute('UPDATE users SET external_id_key = NULL WHERE uuid < ?', unlinked);
    await refreshStatistics(app);
    expect(await costAfter(walk, 0.9 * MANY)).toBeLessThanOrEqual(RATIO * first);
  });
});

describe('a search for a common word', () => {
  const RARE_MATCHES = 40;
  const words = setUpApp({ DATABASE_POOL_SIZE: '1' });
  beforeAll(async () => {
    const nameOf = (n: number): string => (n % 101 === 0 ? 'Okapi Quagga' : 'Gnu Zebu');
    await seedUsers(words, 0, 101 * RARE_MATCHES, (n) => ({ ...seededUser(n), middle_name: nameOf(n) }));
    await refreshStatistics(words);
  });

  test.each([
    ['by relevance', 'okapi', 'gnu', {}],
    ['for two words', 'okapi quagga', 'gnu zebu', {}],
    ['for a common and a rare word', 'okapi quagga', 'u0000000 gnu', {}],
    ['sorted by surname', 'okapi', 'gnu', { sort: 'surname', order: 'asc' }],
  ])(
    'costs about as much as a search for a hundred times rarer word: %s',
    async (_what, rare, common, query) => {
      const costOf = (word: string) =>
        measureEffort(words, () => check(search(words.key, { ...query, fulltext_search: word, limit: 25 })));
      expect(await costOf(common)).toBeLessThanOrEqual(RATIO * (await costOf(rare)));
    },
  );
});

test('the test helper seedUsers writes the same rows as UserWriter', async () => {
  const [seeded, written] = [await TestApp.start(), await TestApp.start()];
  await seedUsers(seeded, 0, 100);
  const numbers = Array.from({ length: 100 }, (_, n) => n);
  await written.app.get(TransactionRunner).run((tx) => {
    const creates = numbers.map((n) => {
      const { uuid: id, created: _c, updated: _u, version: _v, last_access: _l, ...patch } = seededUser(n);
      return { kind: 'create' as const, uuid: id, patch: { ...patch, roles: [...patch.roles] } };
    });
    return written.app
      .get(UserWriter)
      .apply(tx, creates, { actor: { kind: 'system', id: null }, requestId: '', ip: '' });
  });
  const tables = await readTables(seeded);
  expect(tables.map((rows) => rows.length > 0)).toEqual([true, true, true, true, true]);
  expect(tables).toEqual(await readTables(written));
  await seeded.end();
  await written.end();
});

/** Reads the rows of seeded users in every table, without their write times, and the counters. */
async function readTables(of: TestApp): Promise<object[][]> {
  const database = databaseOf(of);
  const seeded = seededUuid(100);
  const users = await database.query<object>('SELECT * FROM users WHERE uuid < ? ORDER BY uuid', [seeded]);
  const rows = [users.map((user) => ({ ...user, created: '', updated: '' }))];
  for (const [table, key] of LOOKUPS) {
    const sql = `SELECT * FROM ${table} WHERE user_uuid < ? ORDER BY user_uuid, ${key}`;
    rows.push(await database.query(sql, [seeded]));
  }
  rows.push(
    await database.query(
      "SELECT name, SUM(value) FROM user_counts WHERE name IN ('Active', 'Blocked') GROUP BY name ORDER BY name",
    ),
  );
  return rows;
}
