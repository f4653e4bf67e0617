import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Answer, Client, Json } from '../support/app/client.js';
import { databaseOf, inSeconds, problemOf } from '../support/app/people.js';

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

describe('a narrow key makes no key that can do more than itself', () => {
  const OWN = {
    scopes: ['keys:write', 'users:read', 'imports:write', 'audit:read'],
    networks: ['10.0.0.0/8', '2001:db8::/32'],
    expires: '2999-01-31T00:00:00.000Z',
  };
  const narrower = { scopes: ['users:read'], networks: ['10.1.0.0/16'], expires: '2998-01-31' };
  let maker: Client;
  beforeAll(async () => void (maker = at((await made(OWN)).client, '10.9.9.9')));

  test.each<[string, object]>([
    ['the same', OWN],
    ['less of everything', narrower],
    ['one data set of all of them', { ...narrower, scopes: ['imports:write:hr'] }],
    ['one address of a network', { ...narrower, networks: ['10.0.0.1', '2001:db8::1'] }],
  ])('%s is made', async (_, body) => {
    expect((await maker.post('/api_keys', { name: 'x', ...body })).status).toBe(201);
  });

  test.each<[string, object, string, RegExp]>([
    ['another scope', { scopes: ['users:write'] }, 'insufficient_scope', /lacks users:write\./],
    ['one more', { scopes: ['users:read', 'webmasters'] }, 'insufficient_scope', /lacks webmasters\./],
    ['no scopes', { scopes: null }, 'insufficient_scope', /lacks users:write, .*webmasters/],
    ['scopes left out', { scopes: undefined }, 'insufficient_scope', /lacks users:write, .*webmasters/],
    ['another network', { networks: ['11.0.0.0/8'] }, 'network_not_permitted', /10\.0\.0\.0\/8/],
    ['a wider network', { networks: ['10.0.0.0/7'] }, 'network_not_permitted', /10\.0\.0\.0\/8/],
    ['one more network', { networks: ['10.0.0.1', '1.1.1.1'] }, 'network_not_permitted', /2001:db8/],
    ['any network', { networks: null }, 'network_not_permitted', /10\.0\.0\.0\/8/],
    ['networks left out', { networks: undefined }, 'network_not_permitted', /10\.0\.0\.0\/8/],
    ['a later end', { expires: '2999-01-31T00:00:00.001Z' }, 'insufficient_scope', /2999-01-31/],
    ['no end', { expires: null }, 'insufficient_scope', /2999-01-31/],
    ['the end left out', { expires: undefined }, 'insufficient_scope', /2999-01-31/],
    ['unknown fields ignored', { unknown_fields: 'ignore' }, 'insufficient_scope', /unknown_fields/],
  ])('%s is refused', async (_, body, code, detail) => {
    const before = (await app.key.get('/api_keys')).body.Count;
    const answer = await maker.post('/api_keys', { name: 'x', ...narrower, ...body });
    expect(refusal(answer)).toEqual([403, code, expect.stringMatching(detail)]);
    expect((await app.key.get('/api_keys')).body.Count).toBe(before);
  });

  test('a key that ignores unknown fields can create another such key', async () => {
    const ignoring = { scopes: ['keys:write'], unknown_fields: 'ignore' };
    const { client } = await made(ignoring);
    expect((await made(ignoring, client)).key.unknown_fields).toBe('ignore');
  });

  test('all scopes by name are not the full level, which holds those of later versions too', async () => {
    const scopes = ['users:read', 'users:write', 'groups:read', 'groups:write', 'imports:read'];
    const all = await made({
      scopes: [...scopes, 'imports:write', 'audit:read', 'keys:write', 'webmasters'],
    });
    expect(problemOf(await all.client.post('/api_keys', { name: 'x' }))).toEqual([403, 'insufficient_scope']);
  });

  test('a data set does not give all of them, nor another one', async () => {
    const { client } = await made({ scopes: ['keys:write', 'imports:write:hr'] });
    const ask = (scope: string) => client.post('/api_keys', { name: 'x', scopes: [scope] });
    expect((await ask('imports:write:hr')).status).toBe(201);
    expect(problemOf(await ask('imports:write'))).toEqual([403, 'insufficient_scope']);
    expect(problemOf(await ask('imports:write:hr2'))).toEqual([403, 'insufficient_scope']);
  });

  test('it revokes itself and keys that have no more scopes, and no other', async () => {
    const { client, key } = await made({ scopes: ['keys:write', 'users:read'] });
    const [wider, same] = [await made({}), await made({ scopes: ['users:read'] })];
    const refused = await client.delete(`/api_keys/${wider.key.id as string}`);
    expect(problemOf(refused)).toEqual([403, 'insufficient_scope']);
    expect((await wider.client.get('/users/search')).status).toBe(200);
    expect((await client.delete(`/api_keys/${same.key.id as string}`)).status).toBe(204);
    expect((await client.delete(`/api_keys/${key.id as string}`)).status).toBe(204);
    expect(problemOf(await client.get('/api_keys'))).toEqual([401, 'unauthenticated']);
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
