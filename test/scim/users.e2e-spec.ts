import { describe, expect, test } from '@jest/globals';
import { BASE_URL, setUpApp } from '../support/app/app.js';
import { UNKNOWN, create } from '../support/data/factories.js';
import { csv, runImport, findUser } from '../support/app/imports.js';
import { ENTERPRISE, aScimUser, errorOf, provision, scimOf } from '../support/app/scim.js';

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
