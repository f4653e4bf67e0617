import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { aUser, create } from '../support/data/factories.js';
import { PASSWORD } from '../support/app/people.js';
import {
  ENTERPRISE,
  ROLLCALL,
  type ScimClient,
  USER,
  aScimUser,
  errorOf,
  provision,
  createScimClient,
  scimOf,
} from '../support/app/scim.js';

/** Permissions of API keys in SCIM, and the effects of their profiles. */
const app = setUpApp();
const scim = scimOf(app);

const replace = (path: string, value: unknown) => ({ op: 'replace', path, value });

describe('the key profile', () => {
  test.each([
    ['standard', 200, 'clears', {}, 400],
    ['entra', 204, 'clears', {}, 204],
    ['okta', 200, 'clears', {}, 400],
    ['midpoint', 200, 'keeps', { title: 'Guide', familyName: 'Doe' }, 400],
  ])('%s returns %i for PATCH and %s omitted PUT attributes', async (profile, patched, _, kept, unknown) => {
    const provider = await createScimClient(app, { profile });
    const name = { givenName: 'Jan', middleName: 'K', familyName: 'Doe' };
    const { id, userName } = await provision(provider, { title: 'Guide', name });
    const named = profile === 'midpoint' ? {} : { userName };
    const sent = { ...named, nickName: 'N', name: { givenName: 'Jo', middleName: '' } };
    const put = await provider.put(`/Users/${id}`, sent);
    expect(put.status).toBe(200);
    const { title, familyName } = kept as Record<string, string>;
    expect([put.body.title, put.body.nickName, put.body.userName]).toEqual([title, 'N', userName]);
    expect(put.body.name).toEqual({ givenName: 'Jo', ...(familyName && { familyName }) });
    const answer = await provider.patch(`/Users/${id}`, replace('title', 'x'));
    expect([answer.status, answer.body?.title, answer.headers.etag]).toEqual([
      patched,
      patched === 204 ? undefined : 'x',
      'W/"3"',
    ]);
    const selected = await provider.patch(`/Users/${id}?attributes=title`, replace('title', 'y'));
    expect([selected.status, selected.body.title]).toEqual([200, 'y']);
    expect((await provider.patch(`/Users/${id}`, replace('nix', 'x'))).status).toBe(unknown);
  });

  test('okta ignores passwords', async () => {
    for (const [profile, status] of [
      ['okta', 401],
      ['standard', 200],
    ] as const) {
      const provider = await createScimClient(app, { profile });
      const { id, userName } = await provision(provider, { password: PASSWORD });
      const login = () => app.guest.post('/sessions/login', { username: userName, password: PASSWORD });
      expect((await login()).status).toBe(status);
      await provider.patch(`/Users/${id}`, replace('password', PASSWORD));
      expect((await login()).status).toBe(status);
    }
  });

  test('entra counts deviations from the RFC in the metrics', async () => {
    const provider = await createScimClient(app, { profile: 'entra' });
    const { id } = await provision(provider);
    await provider.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' });
    const { text } = await app.guest.fetch('GET', '/metrics');
    expect(text).toMatch(/scim_deviations_total\{kind="boolean_text",profile="entra"\} 1/);
    expect(text).toMatch(/scim_deviations_total\{kind="spelling",profile="entra"\} 1/);
  });
});

describe('a SCIM key without the webmasters scope', () => {
  let narrow: ScimClient;
  let operator: Json;
  let linked: Json;
  beforeAll(async () => {
    narrow = await createScimClient(app, { scopes: ['users:read', 'users:write'] });
    operator = await create(app.key, { roles: ['Webmaster'] });
    linked = await create(app.key, { roles: ['Webmaster'], external_id: 'IDP-1', password: PASSWORD });
  });

  test('cannot see Webmasters without an externalId', async () => {
    const path = `/Users/${operator.uuid}`;
    const answers = [
      await narrow.get(path),
      await narrow.put(path, { userName: 'x' }),
      await narrow.patch(path, replace('title', 'x')),
      await narrow.delete(path),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await scim.get(path)).status).toBe(200);
    for (const filter of [
      `id eq "${operator.uuid}"`,
      `userName eq "${operator.username}"`,
      'title pr or userName pr',
      'active eq true',
    ]) {
      const ids = (await narrow.find(filter)).body.Resources.map(({ id }: Json) => id);
      expect([filter, ids.includes(operator.uuid)]).toEqual([filter, false]);
    }
    const [all, seen] = [(await scim.get('/Users?count=0')).body, (await narrow.get('/Users?count=0')).body];
    const operators = (await scim.find('roles.value eq "Webmaster" and not (externalId pr)')).body
      .totalResults;
    expect(operators).toBeGreaterThan(0);
    expect(seen.totalResults).toBe(all.totalResults - operators);
    expect((await narrow.get('/Users?cursor=&count=200')).body.Resources).toHaveLength(seen.totalResults);
    expect((await narrow.post('/Users', aScimUser({ userName: operator.username }))).status).toBe(409);
    const manager = { value: operator.uuid };
    const managed = await provision(narrow, { [ENTERPRISE]: { manager } });
    expect(managed[ENTERPRISE].manager).toEqual(manager);
  });

  test('cannot demote or block a Webmaster', async () => {
    const path = `/Users/${linked.uuid}`;
    expect((await narrow.patch(path, replace('title', 'Boss'), replace('name.givenName', 'B'))).status).toBe(
      200,
    );
    const refused = [
      replace('active', false),
      replace('roles', [{ value: 'Editor' }]),
      replace('userName', 'other'),
      replace('emails', [{ value: 'other@example.org' }]),
      replace('password', 'open the other window'),
      replace('externalId', 'IDP-other'),
      replace('externalId', null),
    ];
    for (const operation of refused)
      expect([operation.path, errorOf(await narrow.patch(path, operation))]).toEqual([
        operation.path,
        [403, undefined, expect.stringContaining('webmasters')],
      ]);
    expect((await narrow.delete(path)).status).toBe(403);
    expect((await narrow.post('/Users', aScimUser({ roles: [{ value: 'Webmaster' }] }))).status).toBe(403);
    const { id } = await provision(narrow);
    expect((await narrow.patch(`/Users/${id}`, replace('roles', [{ value: 'Webmaster' }]))).status).toBe(403);
    expect((await scim.patch(path, replace('userName', linked.username))).status).toBe(200);
  });
});

test('SCIM sets managedBy to scim for new and unmanaged users', async () => {
  const readManagedBy = async (id: string): Promise<unknown> =>
    (await scim.get(`/Users/${id}?attributes=${ROLLCALL}:managedBy`)).body[ROLLCALL]?.managedBy;
  const { id } = await provision(scim);
  expect(await readManagedBy(id)).toBe('scim');
  const { uuid } = (await app.key.post('/users', aUser())).body;
  expect(await readManagedBy(uuid)).toBeUndefined();
  await scim.put(`/Users/${uuid}`, { schemas: [USER], userName: 'taken-over', active: true });
  expect(await readManagedBy(uuid)).toBe('scim');
});
