import { describe, expect, test } from '@jest/globals';
import { BASE_URL, setUpApp, API_KEY } from '../support/app/app.js';
import { UNKNOWN, create } from '../support/data/factories.js';
import { csv, runImport, findUser } from '../support/app/imports.js';
import {
  ENTERPRISE,
  aScimUser,
  errorOf,
  provision,
  scimOf,
  ROLLCALL,
  SCIM,
  USER,
} from '../support/app/scim.js';
import { PASSWORD } from '../support/app/people.js';

const app = setUpApp();
const scim = scimOf(app);

test('a data set still manages an imported user after a SCIM change', async () => {
  await runImport(app.key, csv('ExternalId,Username,Email', 'm1,m1,m1@example.org'), 'dataset=hr');
  const { uuid } = await findUser(app.key, 'm1');
  expect((await scim.patch(`/Users/${uuid}`, { op: 'replace', path: 'title', value: 'x' })).status).toBe(200);
  const { Results: managed } = (await app.key.get('/users/search?managed_by=hr')).body;
  expect(managed).toMatchObject([{ uuid }]);
});

describe('a SCIM user', () => {
  test('can be created, read, found, changed and deleted', async () => {
    const body = aScimUser({ name: { givenName: 'Jane', familyName: 'Doe' }, title: 'Tour guide' });
    const created = await scim.post('/Users', body);
    expect(created.status).toBe(201);
    const location = `${BASE_URL}/scim/v2/Users/${created.body.id}`;
    expect(created.headers).toMatchObject({
      location,
      etag: 'W/"1"',
      'content-type': 'application/scim+json; charset=utf-8',
    });
    expect(created.body).toMatchObject({
      ...body,
      active: true,
      roles: [{ value: 'Organisational user' }],
      meta: { resourceType: 'User', location, version: 'W/"1"' },
    });

    const path = `/Users/${created.body.id}`;
    expect((await scim.get(path)).body).toEqual(created.body);
    expect((await scim.find(`userName eq "${body['userName'].toUpperCase()}"`)).body).toMatchObject({
      totalResults: 1,
      itemsPerPage: 1,
      startIndex: 1,
      Resources: [created.body],
    });

    const patched = await scim.patch(path, { op: 'replace', path: 'title', value: 'Manager' });
    expect({ status: patched.status, title: patched.body.title, etag: patched.headers.etag }).toEqual({
      status: 200,
      title: 'Manager',
      etag: 'W/"2"',
    });
    const { emails: _e, ...rest } = body;
    const put = await scim.put(path, { ...rest, name: { givenName: 'Janet' }, title: undefined });
    expect([put.status, put.body.name, put.body.title]).toEqual([200, { givenName: 'Janet' }, undefined]);
    expect(put.body.emails).toEqual(body['emails']);

    expect((await scim.delete(path)).status).toBe(204);
    expect(errorOf(await scim.get(path)).slice(0, 2)).toEqual([404, undefined]);
    expect((await scim.delete(path)).status).toBe(404);
    expect((await scim.post('/Users', body)).status).toBe(201); // the names are free again
  });

  test('has the same values in the REST API', async () => {
    const user = await create(app.key, { firstname: 'Ann', phone: '+1', roles: ['Editor'] });
    expect((await scim.get(`/Users/${user.uuid}`)).body).toMatchObject({
      id: user.uuid,
      userName: user.username,
      name: { givenName: 'Ann' },
      emails: [{ value: user.email, type: 'work', primary: true }],
      phoneNumbers: [{ value: '+1', type: 'work' }],
      roles: [{ value: 'Editor' }],
      active: true,
    });
    const { id } = await provision(scim, { externalId: 'HR-77', nickName: 'Bo' });
    expect((await app.key.get(`/users/${id}`)).body).toMatchObject({ external_id: 'HR-77', known_as: 'Bo' });
  });

  test('is not found by an unknown or invalid id', async () => {
    for (const id of [UNKNOWN, 'x', '%E0%A4%A', 'me']) {
      expect([id, (await scim.get(`/Users/${id}`)).status]).toEqual([id, 404]);
    }
  });
});

test('a SCIM POST with a taken userName, email or externalId returns 409', async () => {
  const other = await provision(scim, { externalId: 'HR-1' });
  for (const taken of [{ userName: other.userName }, { emails: other.emails }, { externalId: 'HR-1' }]) {
    const [status, scimType, detail] = errorOf(await scim.post('/Users', aScimUser(taken)));
    expect([status, scimType]).toEqual([409, 'uniqueness']);
    expect(detail).toContain(other.id);
    expect(detail).toContain(Object.keys(taken)[0]);
  }
});

test('concurrent SCIM PATCHes of different attributes are all stored', async () => {
  const { id } = await provision(scim);
  const attributes = ['title', 'userType', 'locale', 'nickName', 'displayName', 'timezone'];
  const patches = attributes.map((path) => scim.patch(`/Users/${id}`, { op: 'add', path, value: path }));
  expect((await Promise.all(patches)).map(({ status }) => status)).toEqual(attributes.map(() => 200));
  const { body } = await scim.get(`/Users/${id}`);
  expect(attributes.map((name) => body[name])).toEqual(attributes);
});

test('the manager of a SCIM user is returned with a $ref', async () => {
  const boss = await provision(scim);
  const created = await provision(scim, { [ENTERPRISE]: { manager: { value: boss.id } } });
  const $ref = `${BASE_URL}/scim/v2/Users/${boss.id}`;
  expect(created[ENTERPRISE]).toEqual({ manager: { value: boss.id, $ref } });
});

