import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { TestApp, setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { errorOf, provision, createScimClient, scimOf } from '../support/app/scim.js';
import { group, patch, post, remove, sendBulk as send, statusesOf } from '../support/app/scim-bulk.js';

/** Permissions of API keys in Bulk requests, and repeated Bulk requests. */
const app = setUpApp();
const scim = scimOf(app);

describe('a Bulk request', () => {
  test('permits only operations within the scopes of the key', async () => {
    const key = await createScimClient(app, { scopes: ['users:write'] });
    const { body } = await send(key, [post('a'), group('g'), post('b')]);
    expect(statusesOf(body.Operations)).toEqual(['201', '403', '201']);
  });

  test('with an entra key returns 204 for a PATCH', async () => {
    const { id } = await provision(scim);
    const { body } = await send(await createScimClient(app, { profile: 'entra' }), [patch(id, 'title', 'T')]);
    expect(statusesOf(body.Operations)).toEqual(['204']);
  });
});

describe('a Bulk request with an Idempotency-Key', () => {
  test('takes effect only once', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const operations = [post('a'), post('b', { userName: '' }), group('g', 'bulkId:a')];
    const first = await send(scim, operations, {}, headers);
    const second = await send(scim, operations, {}, headers);
    expect(first.body.detail).toBeUndefined();
    expect(statusesOf(first.body.Operations)).toEqual(['201', '400', '201']);
    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect((await send(scim, [post('c')], {}, headers)).status).toBe(422);
  });

  test('creates each resource once if sent concurrently', async () => {
    const operations = Array.from({ length: 60 }, (_, index) => post(`u${index}`));
    operations.push(group('g', 'bulkId:u0'), ...Array.from({ length: 20 }, (_, index) => post(`v${index}`)));
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all([0, 1, 2].map(() => send(scim, operations, {}, headers)));
    for (const { status, body } of answers) {
      expect([status, body.detail]).toEqual([200, undefined]);
      expect(body).toEqual(answers[0]?.body);
    }
    expect(new Set(statusesOf(answers[0]?.body.Operations))).toEqual(new Set(['201']));
  });
});

test.each([
  ['blocks', 'patch'],
  ['deletes', 'delete'],
])('a key with a blown fuse gets 429 if it %s a user', async (_, how) => {
  const fused = await TestApp.startOn(app.database, { FUSE_MIN: '2', FUSE_PERCENT: '0' });
  try {
    const provider = await createScimClient(fused, { scopes: ['users:read', 'users:write'] });
    const users: Json[] = [];
    for (let made = 0; made < 4; made++) users.push(await provision(provider));
    const buildEnd = ({ id }: Json) => (how === 'delete' ? remove(id) : patch(id, 'active', false));
    const operations = users.flatMap((user, index) => [buildEnd(user), post(`p${index}`)]);
    const { body } = await send(provider, operations);
    const done = how === 'delete' ? '204' : '200';
    expect(statusesOf(body.Operations)).toEqual([done, '201', done, '201', '429', '201', '429', '201']);
    const path = `/Users/${users[2].id}`;
    const alone = await (how === 'delete'
      ? provider.delete(path)
      : provider.patch(path, { op: 'replace', path: 'active', value: false }));
    expect(errorOf(alone).slice(0, 2)).toEqual([429, undefined]);
    expect(Number(alone.headers['retry-after'])).toBeGreaterThan(0);
    expect((await provider.get(path)).body.active).toBe(true);
  } finally {
    await fused.stop();
  }
});
