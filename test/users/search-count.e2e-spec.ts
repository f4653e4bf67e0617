import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestApp, setUpApp } from '../support/app/app.js';
import type { Client } from '../support/app/client.js';
import { aPerson, databaseOf } from '../support/app/people.js';
import { deletion, writeUsers } from '../support/app/deletion.js';
import { aUser, create } from '../support/data/factories.js';
import { createMany, search } from '../support/app/search.js';

const app = setUpApp();
let other: TestApp;

beforeAll(async () => void (other = await app.startOther()));

/** Returns five counts: all users, active users, blocked users, Editors, and users with the word zebra. */
async function readCounts(client: Client = app.key): Promise<number[]> {
  const queries = ['', 'status=Active', 'status=Blocked', 'role=Editor', 'fulltext_search=zebra'];
  const list: number[] = [];
  for (const query of queries) list.push((await search(client, `${query}&limit=1`)).body.Count);
  return list;
}

/** Runs an action and returns the difference of each count, as read in the next requests. */
async function track(action: () => Promise<unknown>): Promise<number[]> {
  const before = await readCounts();
  await action();
  return (await readCounts()).map((count, index) => count - (before[index] ?? 0));
}

const put = async (uuid: string, body: object, status = 200) => {
  expect((await app.key.put(`/users/${uuid}`, body)).status).toBe(status);
};

