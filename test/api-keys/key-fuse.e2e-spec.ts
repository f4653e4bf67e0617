import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Actor, FULL_RIGHTS, type KeyActor, SCOPES } from '../../src/access/actor.js';
import { Env } from '../../src/platform/config/env.js';
import { KeyFuse } from '../../src/api-keys/fuse/key-fuse.service.js';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import { UserWriter } from '../../src/users/writer/user-writer.service.js';
import { type TestApp, setUpApp } from '../support/app/app.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import type { Answer, Client, Json } from '../support/app/client.js';
import * as credentials from '../support/app/credentials.js';
import { ENGINE } from '../support/app/database.js';
import { update, writeUsers } from '../support/app/deletion.js';
import { traceStatements } from '../support/app/counting.js';
import { aUser, create } from '../support/data/factories.js';
import { databaseOf, inSeconds, problemOf } from '../support/app/people.js';

/** An API key that blocks too many users within an hour is stopped on all instances until its fuse is reset. */
const app = setUpApp();
let other: TestApp;
beforeAll(async () => void (other = await app.startOther()));
beforeEach(() => {
  setLimits(3, 0);
});

function setLimits(least: number, percent: number): void {
  for (const { app: instance } of [app, other]) {
    Object.assign(instance.get(Env), { FUSE_MIN: least, FUSE_PERCENT: percent });
  }
}

const aKey = async (): Promise<{ id: string; client: Client; elsewhere: Client }> => {
  const { id, key } = (await app.key.post('/api_keys', { name: 'connector' })).body;
  const header = { 'x-api-key': key as string };
  return { id, client: app.guest.with(header), elsewhere: other.guest.with(header) };
};
const createUsers = (count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, async () => (await create(app.key)).uuid as string));
const block = (client: Client, uuid: string): Promise<Answer> =>
  client.put(`/users/${uuid}`, { status: 'Blocked' });
const readStatus = async (uuid: string): Promise<string> =>
  (await app.key.get(`/users/${uuid}`)).body.status as string;
/** Blocks the users one after the other. */
async function blockAll(client: Client, uuids: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const uuid of uuids) statuses.push((await block(client, uuid)).status);
  return statuses;
}
async function countBlown(): Promise<number> {
  const { text } = await app.guest.fetch('GET', '/metrics');
  return Number(/^rollcall_api_key_fuses_blown (\d+)$/m.exec(text)?.[1]);
}
const readActions = async (id: string): Promise<string[]> =>
  (await readAuditRows(app, id)).map(({ action }) => action).filter((action) => action.includes('fuse'));

test('an API key that blocks too many users gets 429', async () => {
  const [before, { id, client, elsewhere }, uuids] = [await countBlown(), await aKey(), await createUsers(5)];
  expect(await blockAll(client, uuids.slice(0, 3))).toEqual([200, 200, 200]);
  const [, , , fourth = '', fifth = ''] = uuids;
  const refused = await block(elsewhere, fourth); // the count is shared by all instances
  expect(problemOf(refused)).toEqual([429, 'fuse_blown']);
  const seconds = Number(refused.headers['retry-after']);
  expect(seconds).toBeGreaterThan(3500);
  expect(seconds).toBeLessThanOrEqual(3600);
  expect(refused.body.detail).toContain(id);
  expect([(await block(client, fourth)).status, (await block(client, fifth)).status]).toEqual([429, 429]);
  expect(await readStatus(fourth)).toBe('Active');
  expect(await readStatus(fifth)).toBe('Active');
  expect(await readActions(id)).toEqual(['api_key.fuse_blown']);
  expect(JSON.parse((await readAuditRows(app, id)).at(-1)?.changes ?? '')).toEqual([
    { field: 'deactivations', new: 4 },
    { field: 'limit', new: 3 },
  ]);
  expect(await countBlown()).toBe(before + 1);
});