const withHeaders = (headers: Record<string, string>) => app.guest.with(headers);
const LIST = `${SCIM}/Users?count=0`;

describe('SCIM credentials', () => {
  test.each<[string, Record<string, string>, number]>([
    ['a bearer token is accepted', { authorization: `Bearer ${API_KEY}` }, 200],
    ['a lower-case bearer scheme is accepted', { authorization: `bearer  ${API_KEY}` }, 200],
    ['X-API-Key is accepted', { 'x-api-key': API_KEY }, 200],
    ['one key in two headers is accepted', { authorization: `Bearer ${API_KEY}`, 'x-api-key': API_KEY }, 200],
    ['different keys are refused', { authorization: `Bearer ${API_KEY}`, 'x-api-key': `${API_KEY}x` }, 401],
    ['the scheme Basic is refused', { authorization: `Basic ${API_KEY}` }, 401],
    ['an empty bearer token is refused', { authorization: 'Bearer ' }, 401],
  ])('%s', async (_what, headers, status) => {
    for (const path of [LIST, `${SCIM}/ServiceProviderConfig`, `${SCIM}/Schemas`, `${SCIM}/ResourceTypes`]) {
      const answer = await withHeaders(headers).fetchChecked('GET', path);
      expect({ path, status: answer.status }).toEqual({ path, status });
      expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer realm="rollcall"' : undefined);
    }
  });

  test('a session cookie is ignored', async () => {
    const { cookie = '' } = (await app.login()).headers;
    expect((await withHeaders({ cookie }).fetchChecked('GET', LIST)).status).toBe(401);
    const both = withHeaders({ cookie, authorization: `Bearer ${API_KEY}`, origin: 'https://evil.example' });
    expect((await both.fetchChecked('POST', `${SCIM}/Users`, JSON.stringify(aScimUser()))).status).toBe(201);
    expect((await app.guest.get('/users/search', { authorization: `Bearer ${API_KEY}` })).status).toBe(401);
  });
});

describe('SCIM conditional requests', () => {
  test('return 412 if If-Match is outdated', async () => {
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

  test('return 304 if If-None-Match is * or the current ETag', async () => {
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
});

describe('SCIM requests', () => {
  test('keep the ETag of a user if a PATCH changes nothing', async () => {
    const user = await provision(scim, { title: 'x' });
    const same = await scim.patch(`/Users/${user.id}`, { op: 'replace', path: 'title', value: 'x' });
    expect([same.status, same.body]).toEqual([200, user]);
  });

  test('may use application/json, a trailing slash and unknown query parameters', async () => {
    expect((await scim.get('/Users/?count=0&api-version=2')).status).toBe(200);
    const body = JSON.stringify(aScimUser());
    const plain = { 'content-type': 'application/json; charset=utf-8', accept: 'application/json' };
    const answer = await scim.send('POST', '/Users?aadOptscim062020', body, plain);
    expect([answer.status, answer.headers['content-type']]).toEqual([201, 'application/json; charset=utf-8']);
  });

  test('ignore unknown attributes and the case of attribute names', async () => {
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

  test('take effect only once per Idempotency-Key', async () => {
    const body = aScimUser();
    const headers = { 'x-request-id': 'mine-1', 'idempotency-key': 'once-1' };
    const [one, two] = [await scim.post('/Users', body, headers), await scim.post('/Users', body, headers)];
    expect(one.status).toBe(201);
    expect([two.status, two.headers['idempotency-replayed']]).toEqual([201, 'true']);
    expect(two.body).toEqual(one.body);
    expect(two.headers['content-type']).toBe('application/scim+json; charset=utf-8');
    expect(two.headers).toMatchObject({ 'x-request-id': 'mine-1', location: one.headers.location });
    expect((await scim.post('/Users', aScimUser(), headers)).status).toBe(422);
  });

  test.each([
    { displayName: 'Zebulon Quirrell' },
    { name: { formatted: 'Zebulon Quirrell' } },
    { emails: [{ value: 'z@example.org', primary: true }, { value: 'zebulon.quirrell@home.org' }] },
    { [ROLLCALL]: { authname: [{ method: 'ldap', value: 'zebulonquirrell' }] } },
  ])('are refused if the password consists of the names in %j', async (names) => {
    const password = 'zebulonquirrell-75';
    const { id } = await provision(scim, { password }); // other users may have this password
    const created = await scim.post('/Users', { ...aScimUser(), ...names, password });
    const changed = await scim.patch(`/Users/${id}`, { op: 'replace', value: { ...names, password } });
    for (const answer of [created, changed])
      expect(errorOf(answer)[2]).toContain('must not consist mainly of names');
  });

  test('can set, change and remove a password', async () => {
    const created = await provision(scim, { password: PASSWORD });
    expect(created.password).toBeUndefined();
    const login = async (password: string): Promise<number> =>
      (await app.guest.post('/sessions/login', { username: created.userName, password })).status;
    expect(await login(PASSWORD)).toBe(200);
    const other = 'shut the window, please';
    await scim.patch(`/Users/${created.id}`, { op: 'replace', path: 'password', value: other });
    expect({ old: await login(PASSWORD), next: await login(other) }).toEqual({ old: 401, next: 200 });
    expect((await scim.patch(`/Users/${created.id}`, { op: 'remove', path: 'password' })).status).toBe(200);
    expect(await login(other)).toBe(401);
    const weak = await scim.patch(`/Users/${created.id}`, { op: 'add', value: { password: 'short' } });
    expect(errorOf(weak)).toEqual([400, 'invalidValue', expect.stringContaining('password must have')]);
  });
});

describe('SCIM discovery', () => {
  test('describes the features, resource types and schemas', async () => {
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
