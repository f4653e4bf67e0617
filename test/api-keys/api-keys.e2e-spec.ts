import { beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPES } from '../../src/access/actor.js';
import { setUpApp } from '../support/app/app.js';
import type { Answer, Client, Json } from '../support/app/client.js';
import { databaseOf, inSeconds } from '../support/app/people.js';
import { isMistyped } from '../../src/api-keys/api-keys.service.js';
import { readAuditRows } from '../support/app/audit-rows.js';

/** API keys over REST, and their limits. An API key cannot create a key with more rights than its own. */
const app = setUpApp({ TRUST_PROXY: 'loopback' });

async function createKey(body: object, client: Client = app.key): Promise<{ client: Client; key: Json }> {
  const answer = await client.post('/api_keys', { name: 'narrow', ...body });
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  return { client: app.guest.with({ 'x-api-key': answer.body.key as string }), key: answer.body };
}
/** Reads an API key in the list of all keys. */
const findListed = async ({ id }: Json): Promise<Json> =>
  (await app.key.get('/api_keys?limit=100')).body.Results.find((key: Json) => key.id === id);
const readStatus = async (client: Client): Promise<number> => (await client.get('/users/search')).status;
const withIp = (client: Client, ip: string): Client => client.with({ 'x-forwarded-for': ip });
const errorOf = ({ status, body }: Answer): [number, string, string] => [status, body.code, body.detail];

describe('a new API key', () => {
  test('is returned and listed with its settings', async () => {
    const scopes = ['users:read', 'imports:write:hr'];
    const settings = { scopes, unknown_fields: 'ignore', profile: 'midpoint' };
    const networks = ['10.0.0.0/8', '::ffff:192.0.2.1', '2001:DB8::/32'];
    const { key } = await createKey({ ...settings, networks });
    const stored = ['10.0.0.0/8', '192.0.2.1/32', '2001:db8::/32'];
    const limits = { ...settings, networks: stored, expires: null, last_address: null };
    expect(key).toMatchObject(limits);
    expect(await findListed(key)).toMatchObject(limits);
  });

  test.each([[{}], [{ scopes: null, networks: null, expires: null, unknown_fields: null, profile: null }]])(
    'has all permissions if it is created with %j',
    async (body) => {
      const { key, client } = await createKey(body);
      const unlimited = { scopes: null, networks: null, expires: null };
      expect(key).toMatchObject({ ...unlimited, unknown_fields: 'refuse', profile: 'standard' });
      expect((await client.post('/api_keys', { name: 'as wide' })).status).toBe(201);
    },
  );

  test.each<[object, string, string]>([
    [{ name: undefined }, 'name', 'required'],
    [{ name: ' ' }, 'name', 'blank'],
    [{ expires: 'tomorrow' }, 'expires', 'invalid_format'],
    [{ expires: '2999-02-30' }, 'expires', 'invalid_format'],
    [{ expires: '2020-01-01T00:00:00Z' }, 'expires', 'invalid_value'],
    [{ scopes: 'users:read' }, 'scopes', 'invalid_type'],
    [{ scopes: ['users:read', 'users:read'] }, 'scopes', 'invalid_value'],
    [{ scopes: ['users:reed'] }, 'scopes', 'invalid_value'],
    [{ scopes: ['*'] }, 'scopes', 'invalid_value'],
    [{ scopes: ['imports:write:a b'] }, 'scopes', 'invalid_value'],
    [{ scopes: ['imports:read:hr'] }, 'scopes', 'invalid_value'],
    [{ networks: '10.0.0.0/8' }, 'networks', 'invalid_type'],
    [{ networks: ['10.1.2.3/8'] }, 'networks', 'invalid_format'],
    [{ networks: ['10.0.0.1', '::ffff:10.0.0.1'] }, 'networks', 'invalid_value'],
    [{ unknown_fields: 'drop' }, 'unknown_fields', 'invalid_value'],
    [{ profile: 'Entra' }, 'profile', 'invalid_value'],
  ])('is refused with 422 for %j', async (body, field, code) => {
    const before = (await app.key.get('/api_keys')).body.Count;
    const answer = await app.key.post('/api_keys', { name: 'x', ...body });
    expect([answer.status, answer.body.errors]).toMatchObject([422, [{ field, code }]]);
    expect((await app.key.get('/api_keys')).body.Count).toBe(before);
  });

  test('names its creator in the field maker', async () => {
    const webmaster = await app.login();
    const { uuid } = (await webmaster.get('/users/me')).body;
    const byUser = await createKey({}, webmaster);
    expect(byUser.key.maker).toEqual({ kind: 'user', id: uuid });
    const byKey = await createKey({}, byUser.client);
    expect(byKey.key.maker).toEqual({ kind: 'key', id: byUser.key.id });
    const { Results } = (await app.key.get('/api_keys?limit=100')).body;
    expect(Results.at(-1)).toMatchObject({ name: 'first key', maker: { kind: 'system', id: null } });
  });
});

