import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { KeyFuse } from '../../src/api-keys/fuse/key-fuse.service.js';
import { TestApp } from '../support/app/app.js';
import { auditRows } from '../support/app/audit-rows.js';
import type { Answer, Client } from '../support/app/client.js';
import { ENGINE } from '../support/app/database.js';
import { create } from '../support/data/factories.js';
import { databaseOf, inSeconds, problemOf } from '../support/app/people.js';

/** No key gets past its fuse by keys that it makes, nor opens it. */
const LIMIT = 3;
let app: TestApp;
let other: TestApp;
let webmaster: Client;
beforeAll(async () => {
  const settings = { FUSE_MIN: String(LIMIT), FUSE_PERCENT: '0' };
  app = await TestApp.start(settings);
  other = await TestApp.on(app.database, settings);
  webmaster = await app.login();
});
afterAll(async () => {
  await other.stop();
  await app.end();
});

interface Key {
  id: string;
  client: Client;
  elsewhere: Client;
}
const LIMITED = { scopes: ['users:read', 'users:write', 'keys:write', 'imports:write'] };
async function made(by: Client, body: object = LIMITED): Promise<Key> {
  const answer = await by.post('/api_keys', { name: 'x', ...body });
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  const header = { 'x-api-key': answer.body.key as string };
  return { id: answer.body.id, client: app.nobody.with(header), elsewhere: other.nobody.with(header) };
}
async function block({ client }: Pick<Key, 'client'>, count = 1): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++) {
    const { uuid } = await create(app.key);
    statuses.push((await client.put(`/users/${uuid as string}`, { status: 'Blocked' })).status);
  }
  return statuses;
}
const blow = async (key: Key): Promise<void> => {
  expect(await block(key, LIMIT + 1)).toEqual([...Array<number>(LIMIT).fill(200), 429]);
};
const countBlocked = async (): Promise<number> =>
  (await app.key.get('/users/search?status=Blocked&limit=1')).body.Count;
const reset = (by: Client, { id }: Pick<Key, 'id'>): Promise<Answer> => by.post(`/api_keys/${id}/fuse`);

