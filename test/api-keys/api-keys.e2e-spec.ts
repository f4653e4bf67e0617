import { expect, test } from '@jest/globals';
import { isMistyped } from '../../src/api-keys/api-keys.service.js';
import { setUpApp } from '../support/app/app.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import type { Json } from '../support/app/client.js';

/** Creating, listing, rotating and revoking API keys over REST. */
const app = setUpApp();

const createKey = async (body: object = { name: 'connector' }): Promise<Json> => {
  const answer = await app.key.post('/api_keys', body);
  expect(answer.status).toBe(201);
  return answer.body;
};
const readStatus = async (key: string) =>
  (await app.guest.with({ 'x-api-key': key }).get('/users/search')).status;
const findListed = async (id: string): Promise<Json> =>
  (await app.key.get('/api_keys')).body.Results.find((key: Json) => key.id === id);

test('the secret of a new API key is returned only once', async () => {
  const answer = await app.key.post('/api_keys', { name: '  HR   connector ', expires: '2999-01-31' });
  const { key, ...rest } = answer.body;
  expect(rest).toMatchObject({
    name: 'HR connector',
    state: 'active',
    expires: '2999-01-31T00:00:00.000Z',
    revoked: null,
    last_used: null,
  });
  expect(answer.headers).toMatchObject({
    location: `/api/0.3/api_keys/${rest.id as string}`,
    'cache-control': 'no-store',
  });
  expect([isMistyped(key), key.split('_')[1]]).toEqual([false, rest.id.slice(-12)]);
  expect(await readStatus(key)).toBe(200);
  const { last_used, last_address, ...known } = rest;
  expect({ last_used, last_address }).toEqual({ last_used: null, last_address: null });
  const found = await findListed(rest.id);
  expect(found).toMatchObject(known);
  expect(found.last_used).not.toBeNull();
  expect(found.last_address).toBe('127.0.0.1');
  expect(JSON.stringify((await app.key.get('/api_keys')).body)).not.toContain(key.slice(22, 65));
});

test('a revoked API key stops working immediately', async () => {
  const [old, next] = [await createKey(), await createKey()];
  expect(await readStatus(old.key)).toBe(200);
  expect(await readStatus(next.key)).toBe(200);
  const revoke = () => app.guest.with({ 'x-api-key': next.key }).delete(`/api_keys/${old.id as string}`);
  expect((await revoke()).status).toBe(204);
  expect(await readStatus(old.key)).toBe(401);
  expect(await readStatus(next.key)).toBe(200);
  expect((await revoke()).status).toBe(204);
  const { state, revoked } = await findListed(old.id);
  expect({ state, revoked: typeof revoked }).toEqual({ state: 'revoked', revoked: 'string' });
  const audit = await readAuditRows(app, old.id);
  const actions = audit.map(({ action }) => action);
  expect(actions).toEqual(['api_key.created', 'api_key.new_address', 'api_key.revoked']);
  expect(JSON.parse(audit[0]?.changes ?? '')).toEqual([
    { field: 'name', new: 'connector' },
    { field: 'expires', new: null },
    { field: 'scopes', new: null },
    { field: 'networks', new: null },
    { field: 'unknown_fields', new: 'refuse' },
    { field: 'profile', new: 'standard' },
  ]);
});

test('API keys are listed in pages, newest first', async () => {
  const created = [await createKey(), await createKey(), await createKey()];
  const { Count, Results } = (await app.key.get('/api_keys?limit=2&offset=1')).body;
  expect(Count).toBeGreaterThan(3);
  expect(Results.map(({ id }: Json) => id)).toEqual([created[1].id, created[0].id]);
});

test('the audit records the settings of a new API key', async () => {
  const bounds = { scopes: ['users:read'], networks: ['10.0.0.0/8'], expires: '2999-01-31T00:00:00.000Z' };
  const { id } = await createKey({ name: 'x', ...bounds, unknown_fields: 'ignore', profile: 'entra' });
  expect(JSON.parse((await readAuditRows(app, id))[0]?.changes ?? '')).toEqual([
    { field: 'name', new: 'x' },
    { field: 'expires', new: '2999-01-31 00:00:00.000' },
    { field: 'scopes', new: bounds.scopes },
    { field: 'networks', new: bounds.networks },
    { field: 'unknown_fields', new: 'ignore' },
    { field: 'profile', new: 'entra' },
  ]);
});