describe('an API key with scopes', () => {
  test.each([
    ['every scope', [...SCOPES]],
    ['the former scope keys:write', ['keys:write', 'users:read']],
  ])('cannot manage keys, even with %s', async (_, scopes) => {
    const { client, key } = await createKey({ scopes: ['users:read'] });
    const store = 'UPDATE api_keys SET scopes = ? WHERE id = ?';
    await databaseOf(app).execute(store, [JSON.stringify(scopes), key.id]);
    for (const answer of [
      await client.get('/api_keys'),
      await client.post('/api_keys', { name: 'x', scopes: ['users:read'] }),
      await client.delete(`/api_keys/${key.id as string}`),
    ])
      expect(errorOf(answer)).toEqual([403, 'insufficient_scope', expect.stringContaining('without scopes')]);
    expect(await findListed(key)).toMatchObject({ scopes, state: 'active' });
    expect(await readStatus(client)).toBe(200);
  });
});

describe('a limited API key', () => {
  const OWN = { networks: ['10.0.0.0/8', '2001:db8::/32'], expires: '2999-01-31T00:00:00.000Z' };
  const narrower = { scopes: ['users:read'], networks: ['10.1.0.0/16'], expires: '2998-01-31' };
  let maker: Client;
  beforeAll(async () => void (maker = withIp((await createKey(OWN)).client, '10.9.9.9')));

  test.each<[string, object]>([
    ['the same limits', OWN],
    ['narrower limits', narrower],
    ['single addresses from its own networks', { ...narrower, networks: ['10.0.0.1', '2001:db8::1'] }],
    ['unknown_fields set to ignore', { ...narrower, unknown_fields: 'ignore' }],
  ])('can create a key with %s', async (_, body) => {
    expect((await maker.post('/api_keys', { name: 'x', ...body })).status).toBe(201);
  });

  test.each<[string, object, string, RegExp]>([
    ['another network', { networks: ['11.0.0.0/8'] }, 'network_not_permitted', /10\.0\.0\.0\/8/],
    ['a wider network', { networks: ['10.0.0.0/7'] }, 'network_not_permitted', /10\.0\.0\.0\/8/],
    ['an additional network', { networks: ['10.0.0.1', '1.1.1.1'] }, 'network_not_permitted', /2001:db8/],
    ['networks set to null', { networks: null }, 'network_not_permitted', /10\.0\.0\.0\/8/],
    ['networks omitted', { networks: undefined }, 'network_not_permitted', /10\.0\.0\.0\/8/],
    ['a later expiry', { expires: '2999-01-31T00:00:00.001Z' }, 'insufficient_scope', /2999-01-31/],
    ['expires set to null', { expires: null }, 'insufficient_scope', /2999-01-31/],
    ['expires omitted', { expires: undefined }, 'insufficient_scope', /2999-01-31/],
  ])('cannot create a key with %s', async (_, body, code, detail) => {
    const before = (await app.key.get('/api_keys')).body.Count;
    const answer = await maker.post('/api_keys', { name: 'x', ...narrower, ...body });
    expect(errorOf(answer)).toEqual([403, code, expect.stringMatching(detail)]);
    expect((await app.key.get('/api_keys')).body.Count).toBe(before);
  });
});