test('a blown fuse prevents only its API key from blocking users', async () => {
  const [{ client }, { client: another }, uuids] = [await aKey(), await aKey(), await createUsers(6)];
  const [first = '', , , fourth = '', fifth = '', sixth = ''] = uuids;
  expect(await blockAll(client, uuids.slice(0, 4))).toEqual([200, 200, 200, 429]);
  expect((await client.put(`/users/${fourth}`, { phone: '1' })).status).toBe(200);
  expect((await client.put(`/users/${first}`, { status: 'Active' })).status).toBe(200);
  expect((await block(client, uuids[1] ?? '')).status).toBe(200); // this user is already blocked
  expect((await client.post('/users', aUser({ status: 'Blocked' }))).status).toBe(201);
  expect((await block(another, fourth)).status).toBe(200);
  expect((await block(await app.login(), fifth)).status).toBe(200);
  expect((await block(client, sixth)).status).toBe(429);
});

test('a reset turns the key fuse off for one hour', async () => {
  const [{ id, client }, uuids] = [await aKey(), await createUsers(12)];
  await blockAll(client, uuids.slice(0, 4));
  const before = await countBlown();
  const isBlown = async (): Promise<boolean> =>
    (await app.key.get('/api_keys?limit=100')).body.Results.find((key: Json) => key.id === id).fuse_blown;
  expect(await isBlown()).toBe(true);
  const answer = await (await app.login()).post(`/api_keys/${id}/fuse`);
  expect(await isBlown()).toBe(false);
  expect(answer.status).toBe(200);
  expect(answer.body.key_id).toBe(id);
  const hour = Date.parse(answer.body.open_until) - Date.now();
  expect(hour).toBeGreaterThan(3_590_000);
  expect(hour).toBeLessThanOrEqual(3_600_000);
  expect(await countBlown()).toBe(before - 1);
  expect(await blockAll(client, uuids.slice(3, 8))).toEqual(Array(5).fill(200));
  expect(await readActions(id)).toEqual(['api_key.fuse_blown', 'api_key.fuse_reset']);
  // After that hour, the fuse can blow again.
  const database = databaseOf(app);
  await database.execute('UPDATE key_deactivations SET time = ? WHERE key_id = ?', [inSeconds(-20), id]);
  await database.execute('UPDATE key_fuses SET open_until = ? WHERE key_id = ?', [inSeconds(-10), id]);
  expect(await blockAll(client, uuids.slice(8, 12))).toEqual([200, 200, 200, 429]);
  expect(await readActions(id)).toEqual(['api_key.fuse_blown', 'api_key.fuse_reset', 'api_key.fuse_blown']);
});

test('an API key cannot reset its own fuse', async () => {
  const [{ id, client }, uuids] = [await aKey(), await createUsers(5)];
  await blockAll(client, uuids.slice(0, 4));
  const reset = async (by: Client) => by.post(`/api_keys/${id.toUpperCase()}/fuse`);
  expect(problemOf(await reset(client))).toEqual([403, 'forbidden']);
  const { client: limited } = await credentials.aKey(app, ...SCOPES);
  expect(problemOf(await reset(limited))).toEqual([403, 'insufficient_scope']);
  expect((await block(client, uuids[3] ?? '')).status).toBe(429);
  expect((await reset((await aKey()).client)).status).toBe(200);
  expect((await block(client, uuids[3] ?? '')).status).toBe(200);
});

test('an API key created by another API key has its own fuse', async () => {
  const [{ client }, uuids] = [await aKey(), await createUsers(5)];
  await blockAll(client, uuids.slice(0, 4));
  const { key } = (await client.post('/api_keys', { name: 'x' })).body;
  expect((await block(app.guest.with({ 'x-api-key': key as string }), uuids[3] ?? '')).status).toBe(200);
  expect((await block(client, uuids[4] ?? '')).status).toBe(429);
});

test('concurrent requests exceed a fuse limit by at most one user each', async () => {
  const RACERS = 6;
  const [{ id, client, elsewhere }, waiting] = [await aKey(), await createUsers(18)];
  let blocked = 0;
  const race = async (by: Client): Promise<void> => {
    for (let uuid = waiting.pop(); uuid !== undefined; uuid = waiting.pop()) {
      const { status } = await block(by, uuid);
      expect([200, 429]).toContain(status);
      expect(await readStatus(uuid)).toBe(status === 200 ? 'Blocked' : 'Active');
      if (status === 200) blocked++;
    }
  };
  await Promise.all(Array.from({ length: RACERS }, (_, i) => race(i % 2 === 0 ? client : elsewhere)));
  expect(blocked).toBeGreaterThanOrEqual(3);
  // On SQLite, which has one writer, the limit is exact.
  expect(blocked).toBeLessThanOrEqual(ENGINE === 'sqlite' ? 3 : 3 + RACERS - 1);
  expect(await readActions(id)).toEqual(['api_key.fuse_blown']);
});