describe('search Count after a write', () => {
  test('includes a new active or blocked user', async () => {
    expect(await track(() => create(app.key))).toEqual([1, 1, 0, 0, 0]);
    expect(await track(() => create(app.key, { status: 'Blocked' }))).toEqual([1, 0, 1, 0, 0]);
    expect(await track(() => create(app.key, { roles: ['editor', 'Author'], surname: 'Zebra' }))).toEqual([
      1, 1, 0, 1, 1,
    ]);
  });

  test('changes once if a user is blocked twice', async () => {
    const { uuid } = await create(app.key, { surname: 'Zebra' });
    expect(await track(() => put(uuid, { status: 'Blocked' }))).toEqual([0, -1, 1, 0, 0]);
    expect(await track(() => put(uuid, { status: 'Blocked' }))).toEqual([0, 0, 0, 0, 0]);
    expect(await track(() => put(uuid, { status: 'Active' }))).toEqual([0, 1, -1, 0, 0]);
    expect(await track(() => put(uuid, { status: 'Active' }))).toEqual([0, 0, 0, 0, 0]);
  });

  test('reflects changed roles and names of a user', async () => {
    const { uuid } = await create(app.key);
    expect(await track(() => put(uuid, { roles: ['Editor', 'Author'] }))).toEqual([0, 0, 0, 1, 0]);
    expect(await track(() => put(uuid, { roles: ['Author'], known_as: 'Zebra' }))).toEqual([0, 0, 0, -1, 1]);
    expect(await track(() => put(uuid, { roles: [], known_as: '' }))).toEqual([0, 0, 0, 0, -1]);
    expect(await track(() => put(uuid, { roles: ['Webmaster'], status: 'Blocked' }))).toEqual([
      0, -1, 1, 0, 0,
    ]);
    expect(await track(() => put(uuid, { status: 'Active' }))).toEqual([0, 1, -1, 0, 0]);
    expect(await track(() => put(uuid, { roles: [] }))).toEqual([0, 0, 0, 0, 0]);
  });

  test('is unchanged if the write fails', async () => {
    const taken = await create(app.key);
    const { uuid } = await create(app.key);
    const body = aUser({ surname: 'Zebra', roles: ['Editor'] });
    const change = { status: 'Blocked', surname: 'Zebra', roles: ['Editor'] };
    const admin = (await search(app.key, 'username=admin')).body.Results[0];
    const failing: [() => Promise<{ status: number }>, number][] = [
      [() => app.key.post('/users', { ...body, username: taken.username }), 409],
      [() => app.key.post('/users', { ...body, email: 'none' }), 422],
      [() => app.key.post('/users', { ...body, manager_uuid: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' }), 422],
      [() => app.guest.post('/users', body), 401],
      [() => app.key.put(`/users/${uuid}`, { ...change, email: taken.email }), 409],
      [() => app.key.put(`/users/${uuid}`, { ...change, phone: 'x'.repeat(65) }), 422],
      [() => app.key.put(`/users/${uuid}`, { ...change, roles: ['External user', 'Webmaster'] }), 422],
      [() => app.key.with({ 'if-match': '"0.0.full"' }).put(`/users/${uuid}`, change), 412],
      [() => app.key.put(`/users/${admin.uuid}`, { status: 'Blocked' }), 409],
      [() => app.key.put(`/users/${admin.uuid}`, { roles: ['Editor'] }), 409],
    ];
    for (const [attempt, status] of failing) {
      expect(await track(async () => expect((await attempt()).status).toBe(status))).toEqual([0, 0, 0, 0, 0]);
    }
  });
});

describe('search Count after concurrent writes', () => {
  test('includes all thirty new users', async () => {
    const bodies = Array.from({ length: 30 }, (_, index) => ({ status: index % 3 ? 'Active' : 'Blocked' }));
    expect(await track(() => createMany(app.key, bodies))).toEqual([30, 20, 10, 0, 0]);
  });

  test('changes once if ten requests block one user', async () => {
    const { uuid } = await create(app.key);
    const block = () => put(uuid, { status: 'Blocked' });
    expect(await track(() => Promise.all(Array.from({ length: 10 }, block)))).toEqual([0, -1, 1, 0, 0]);
  });
});

test('search Count includes writes of another instance', async () => {
  const [all = 0, active = 0] = await readCounts(other.key);
  await create(app.key);
  expect((await readCounts(other.key)).slice(0, 2)).toEqual([all + 1, active + 1]);
  await create(other.key, { status: 'Blocked' });
  expect((await readCounts()).slice(0, 3)).toEqual((await readCounts(other.key)).slice(0, 3));
});

test('search Count of a word reflects every change of a matching user on all instances', async () => {
  const { client } = await aPerson(app);
  const { uuid } = await create(app.key, { email: 'quagga@example.org' });
  const readWordCounts = async (): Promise<number[]> => {
    const answers = [
      await search(client, 'fulltext_search=quagga'),
      await search(other.key, 'fulltext_search=quagga'),
    ];
    return answers.map(({ body }) => body.Count);
  };
  expect(await readWordCounts()).toEqual([1, 1]);
  const changes: [object, number[]][] = [
    [{ hide_email: true }, [0, 1]],
    [{ hide_email: false }, [1, 1]],
    [{ status: 'Blocked' }, [0, 1]],
    [{ status: 'Active' }, [1, 1]],
    [{ email: 'zebu@example.org' }, [0, 0]],
    [{ middle_name: 'Quagga' }, [1, 1]],
  ];
  for (const [change, counts] of changes) {
    await put(uuid, change);
    expect(await readWordCounts()).toEqual(counts);
  }
  await writeUsers(app, [deletion(uuid)]);
  expect(await readWordCounts()).toEqual([0, 0]);
  await app.key.post(`/users/${uuid}/restore`);
  expect(await readWordCounts()).toEqual([1, 1]);
});

test('the stored counter of Webmasters includes only active Webmasters', async () => {
  const { uuid } = await create(app.key, { roles: ['Webmaster'] });
  await create(app.key, { roles: ['Webmaster'], status: 'Blocked' });
  expect(await readCounters()).toMatchObject({ webmasters: 2 });
  await put(uuid, { roles: [] });
  expect(await readCounters()).toMatchObject({ webmasters: 1 });
});

async function readCounters(): Promise<Record<string, number>> {
  const database = databaseOf(app);
  const rows = await database.query<{ name: string; value: number | string }>(
    'SELECT name, SUM(value) AS value FROM user_counts GROUP BY name',
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, Number(value)]));
}

/** Checks after every test that the stored counters equal the counted rows. */
afterEach(async () => {
  const database = databaseOf(app);
  const rows = await database.query<{ status: string; roles: string }>('SELECT status, roles FROM users');
  const active = rows.filter(({ status }) => status === 'Active');
  expect(await readCounters()).toMatchObject({
    Active: active.length,
    Blocked: rows.length - active.length,
    webmasters: active.filter(({ roles }) => roles.includes('"Webmaster"')).length,
  });
  expect((await readCounts()).slice(0, 3)).toEqual([rows.length, active.length, rows.length - active.length]);
});
