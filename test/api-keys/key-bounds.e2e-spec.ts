import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { auditRows } from '../support/app/audit-rows.js';
import type { Client } from '../support/app/client.js';
import { problemOf } from '../support/app/people.js';

/** What a limited key may not do, no key that it makes may; the audit names what each may. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

interface Key {
  id: string;
  client: Client;
}
const LIMITED = { scopes: ['users:read', 'keys:write'] };
async function made(by: Client, body: object = LIMITED): Promise<Key> {
  const answer = await by.post('/api_keys', { name: 'x', ...body });
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  return { id: answer.body.id, client: app.nobody.with({ 'x-api-key': answer.body.key as string }) };
}

test('a limited key that refuses unknown fields makes none that ignores them', async () => {
  const key = await made(app.key);
  const ignoring = { scopes: ['users:read'], unknown_fields: 'ignore' };
  const refused = await key.client.post('/api_keys', { name: 'x', ...ignoring });
  expect([problemOf(refused), refused.body.detail]).toEqual([
    [403, 'insufficient_scope'],
    expect.stringContaining('unknown_fields'),
  ]);
  const child = await made(key.client, { scopes: ['keys:write', 'users:read'] });
  expect((await child.client.post('/api_keys', { name: 'x', ...ignoring })).status).toBe(403);
  const able = await made(app.key, { scopes: ['keys:write', 'users:read'], unknown_fields: 'ignore' });
  expect((await able.client.post('/api_keys', { name: 'x', ...ignoring })).status).toBe(201);
});

test('the audit names every bound of a key as it is made', async () => {
  const bounds = {
    scopes: ['users:read'],
    networks: ['10.0.0.0/8'],
    expires: '2999-01-31T00:00:00.000Z',
    unknown_fields: 'ignore',
    profile: 'entra',
  };
  const changesOf = async ({ id }: Key): Promise<unknown> =>
    JSON.parse((await auditRows(app, id))[0]?.changes ?? '');
  expect(await changesOf(await made(app.key, bounds))).toEqual([
    { field: 'name', new: 'x' },
    { field: 'expires', new: '2999-01-31 00:00:00.000' },
    { field: 'scopes', new: bounds.scopes },
    { field: 'networks', new: bounds.networks },
    { field: 'unknown_fields', new: 'ignore' },
    { field: 'profile', new: 'entra' },
  ]);
  expect(await changesOf(await made(app.key, {}))).toEqual([
    { field: 'name', new: 'x' },
    { field: 'expires', new: null },
    { field: 'scopes', new: null },
    { field: 'networks', new: null },
    { field: 'unknown_fields', new: 'refuse' },
    { field: 'profile', new: 'standard' },
  ]);
});

test('the requests of a family are counted together', async () => {
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