describe('an API key with networks', () => {
  test('is refused from other networks before body parsing', async () => {
    const { client } = await createKey({ networks: ['10.0.0.0/8'] });
    for (const ip of ['10.1.2.3', '::ffff:10.1.2.3', '::ffff:a01:203']) {
      expect((await withIp(client, ip).get('/users/search')).status).toBe(200);
    }
    for (const ip of ['11.0.0.1', '2001:db8::1', '::10.0.0.1']) {
      const refused = await withIp(client, ip).send('POST', '/users', '{');
      const detail = expect.stringContaining(`from ${ip}.`);
      expect(errorOf(refused)).toEqual([403, 'network_not_permitted', detail]);
    }
    expect((await withIp(client, '11.0.0.1').get('/status')).status).toBe(200);
  });

  test('updates last_used at most once a minute', async () => {
    const { client, key } = await createKey({ networks: ['10.0.0.0/8'] });
    const readLastUse = async () => {
      const { last_used, last_address } = await findListed(key);
      return [last_used, last_address];
    };
    await withIp(client, '11.0.0.1').get('/users/search');
    expect(await readLastUse()).toEqual([null, null]);
    await withIp(client, '10.0.0.1').get('/users/search');
    expect(await readLastUse()).toEqual([expect.stringMatching(/Z$/), '10.0.0.1']);
    await withIp(client, '10.0.0.2').get('/users/search');
    expect((await readLastUse())[1]).toBe('10.0.0.1');
    await databaseOf(app).execute('UPDATE api_keys SET last_used = ? WHERE id = ?', [inSeconds(-61), key.id]);
    await withIp(client, '10.0.0.2').get('/users/search');
    expect((await readLastUse())[1]).toBe('10.0.0.2');
  });
});

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
  expect(await readStatus(app.guest.with({ 'x-api-key': key }))).toBe(200);
  const { last_used, last_address, ...known } = rest;
  expect({ last_used, last_address }).toEqual({ last_used: null, last_address: null });
  const found = await findListed(rest);
  expect(found).toMatchObject(known);
  expect(found.last_used).not.toBeNull();
  expect(found.last_address).toBe('127.0.0.1');
  expect(JSON.stringify((await app.key.get('/api_keys')).body)).not.toContain(key.slice(22, 65));
});

test('a revoked API key stops working immediately', async () => {
  const [{ key, client: old }, { client: next }] = [await createKey({}), await createKey({})];
  expect(await readStatus(old)).toBe(200);
  expect(await readStatus(next)).toBe(200);
  const revoke = () => next.delete(`/api_keys/${key.id as string}`);
  expect((await revoke()).status).toBe(204);
  expect(await readStatus(old)).toBe(401);
  expect(await readStatus(next)).toBe(200);
  expect((await revoke()).status).toBe(204);
  const { state, revoked } = await findListed(key);
  expect({ state, revoked: typeof revoked }).toEqual({ state: 'revoked', revoked: 'string' });
  const audit = await readAuditRows(app, key.id);
  const actions = audit.map(({ action }) => action);
  expect(actions).toEqual(['api_key.created', 'api_key.new_address', 'api_key.revoked']);
  expect(JSON.parse(audit[0]?.changes ?? '')).toEqual([
    { field: 'name', new: 'narrow' },
    { field: 'expires', new: null },
    { field: 'scopes', new: null },
    { field: 'networks', new: null },
    { field: 'unknown_fields', new: 'refuse' },
    { field: 'profile', new: 'standard' },
  ]);
});

test('API keys are listed in pages, newest first', async () => {
  const created = [await createKey({}), await createKey({}), await createKey({})];
  const { Count, Results } = (await app.key.get('/api_keys?limit=2&offset=1')).body;
  expect(Count).toBeGreaterThan(3);
  expect(Results.map(({ id }: Json) => id)).toEqual([created[1]?.key.id, created[0]?.key.id]);
});

test('the audit records the settings of a new API key', async () => {
  const bounds = { scopes: ['users:read'], networks: ['10.0.0.0/8'], expires: '2999-01-31T00:00:00.000Z' };
  const { key } = await createKey({ name: 'x', ...bounds, unknown_fields: 'ignore', profile: 'entra' });
  expect(JSON.parse((await readAuditRows(app, key.id))[0]?.changes ?? '')).toEqual([
    { field: 'name', new: 'x' },
    { field: 'expires', new: '2999-01-31 00:00:00.000' },
    { field: 'scopes', new: bounds.scopes },
    { field: 'networks', new: bounds.networks },
    { field: 'unknown_fields', new: 'ignore' },
    { field: 'profile', new: 'entra' },
  ]);
});
