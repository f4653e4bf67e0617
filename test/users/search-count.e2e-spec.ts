import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DATABASE, type Database } from '../../src/platform/database/engine/database.js';
import { TestApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { createMany, search } from '../support/app/search.js';

let app: TestApp;
let other: TestApp;

beforeAll(async () => {
  app = await TestApp.start();
  other = await TestApp.on(app.database);
});
afterAll(async () => {
  await other.stop();
  await app.end();
});

/** [all, active, blocked, of role Editor, with the word zebra] */
async function counts(client: Client = app.key): Promise<number[]> {
  const queries = ['', 'status=Active', 'status=Blocked', 'role=Editor', 'fulltext_search=zebra'];
  const list: number[] = [];
  for (const query of queries) list.push((await search(client, `${query}&limit=1`)).body.Count);
  return list;
}

/** How much an action adds to `counts`, read in the very next requests. */
async function delta(action: () => Promise<unknown>): Promise<number[]> {
  const before = await counts();
  await action();
  const after = await counts();
  return after.map((count, index) => count - (before[index] ?? 0));
}

const put = async (uuid: string, body: object, status = 200) => {
  expect((await app.key.put(`/users/${uuid}`, body)).status).toBe(status);
};

describe('Count is exact in the request after a write', () => {
  test('create, also of a blocked user', async () => {
    expect(await delta(() => create(app.key))).toEqual([1, 1, 0, 0, 0]);
    expect(await delta(() => create(app.key, { status: 'Blocked' }))).toEqual([1, 0, 1, 0, 0]);
    expect(await delta(() => create(app.key, { roles: ['editor', 'Author'], surname: 'Zebra' }))).toEqual([
      1, 1, 0, 1, 1,
    ]);
  });

  test('block and reactivate, once and twice', async () => {
    const { uuid } = await create(app.key, { surname: 'Zebra' });
    expect(await delta(() => put(uuid, { status: 'Blocked' }))).toEqual([0, -1, 1, 0, 0]);
    expect(await delta(() => put(uuid, { status: 'Blocked' }))).toEqual([0, 0, 0, 0, 0]);
    expect(await delta(() => put(uuid, { status: 'Active' }))).toEqual([0, 1, -1, 0, 0]);
    expect(await delta(() => put(uuid, { status: 'Active' }))).toEqual([0, 0, 0, 0, 0]);
  });

  test('change of roles and of words', async () => {
    const { uuid } = await create(app.key);
    expect(await delta(() => put(uuid, { roles: ['Editor', 'Author'] }))).toEqual([0, 0, 0, 1, 0]);
    expect(await delta(() => put(uuid, { roles: ['Author'], known_as: 'Zebra' }))).toEqual([0, 0, 0, -1, 1]);
    expect(await delta(() => put(uuid, { roles: [], known_as: '' }))).toEqual([0, 0, 0, 0, -1]);
    expect(await delta(() => put(uuid, { roles: ['Webmaster'], status: 'Blocked' }))).toEqual([
      0, -1, 1, 0, 0,
    ]);
    expect(await delta(() => put(uuid, { status: 'Active' }))).toEqual([0, 1, -1, 0, 0]);
    expect(await delta(() => put(uuid, { roles: [] }))).toEqual([0, 0, 0, 0, 0]);
  });

  test('writes that fail change nothing', async () => {
    const taken = await create(app.key);
    const { uuid } = await create(app.key);
    const body = aUser({ surname: 'Zebra', roles: ['Editor'] });
    const change = { status: 'Blocked', surname: 'Zebra', roles: ['Editor'] };
    const admin = (await search(app.key, 'username=admin')).body.Results[0];
    const failing: [() => Promise<{ status: number }>, number][] = [
      [() => app.key.post('/users', { ...body, username: taken.username }), 409],
      [() => app.key.post('/users', { ...body, email: 'none' }), 422],
      [() => app.key.post('/users', { ...body, manager_uuid: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' }), 422],
      [() => app.nobody.post('/users', body), 401],
      [() => app.key.put(`/users/${uuid}`, { ...change, email: taken.email }), 409],
      [() => app.key.put(`/users/${uuid}`, { ...change, phone: 'x'.repeat(65) }), 422],
      [() => app.key.put(`/users/${uuid}`, { ...change, roles: ['External user', 'Webmaster'] }), 422],
      [() => app.key.with({ 'if-match': '"0.0.full"' }).put(`/users/${uuid}`, change), 412],
      [() => app.key.put(`/users/${admin.uuid}`, { status: 'Blocked' }), 409],
      [() => app.key.put(`/users/${admin.uuid}`, { roles: ['Editor'] }), 409],
    ];
    for (const [attempt, status] of failing) {
      expect(await delta(async () => expect((await attempt()).status).toBe(status))).toEqual([0, 0, 0, 0, 0]);
    }
  });
});

describe('Count is exact after writes at the same time', () => {
  test('thirty creates', async () => {
    const bodies = Array.from({ length: 30 }, (_, index) => ({ status: index % 3 ? 'Active' : 'Blocked' }));
    expect(await delta(() => createMany(app.key, bodies))).toEqual([30, 20, 10, 0, 0]);
  });

  test('ten blocks of one user block it once', async () => {
    const { uuid } = await create(app.key);
    const block = () => put(uuid, { status: 'Blocked' });
    expect(await delta(() => Promise.all(Array.from({ length: 10 }, block)))).toEqual([0, -1, 1, 0, 0]);
  });
});

test('a write of one instance is counted by another', async () => {
  const [all = 0, active = 0] = await counts(other.key);
  await create(app.key);
  expect((await counts(other.key)).slice(0, 2)).toEqual([all + 1, active + 1]);
  await create(other.key, { status: 'Blocked' });
  expect((await counts()).slice(0, 3)).toEqual((await counts(other.key)).slice(0, 3));
});

test('members count active users only, however they ask', async () => {
  await create(app.key, { username: 'counting member', password: 'a member password' });
  const member = await app.login('counting member', 'a member password');
  const [, active = 0] = await counts();
  for (const [query, count] of [
    ['', active],
    ['status=Active', active],
    ['status=Blocked', 0],
    ['status=Active&status=Blocked', active],
  ] as const) {
    const answer = await search(member, `${query}&limit=100`);
    expect([query, answer.status, answer.body.Count, answer.body.Results?.length]).toEqual([
      query,
      200,
      count,
      count,
    ]);
  }
});

test('an active Webmaster counts as one, a blocked one does not', async () => {
  const { uuid } = await create(app.key, { roles: ['Webmaster'] });
  await create(app.key, { roles: ['Webmaster'], status: 'Blocked' });
  expect(await counters()).toMatchObject({ webmasters: 2 });
  await put(uuid, { roles: [] });
  expect(await counters()).toMatchObject({ webmasters: 1 });
});

async function counters(): Promise<Record<string, number>> {
  const database = app.app.get<Database>(DATABASE);
  const rows = await database.query<{ name: string; value: number | string }>(
    'SELECT name, SUM(value) AS value FROM user_counts GROUP BY name',
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, Number(value)]));
}

/** After every test the counters equal the counted users. */
afterEach(async () => {
  const database = app.app.get<Database>(DATABASE);
  const rows = await database.query<{ status: string; roles: string }>('SELECT status, roles FROM users');
  const active = rows.filter(({ status }) => status === 'Active');
  expect(await counters()).toMatchObject({
    Active: active.length,
    Blocked: rows.length - active.length,
    webmasters: active.filter(({ roles }) => roles.includes('"Webmaster"')).length,
  });
  expect((await counts()).slice(0, 3)).toEqual([rows.length, active.length, rows.length - active.length]);
});