test('the key fuse counts only users blocked in the last hour', async () => {
  const [{ id, client }, uuids] = [await aKey(), await createUsers(5)];
  await blockAll(client, uuids.slice(0, 4));
  const age = 'UPDATE key_deactivations SET time = ? WHERE key_id = ? AND user_uuid = ?';
  await databaseOf(app).execute(age, [inSeconds(-3590), id, uuids[1] ?? '']);
  const refused = await block(client, uuids[3] ?? '');
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(10);
  await databaseOf(app).execute(age, [inSeconds(-3601), id, uuids[0] ?? '']);
  expect(await blockAll(client, uuids.slice(3))).toEqual([200, 429]);
  await app.app.get(KeyFuse).purge();
  const left = 'SELECT user_uuid FROM key_deactivations WHERE key_id = ?';
  expect(await databaseOf(app).query(left, [id])).toHaveLength(3);
});

test('FUSE_PERCENT is a percentage of users active before the first block', async () => {
  const [{ client }, uuids] = [await aKey(), await createUsers(8)];
  const { Count: active } = (await app.key.get('/users/search?status=Active&limit=1')).body;
  setLimits(1, Math.ceil(600 / (active as number))); // a little more than six users
  const allowed = Math.floor((active * Math.ceil(600 / (active as number))) / 100);
  expect(allowed).toBeGreaterThan(1);
  expect(await blockAll(client, uuids)).toEqual(uuids.map((_, i) => (i < allowed ? 200 : 429)));
});

test('FUSE_MIN=0 turns the fuse of API keys off', async () => {
  setLimits(0, 10);
  const [{ client }, uuids] = [await aKey(), await createUsers(5)];
  expect(await blockAll(client, uuids)).toEqual(Array(5).fill(200));
});

const buildKeyActor = (id: string): KeyActor => ({
  kind: 'key',
  id,
  rights: FULL_RIGHTS,
  ignoresUnknownFields: false,
  profile: 'standard',
});

test('every user blocked by a change set counts towards the key fuse', async () => {
  const [{ id }, uuids] = [await aKey(), await createUsers(4)];
  const caller = { actor: buildKeyActor(id), requestId: 'test', ip: '' };
  const changes = uuids.map((uuid) => update(uuid, { status: 'Blocked' }));
  const apply = (set: typeof changes) => writeUsers(app, set, caller);
  await expect(apply(changes)).rejects.toMatchObject({ code: 'fuse_blown', count: 4, limit: 3 });
  expect(await Promise.all(uuids.map(readStatus))).toEqual(Array(4).fill('Active'));
  await apply(changes.slice(1));
  expect(await Promise.all(uuids.map(readStatus))).toEqual(['Active', 'Blocked', 'Blocked', 'Blocked']);
});

test('the key fuse adds SQL statements only to changes that block users', async () => {
  const [{ id }, [uuid = '']] = [await aKey(), await createUsers(1)];
  const runChange = async (kind: 'key' | 'system', patch: object): Promise<string[]> =>
    app.app.get(TransactionRunner).run(async (tx) => {
      const { sql, statements } = traceStatements(tx);
      const actor: Actor = kind === 'key' ? buildKeyActor(id) : { kind, id: null };
      await app.app.get(UserWriter).apply(sql, [update(uuid, patch)], { actor, requestId: 'x', ip: '' });
      // A change within the same millisecond as the previous change does not set `updated`.
      return statements.map((text) => text.replace(/ SET .*/, ' SET'));
    });
  expect(await runChange('key', { phone: '1' })).toEqual(await runChange('system', { phone: '2' }));
  const blocking = await runChange('key', { status: 'Blocked' });
  expect(blocking.filter((text) => text.includes('key_deactivations'))).toHaveLength(1); // the second statement is cut before its table name
  await runChange('system', { status: 'Active' });
  expect(blocking.length).toBe((await runChange('system', { status: 'Blocked' })).length + 2);
});
