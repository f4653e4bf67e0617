import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { API_KEY, TestApp } from '../support/app/app.js';
import { PASSWORD } from '../support/app/people.js';
import {
  ENTERPRISE,
  SCIM,
  type ScimClient,
  USER,
  aScimUser,
  errorOf,
  provision,
  scimOf,
} from '../support/app/scim.js';

let app: TestApp;
let scim: ScimClient;
beforeAll(async () => {
  app = await TestApp.start();
  scim = scimOf(app);
});
afterAll(() => app.end());

const as = (headers: Record<string, string>) => app.nobody.with(headers);
const LIST = `${SCIM}/Users?count=0`;

describe('credentials', () => {
  test.each<[string, Record<string, string>, number]>([
    ['a bearer token', { authorization: `Bearer ${API_KEY}` }, 200],
    ['a bearer token in another spelling', { authorization: `bearer  ${API_KEY}` }, 200],
    ['the header of the API', { 'x-api-key': API_KEY }, 200],
    ['both, the same', { authorization: `Bearer ${API_KEY}`, 'x-api-key': API_KEY }, 200],
    ['both, different', { authorization: `Bearer ${API_KEY}`, 'x-api-key': `${API_KEY}x` }, 401],
    ['another scheme', { authorization: `Basic ${API_KEY}` }, 401],
    ['an empty one', { authorization: 'Bearer ' }, 401],
  ])('%s', async (_what, headers, status) => {
    for (const path of [LIST, `${SCIM}/ServiceProviderConfig`, `${SCIM}/Schemas`, `${SCIM}/ResourceTypes`]) {
      const answer = await as(headers).checked('GET', path);
      expect({ path, status: answer.status }).toEqual({ path, status });
      expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer realm="rollcall"' : undefined);
    }
  });

  test('a cookie does not count, alone or beside a key', async () => {
    const { cookie = '' } = (await app.login()).headers;
    expect((await as({ cookie }).checked('GET', LIST)).status).toBe(401);
    const both = as({ cookie, authorization: `Bearer ${API_KEY}`, origin: 'https://evil.example' });
    expect((await both.checked('POST', `${SCIM}/Users`, JSON.stringify(aScimUser()))).status).toBe(201);
    expect((await app.nobody.get('/users/search', { authorization: `Bearer ${API_KEY}` })).status).toBe(401);
  });
});

describe('conditions', () => {
  test('If-Match is compared without W/, * is any version', async () => {
    const { id } = await provision(scim);
    const put = (ifMatch: string, title: string) =>
      scim.put(`/Users/${id}`, { userName: `c-${id}`, title }, { 'if-match': ifMatch });
    expect((await put('W/"1"', 'a')).headers.etag).toBe('W/"2"');
    expect((await put('"2"', 'b')).headers.etag).toBe('W/"3"');
    expect((await put('*', 'c')).headers.etag).toBe('W/"4"');
    for (const stale of ['W/"3"', '"3"', 'nix']) expect((await put(stale, 'd')).status).toBe(412);
    expect((await scim.delete(`/Users/${id}`, { 'if-match': '"3"' })).status).toBe(412);
    expect((await scim.delete(`/Users/${id}`, { 'if-match': '"4"' })).status).toBe(204);
  });

  test('If-None-Match answers 304', async () => {
    const { id } = await provision(scim);
    for (const [tag, status] of [
      ['W/"1"', 304],
      ['"1"', 304],
      ['*', 304],
      ['W/"2"', 200],
    ] as const)
      expect({ tag, status: (await scim.get(`/Users/${id}`, { 'if-none-match': tag })).status }).toEqual({
        tag,
        status,
      });
  });

  test('a PATCH with the current values keeps version and lastModified', async () => {
    const user = await provision(scim, { title: 'x' });
    const same = await scim.patch(`/Users/${user.id}`, { op: 'replace', path: 'title', value: 'x' });
    expect([same.status, same.body]).toEqual([200, user]);
  });
});