describe('the fuse of a limited key', () => {
  test('is that of its children and theirs, made before or after it has blown', async () => {
    const key = await made(app.key);
    const child = await made(key.client);
    await blow(key);
    const grandchild = await made((await made(child.client)).client);
    for (const one of [child, grandchild]) expect(await block(one)).toEqual([429]);
    const { uuid } = await create(app.key);
    const refused = await grandchild.client.put(`/users/${uuid as string}`, { status: 'Blocked' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3500);
    expect(refused.body.detail).toContain(key.id);
  });

  test('counts what they block, whoever of them does', async () => {
    const key = await made(app.key);
    const [child, sibling] = [await made(key.client), await made(key.client)];
    const grandchild = await made(child.client);
    expect([await block(grandchild), await block(sibling), await block(key)].flat()).toEqual([200, 200, 200]);
    for (const one of [key, child, sibling, grandchild]) expect(await block(one)).toEqual([429]);
    expect((await auditRows(app, key.id)).at(-1)?.action).toBe('api_key.fuse_blown');
  });

  test('has nothing to do with other keys of the same maker', async () => {
    const [key, another] = [await made(app.key), await made(app.key)];
    await blow(key);
    expect(await block(another)).toEqual([200]);
    expect(await block(await made(webmaster))).toEqual([200]);
  });

  test.each<[string, (key: Key) => Promise<unknown>]>([
    ['revoked', ({ id }) => app.key.delete(`/api_keys/${id}`)],
    [
      'expired',
      ({ id }) =>
        databaseOf(app).execute('UPDATE api_keys SET expires = ? WHERE id = ?', [inSeconds(-1), id]),
    ],
  ])('stays blown for its children when it is %s', async (_, end) => {
    const key = await made(app.key);
    const child = await made(key.client);
    await blow(key);
    await end(key);
    expect(await block(child)).toEqual([429]);
    expect(problemOf(await reset(child.client, key))).toEqual([403, 'forbidden']);
    expect((await reset(webmaster, key)).status).toBe(200);
    expect(await block(child)).toEqual([200]);
  });

  test('is reset by nobody of the family, whichever of its keys is named', async () => {
    const key = await made(app.key);
    const child = await made(key.client);
    const grandchild = await made(child.client);
    await blow(key);
    const family = [key, child, grandchild];
    for (const by of family) {
      for (const one of family) {
        const id = one.id.toUpperCase();
        expect(problemOf(await reset(by.client, { id }))).toEqual([403, 'forbidden']);
      }
    }
    expect(await block(grandchild)).toEqual([429]);
  });

  test('is reset for all of them by a Webmaster, whichever of its keys is named', async () => {
    const key = await made(app.key);
    const child = await made(key.client);
    await blow(child);
    const answer = await reset(webmaster, child);
    expect([answer.status, answer.body.key_id]).toEqual([200, child.id]);
    for (const one of [key, child]) expect(await block(one, LIMIT + 1)).toEqual(Array(LIMIT + 1).fill(200));
  });

  test('is reset only by keys that may do no less', async () => {
    const key = await made(app.key);
    await blow(key);
    for (const scopes of [['keys:write'], ['keys:write', 'users:read', 'users:write', 'imports:write:hr']]) {
      const narrow = await made(app.key, { scopes });
      expect(problemOf(await reset(narrow.client, key))).toEqual([403, 'insufficient_scope']);
    }
    expect(await block(key)).toEqual([429]);
    expect((await reset((await made(app.key)).client, key)).status).toBe(200);
    expect(await block(key)).toEqual([200]);
  });

  test('is exceeded by at most one user per child when children block at once on two instances', async () => {
    const RACERS = 6;
    const key = await made(app.key);
    const waiting = await Promise.all(
      Array.from({ length: 18 }, async () => (await create(app.key)).uuid as string),
    );
    let blocked = 0;
    const race = async (client: Client): Promise<void> => {
      for (let uuid = waiting.pop(); uuid !== undefined; uuid = waiting.pop()) {
        const { status } = await client.put(`/users/${uuid}`, { status: 'Blocked' });
        expect([200, 429]).toContain(status);
        if (status === 200) blocked++;
      }
    };
    const before = await countBlocked();
    const children = await Promise.all(Array.from({ length: RACERS }, () => made(key.client)));
    await Promise.all(children.map(({ client, elsewhere }, i) => race(i % 2 === 0 ? client : elsewhere)));
    expect(await countBlocked()).toBe(before + blocked); // no refused request blocked a user
    expect(blocked).toBeGreaterThanOrEqual(LIMIT);
    // SQLite has one writer: there it is exact.
    expect(blocked).toBeLessThanOrEqual(ENGINE === 'sqlite' ? LIMIT : LIMIT + RACERS - 1);
    expect(await block(key, LIMIT + 1)).toContain(429);
    const actions = (await auditRows(app, key.id)).map(({ action }) => action);
    expect(actions.filter((action) => action === 'api_key.fuse_blown')).toHaveLength(1);
  });

  test('follows any number of renewals, at the same cost', async () => {
    const key = await made(app.key);
    let last = key;
    for (let i = 0; i < 205; i++) {
      const next = await made(last.client);
      expect((await app.key.delete(`/api_keys/${last.id}`)).status).toBe(204);
      last = next;
    }
    await blow(last);
    expect(await block(await made(last.client))).toEqual([429]);
    const [row] = await databaseOf(app).query('SELECT family_id FROM api_keys WHERE id = ?', [last.id]);
    expect(row).toEqual({ family_id: key.id });
  });
});

describe('the fuse of a key with the full Webmaster level', () => {
  const FULL = {};

  test('is its own; once it has blown, it holds for keys that it has made, and theirs', async () => {
    const key = await made(app.key, FULL);
    const [child, narrow] = [await made(key.client, FULL), await made(key.client)];
    const grandchild = await made(child.client);
    expect(await block(child)).toEqual([200]);
    await blow(key);
    for (const one of [child, narrow, grandchild]) expect(await block(one)).toEqual([429]);
    expect(await block(await made(key.client, FULL))).toEqual([429]);
    expect(await block(await made(app.key, FULL))).toEqual([200]);
    expect((await reset(app.key, key)).status).toBe(200);
    for (const one of [child, narrow, grandchild]) expect(await block(one)).toEqual([200]);
  });

  test('of a child that has blown does not hold for its maker, which may reset it', async () => {
    const key = await made(app.key, FULL);
    const child = await made(key.client);
    await blow(child);
    expect(await block(key)).toEqual([200]);
    expect((await reset(key.client, child)).status).toBe(200);
    expect(await block(child)).toEqual([200]);
  });

  test('is not reset by keys that it has made, nor by theirs', async () => {
    const key = await made(app.key, FULL);
    const child = await made(key.client, FULL);
    await blow(key);
    for (const by of [key, child, await made(child.client, FULL)]) {
      expect(problemOf(await reset(by.client, key))).toEqual([403, 'forbidden']);
    }
    expect(await block(key)).toEqual([429]);
  });

  test('a refused child does not make the fuse of its maker blow again', async () => {
    const key = await made(app.key, FULL);
    const child = await made(key.client, FULL);
    await blow(key);
    const before = (await auditRows(app, key.id)).length;
    expect(await block(child, 2)).toEqual([429, 429]);
    expect((await auditRows(app, key.id)).length).toBe(before);
    expect((await auditRows(app, child.id)).filter(({ action }) => action.includes('fuse'))).toEqual([]);
    const age = 'UPDATE key_fuses SET blown = ? WHERE key_id = ?';
    await databaseOf(app).execute(age, [inSeconds(-3601), key.id]);
    expect(await block(child)).toEqual([200]);
  });

  test('keys that have made one another end somewhere, and a circle is none', async () => {
    const [first, second] = [await made(app.key, FULL), await made(app.key, FULL)];
    const link = 'UPDATE api_keys SET maker_id = ? WHERE id = ?';
    await databaseOf(app).execute(link, [second.id, first.id]);
    await databaseOf(app).execute(link, [first.id, second.id]);
    expect(await block(first)).toEqual([200]);
    expect(problemOf(await first.client.post('/api_keys', { name: 'x' }))).toEqual([403, 'forbidden']);
    expect(await app.app.get(KeyFuse).countBlown()).toBeGreaterThan(0);
  });
});

test('the rate limit counts the requests of all keys of a family together', async () => {
  const limited = await TestApp.on(app.database, { RATE_LIMIT_PER_MINUTE: '4' });
  try {
    const key = await made(app.key);
    const child = await made(key.client);
    const ask = async ({ client }: Key): Promise<number> =>
      (await limited.nobody.with(client.headers).get('/users/search')).status;
    const statuses = [await ask(key), await ask(child), await ask(key), await ask(child), await ask(child)];
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    expect(await ask(key)).toBe(429);
    expect(await ask(await made(app.key))).toBe(200);
  } finally {
    await limited.stop();
  }
});
