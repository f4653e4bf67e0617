import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPES } from '../../src/access/actor.js';
import { TestApp } from '../support/app/app.js';
import type { Answer, Client, Json } from '../support/app/client.js';
import { databaseOf, inSeconds } from '../support/app/people.js';

/** Keys that are limited: what may be asked for, and that no key makes one that can do more than itself. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start({ TRUST_PROXY: 'loopback' })));
afterAll(() => app.end());

async function made(body: object, client: Client = app.key): Promise<{ client: Client; key: Json }> {
  const answer = await client.post('/api_keys', { name: 'narrow', ...body });
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  return { client: app.nobody.with({ 'x-api-key': answer.body.key as string }), key: answer.body };
}
const at = (client: Client, ip: string): Client => client.with({ 'x-forwarded-for': ip });
const refusal = ({ status, body }: Answer): [number, string, string] => [status, body.code, body.detail];

describe('a key as it is made', () => {
  test('shows its limits, in the answer and in the list', async () => {
    const { key } = await made({
      scopes: ['users:read', 'imports:write:hr'],
      networks: ['10.0.0.0/8', '::ffff:192.0.2.1', '2001:DB8::/32'],
      unknown_fields: 'ignore',
      profile: 'midpoint',
    });
    const limits = {
      scopes: ['users:read', 'imports:write:hr'],
      networks: ['10.0.0.0/8', '192.0.2.1/32', '2001:db8::/32'],
      unknown_fields: 'ignore',
      profile: 'midpoint',
      expires: null,
      last_address: null,
    };
    expect(key).toMatchObject(limits);
    const { Results } = (await app.key.get('/api_keys')).body;
    expect(Results.find(({ id }: Json) => id === key.id)).toMatchObject(limits);
  });

  test.each([[{}], [{ scopes: null, networks: null, expires: null, unknown_fields: null, profile: null }]])(
    'has the full Webmaster level with %j',
    async (body) => {
      const { key, client } = await made(body);
      expect(key).toMatchObject({
        scopes: null,
        networks: null,
        expires: null,
        unknown_fields: 'refuse',
        profile: 'standard',
      });
      expect((await client.post('/api_keys', { name: 'as wide' })).status).toBe(201);
    },
  );

  test.each<[object, string, string]>([
    [{ name: undefined }, 'name', 'required'],
    [{ name: ' ' }, 'name', 'blank'],
    [{ name: 5 }, 'name', 'invalid_type'],
    [{ name: 'x'.repeat(256) }, 'name', 'too_long'],
    [{ expires: 'tomorrow' }, 'expires', 'invalid_format'],
    [{ expires: 5 }, 'expires', 'invalid_type'],
    [{ expires: '2999-02-30' }, 'expires', 'invalid_format'],
    [{ expires: '2020-01-01T00:00:00Z' }, 'expires', 'invalid_value'],
    [{ scopes: 'users:read' }, 'scopes', 'invalid_type'],
    [{ scopes: [5] }, 'scopes', 'invalid_type'],
    [{ scopes: [] }, 'scopes', 'too_short'],
    [{ scopes: Array.from({ length: 33 }, (_, n) => `imports:write:d${n}`) }, 'scopes', 'too_long'],
    [{ scopes: ['users:read', 'users:read'] }, 'scopes', 'invalid_value'],
    [{ scopes: ['users:reed'] }, 'scopes', 'invalid_value'],
    [{ scopes: ['USERS:READ'] }, 'scopes', 'invalid_value'],
    [{ scopes: ['*'] }, 'scopes', 'invalid_value'],
    [{ scopes: ['keys:write'] }, 'scopes', 'invalid_value'],
    [{ scopes: ['imports:write:'] }, 'scopes', 'invalid_value'],
    [{ scopes: ['imports:write:a b'] }, 'scopes', 'invalid_value'],
    [{ scopes: ['imports:read:hr'] }, 'scopes', 'invalid_value'],
    [{ networks: [] }, 'networks', 'too_short'],
    [{ networks: '10.0.0.0/8' }, 'networks', 'invalid_type'],
    [{ networks: [null] }, 'networks', 'invalid_type'],
    [{ networks: ['10.1.2.3/8'] }, 'networks', 'invalid_format'],
    [{ networks: ['10.0.0.1', '::ffff:10.0.0.1'] }, 'networks', 'invalid_value'],
    [{ unknown_fields: 'drop' }, 'unknown_fields', 'invalid_value'],
    [{ unknown_fields: true }, 'unknown_fields', 'invalid_type'],
    [{ profile: 'Entra' }, 'profile', 'invalid_value'],
    [{ profile: [] }, 'profile', 'invalid_type'],
    [{ scope: ['users:read'] }, 'scope', 'unknown_field'],
  ])('is refused with %j', async (body, field, code) => {
    const before = (await app.key.get('/api_keys')).body.Count;
    const answer = await app.key.post('/api_keys', { name: 'x', ...body });
    expect([answer.status, answer.body.errors]).toMatchObject([422, [{ field, code }]]);
    expect((await app.key.get('/api_keys')).body.Count).toBe(before);
  });

  test('names its maker: a user, a key, or the service', async () => {
    const webmaster = await app.login();
    const { uuid } = (await webmaster.get('/users/me')).body;
    const byUser = await made({}, webmaster);
    expect(byUser.key.maker).toEqual({ kind: 'user', id: uuid });
    const byKey = await made({}, byUser.client);
    expect(byKey.key.maker).toEqual({ kind: 'key', id: byUser.key.id });
    const { Results } = (await app.key.get('/api_keys?limit=100')).body;
    expect(Results.at(-1)).toMatchObject({ name: 'first key', maker: { kind: 'system', id: null } });
  });
});

describe('a key with scopes', () => {
  test.each([
    ['every scope', [...SCOPES]],
    ['the scope keys:write of an earlier version', ['keys:write', 'users:read']],
  ])('with %s neither lists, creates nor revokes keys', async (_, scopes) => {
    const { client, key } = await made({ scopes: ['users:read'] });
    const store = 'UPDATE api_keys SET scopes = ? WHERE id = ?';
    await databaseOf(app).execute(store, [JSON.stringify(scopes), key.id]);
    for (const answer of [
      await client.get('/api_keys'),
      await client.post('/api_keys', { name: 'x', scopes: ['users:read'] }),
      await client.delete(`/api_keys/${key.id as string}`),
    ])
      expect(refusal(answer)).toEqual([403, 'insufficient_scope', expect.stringContaining('without scopes')]);
    const { Results } = (await app.key.get('/api_keys?limit=100')).body;
    expect(Results.find(({ id }: Json) => id === key.id)).toMatchObject({ scopes, state: 'active' });
    expect((await client.get('/users/search')).status).toBe(200);
  });
});

describe('a key without scopes, but with networks and an end, creates no key that can do more', () => {
  const OWN = { networks: ['10.0.0.0/8', '2001:db8::/32'], expires: '2999-01-31T00:00:00.000Z' };
  const narrower = { scopes: ['users:read'], networks: ['10.1.0.0/16'], expires: '2998-01-31' };
  let maker: Client;
  beforeAll(async () => void (maker = at((await made(OWN)).client, '10.9.9.9')));

  test.each<[string, object]>([
    ['the same', OWN],
    ['less of everything', narrower],
    ['one address of a network', { ...narrower, networks: ['10.0.0.1', '2001:db8::1'] }],
    ['unknown fields ignored', { ...narrower, unknown_fields: 'ignore' }],
  ])('%s is created', async (_, body) => {
    expect((await maker.post('/api_keys', { name: 'x', ...body })).status).toBe(201);
  });

  test.each<[string, object, string, RegExp]>([
    ['another network', { networks: ['11.0.0.0/8'] }, 'network_not_permitted', /10\.0\.0\.0\/8/],
    ['a wider network', { networks: ['10.0.0.0/7'] }, 'network_not_permitted', /10\.0\.0\.0\/8/],
    ['one more network', { networks: ['10.0.0.1', '1.1.1.1'] }, 'network_not_permitted', /2001:db8/],
    ['any network', { networks: null }, 'network_not_permitted', /10\.0\.0\.0\/8/],
    ['networks left out', { networks: undefined }, 'network_not_permitted', /10\.0\.0\.0\/8/],
    ['a later end', { expires: '2999-01-31T00:00:00.001Z' }, 'insufficient_scope', /2999-01-31/],
    ['no end', { expires: null }, 'insufficient_scope', /2999-01-31/],
    ['the end left out', { expires: undefined }, 'insufficient_scope', /2999-01-31/],
  ])('%s is refused', async (_, body, code, detail) => {
    const before = (await app.key.get('/api_keys')).body.Count;
    const answer = await maker.post('/api_keys', { name: 'x', ...narrower, ...body });
    expect(refusal(answer)).toEqual([403, code, expect.stringMatching(detail)]);
    expect((await app.key.get('/api_keys')).body.Count).toBe(before);
  });
});

describe('a key of networks', () => {
  test('works from them and from nowhere else, before anything of the request is read', async () => {
    const { client } = await made({ networks: ['10.0.0.0/8'] });
    for (const ip of ['10.1.2.3', '::ffff:10.1.2.3', '::ffff:a01:203']) {
      expect((await at(client, ip).get('/users/search')).status).toBe(200);
    }
    for (const ip of ['11.0.0.1', '2001:db8::1', '::10.0.0.1']) {
      const refused = await at(client, ip).send('POST', '/users', '{');
      expect(refusal(refused)).toEqual([
        403,
        'network_not_permitted',
        expect.stringContaining(`from ${ip}.`),
      ]);
    }
    expect((await at(client, '11.0.0.1').get('/status')).status).toBe(200);
  });

  test('the last use and its address are noted to the minute, and a refused use is not', async () => {
    const { client, key } = await made({ networks: ['10.0.0.0/8'] });
    const noted = async () => {
      const { Results } = (await app.key.get('/api_keys')).body;
      const { last_used, last_address } = Results.find(({ id }: Json) => id === key.id);
      return [last_used, last_address];
    };
    await at(client, '11.0.0.1').get('/users/search');
    expect(await noted()).toEqual([null, null]);
    await at(client, '10.0.0.1').get('/users/search');
    expect(await noted()).toEqual([expect.stringMatching(/Z$/), '10.0.0.1']);
    await at(client, '10.0.0.2').get('/users/search');
    expect((await noted())[1]).toBe('10.0.0.1');
    const forget = 'UPDATE api_keys SET last_used = ? WHERE id = ?';
    await databaseOf(app).execute(forget, [inSeconds(-61), key.id]);
    await at(client, '10.0.0.2').get('/users/search');
    expect((await noted())[1]).toBe('10.0.0.2');
  });
});