describe('requests', () => {
  test('may end in a slash, have unknown parameters, and be of either media type', async () => {
    expect((await scim.get('/Users/?count=0&api-version=2')).status).toBe(200);
    const body = JSON.stringify(aScimUser());
    const plain = { 'content-type': 'application/json; charset=utf-8', accept: 'application/json' };
    const answer = await scim.send('POST', '/Users?aadOptscim062020', body, plain);
    expect([answer.status, answer.headers['content-type']]).toEqual([201, 'application/json; charset=utf-8']);
  });

  test('have attributes in any case, and values that mean nothing', async () => {
    const { body } = await scim.post('/Users', {
      USERNAME: `any-${Date.now()}@example.org`,
      Active: 'False',
      nickName: '',
      title: null,
      addresses: [],
      unknown: { a: 1 },
      ID: 'mine',
      meta: { version: 'x' },
      [ENTERPRISE.toUpperCase()]: { Department: 'D' },
    });
    expect(body).toEqual({
      schemas: [USER, ENTERPRISE],
      id: expect.not.stringContaining('mine'),
      userName: expect.stringMatching(/^any-/),
      active: false,
      emails: [{ value: body.userName, type: 'work', primary: true }],
      roles: [{ value: 'Organisational user' }],
      [ENTERPRISE]: { department: 'D' },
      meta: expect.objectContaining({ version: 'W/"1"' }),
    });
  });

  test('carry a request id, and one with an Idempotency-Key takes effect once', async () => {
    const body = aScimUser();
    const headers = { 'x-request-id': 'mine-1', 'idempotency-key': 'once-1' };
    const [one, two] = [await scim.post('/Users', body, headers), await scim.post('/Users', body, headers)];
    expect([one.status, two.status, two.headers['idempotency-replayed']]).toEqual([201, 201, 'true']);
    expect(two.body).toEqual(one.body);
    expect(two.headers['content-type']).toBe('application/scim+json; charset=utf-8');
    expect([two.headers['x-request-id'], two.headers.location]).toEqual(['mine-1', one.headers.location]);
    expect((await scim.post('/Users', aScimUser(), headers)).status).toBe(422);
  });

  test('of which a password is set, changed and removed, and never shown', async () => {
    const made = await provision(scim, { password: PASSWORD });
    expect(made.password).toBeUndefined();
    const login = async (password: string): Promise<number> =>
      (await app.nobody.post('/sessions/login', { username: made.userName, password })).status;
    expect(await login(PASSWORD)).toBe(200);
    const other = 'shut the window, please';
    await scim.patch(`/Users/${made.id}`, { op: 'replace', path: 'password', value: other });
    expect([await login(PASSWORD), await login(other)]).toEqual([401, 200]);
    expect((await scim.patch(`/Users/${made.id}`, { op: 'remove', path: 'password' })).status).toBe(200);
    expect(await login(other)).toBe(401);
    const weak = await scim.patch(`/Users/${made.id}`, { op: 'add', value: { password: 'short' } });
    expect(errorOf(weak)).toEqual([400, 'invalidValue', expect.stringContaining('password must have')]);
  });
});

describe('discovery', () => {
  test('says what there is', async () => {
    expect((await scim.get('/ServiceProviderConfig')).body).toMatchObject({
      patch: { supported: true },
      sort: { supported: true },
      etag: { supported: true },
      filter: { supported: true, maxResults: 200 },
      pagination: { cursor: true, index: true, defaultPaginationMethod: 'index', maxPageSize: 200 },
    });
    const types = (await scim.get('/ResourceTypes')).body;
    expect(types.Resources.map(({ id }: { id: string }) => id)).toEqual(['User', 'Group']);
    expect((await scim.get('/ResourceTypes/user')).body).toEqual(types.Resources[0]);
    const schemas = (await scim.get('/Schemas')).body;
    expect(schemas.totalResults).toBe(5);
    expect((await scim.get(`/Schemas/${USER}`)).body).toEqual(schemas.Resources[0]);
  });
});
